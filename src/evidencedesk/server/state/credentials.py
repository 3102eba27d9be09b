"""What is kept of a secret: its hash. A secret of 256 random bits needs no slow one."""

from __future__ import annotations

import hashlib
import json
import sqlite3

from evidencedesk.access import Principal
from evidencedesk.server.identity import Permission


def hash_of(secret: str) -> bytes:
    """SHA-256 of a random secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def listed(names: frozenset[str]) -> str:
    """Names as they are stored."""
    return json.dumps(sorted(names))


def principal_in(row: sqlite3.Row) -> Principal:
    """The principal that a row of keys or sessions holds."""
    return Principal(
        tenant=row["tenant"],
        roles=frozenset(json.loads(row["roles"])),
        subject=row["subject"] or None,
        administrator=bool(row["administrator"]),
        auditor=Permission.AUDIT in permissions_in(row),
    )


def permissions_in(row: sqlite3.Row) -> frozenset[Permission]:
    """The permissions that a row of keys or sessions holds."""
    return frozenset(map(Permission, json.loads(row["permissions"])))


def name_of(principal: Principal) -> str:
    """What a person is called in limits: the same with every token and in every session."""
    digest = hashlib.sha256(f"{principal.tenant}\0{principal.subject}".encode())
    return f"subject:{digest.hexdigest()[:16]}"
