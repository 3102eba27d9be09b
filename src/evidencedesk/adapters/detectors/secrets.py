"""Keys, tokens and passwords by the patterns of ``detect-secrets``, each looked for line by line.

Its guesses by entropy are left out: in prose they are wrong more often than right. Nothing is
verified over the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

_LINE = re.compile(r"[^\r\n]+")
_LONGEST_LINE = 4_000
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:[A-Za-z0-9+/=:,\s-]{0,20000}?-----END (?P=kind)-----|[A-Za-z0-9+/=\s]{0,20000})"
)
_ASSIGNED = re.compile(
    r"(?:password|passwd|passphrase|api[_-]?key|secret(?:[_-]?key)?|access[_-]?token)"
    r"[\"']?[ \t]*(?::=|[:=])[ \t]*[\"'](?P<value>[^\"'\s]{6,200})[\"']",
    re.IGNORECASE,
)
_PLUGINS: tuple[type[RegexBasedDetector], ...] = (
    ArtifactoryDetector,
    AWSKeyDetector,
    AzureStorageKeyDetector,
    BasicAuthDetector,
    CloudantDetector,
    DiscordBotTokenDetector,
    GitHubTokenDetector,
    GitLabTokenDetector,
    IbmCloudIamDetector,
    IbmCosHmacDetector,
    JwtTokenDetector,
    MailchimpDetector,
    NpmDetector,
    OpenAIDetector,
    PypiTokenDetector,
    SendGridDetector,
    SlackDetector,
    SoftlayerDetector,
    SquareOAuthDetector,
    StripeDetector,
    TelegramBotTokenDetector,
    TwilioKeyDetector,
)


class SecretDetector:
    """Keys and tokens of known makers, private keys as a whole, and quoted values of passwords."""

    kind = "secret"

    def __init__(self) -> None:
        self._patterns = [re.compile(each) for plugin in _PLUGINS for each in plugin().denylist]

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of secrets."""
        for match in _PRIVATE_KEY.finditer(text):
            yield match.span()
        for match in _ASSIGNED.finditer(text):
            yield match.span("value")
        for line in _LINE.finditer(text):
            for start in range(line.start(), line.end(), _LONGEST_LINE):
                yield from self._in_line(text, start, min(start + _LONGEST_LINE + 300, line.end()))

    def _in_line(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        for pattern in self._patterns:
            for match in pattern.finditer(text, start, end):
                yield match.span()
