"""Ed25519 signatures (RFC 8032) of exports; needs the extra ``signing``."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from evidencedesk.errors import SettingsError


@dataclass(frozen=True, slots=True, eq=False)
class Ed25519Signer:
    """Signs with one private key."""

    private_key: Ed25519PrivateKey

    @classmethod
    def made(cls) -> Ed25519Signer:
        """A new key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes) -> Ed25519Signer:
        """The key in a PEM file that ``keys init`` wrote.

        Raises:
            SettingsError: ``signing_key_unreadable``.
        """
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise SettingsError(
                "[privacy] signing_key names a file that holds no Ed25519 key.",
                code="signing_key_unreadable",
                hint="`evidencedesk keys init FILE` makes one.",
            )
        return cls(key)

    @property
    def public_key(self) -> str:
        """Hex, to be given to whoever checks exports."""
        return self.private_key.public_key().public_bytes_raw().hex()

    def pem(self) -> bytes:
        """The private key, unencrypted, for a file that only its owner can read."""
        return self.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, message: bytes) -> str:
        """Signature in hex."""
        return self.private_key.sign(message).hex()


def check_signature(public_key: str, signature: str, message: bytes) -> bool:
    """Whether ``signature`` is by the holder of ``public_key``; all but the message in hex."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), message)
    except (ValueError, InvalidSignature):
        return False
    return True
