"""Whether a browser's request was meant: pages of other sites can send requests here, too."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from evidencedesk.server.identity import Identity, Method
from evidencedesk.server.problems import RequestError

SAFE = frozenset({"GET", "HEAD"})
CSRF_HEADER = "x-csrf-token"
_BROWSER = frozenset({Method.LOCAL, Method.SESSION})


def check_meant(
    connection: HTTPConnection, method: str, identity: Identity, public_url: str | None
) -> None:
    """Refuse a changing request that a page of another site may have caused.

    Keys and tokens are sent by programs on purpose, so their requests are always meant. What a
    browser adds by itself (a cookie, or only its place on this machine) proves nothing: then
    ``Sec-Fetch-Site`` and ``Origin`` must not be foreign, and a session must repeat its token.

    Raises:
        RequestError: ``wrong_origin``.
    """
    if method in SAFE or identity.method not in _BROWSER:
        return
    if connection.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise _foreign("The request comes from a page of another site.")
    origin = connection.headers.get("origin")
    if origin is not None and origin != own_origin(connection, public_url):
        raise _foreign("The request comes from a page of another site.")
    if identity.method is Method.SESSION:
        repeated = connection.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(repeated.encode(), identity.csrf_token.encode()):
            raise _foreign(f"The header {CSRF_HEADER} does not repeat the session's token.")


def own_origin(connection: HTTPConnection, public_url: str | None) -> str:
    """Scheme, name and port under which browsers know this server."""
    if public_url is not None:
        parts = urlsplit(public_url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    scheme = connection.scope.get("scheme", "http")
    return f"{scheme}://{connection.headers.get('host', '')}".lower()


def _foreign(message: str) -> RequestError:
    return RequestError(
        message, code="wrong_origin", hint="Use the pages of this server, or an API key."
    )
