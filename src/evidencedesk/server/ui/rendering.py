"""Templates, and what every page is given: its language, its reader, its headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from evidencedesk.server.identity import Identity, Method, Permission
from evidencedesk.server.ui.texts import COOKIE, LANGUAGES, NAMES, Texts, chosen_language
from evidencedesk.settings import Settings

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""Nothing inline and nothing from elsewhere: neither script nor style, image or connection."""

_KINDS = {
    "application/pdf": "PDF",
    "application/epub+zip": "EPUB",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "text/csv": "CSV",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "Text",
}
_DATES = {"en": "%-d %b %Y, %H:%M", "de": "%d.%m.%Y, %H:%M"}


@dataclass(frozen=True, slots=True)
class Room:
    """One room in the navigation and the permission that it needs."""

    name: str
    path: str
    needs: Permission


ROOMS = (
    Room("ask", "/", Permission.READ),
    Room("library", "/library", Permission.READ),
    Room("quality", "/quality", Permission.AUDIT),
    Room("activity", "/activity", Permission.AUDIT),
)


class Pages:
    """Renders templates into pages.

    Args:
        settings: effective settings.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._templates = Environment(
            loader=PackageLoader("evidencedesk.server.ui"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

        self._templates.filters.update(coded=_coded, kind=_kind)

    def page(
        self,
        request: Request,
        caller: Identity,
        template: str,
        *,
        http_status: int = 200,
        room: str = "",
        **values: Any,
    ) -> HTMLResponse:
        """The page that ``template`` makes of ``values`` for ``caller``, in his language."""
        texts = self.texts(request)
        context: Mapping[str, Any] = {
            "t": texts,
            "when": _when(texts),
            "language": texts.language,
            "languages": NAMES,
            "rooms": [each for each in ROOMS if caller.may(each.needs)],
            "room": room,
            "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            "reader": caller.principal,
            "signed_in": caller.method is Method.SESSION,
            "csrf": caller.csrf_token,
            "may_write": caller.may(Permission.WRITE),
            "oversees": caller.principal.oversees and caller.may(Permission.AUDIT),
            **values,
        }
        return HTMLResponse(
            self._templates.get_template(template).render(context),
            http_status,
            headers={
                "Content-Security-Policy": POLICY,
                "Content-Language": texts.language,
                "Vary": "Accept-Language, Cookie",
            },
        )

    def missing(self, request: Request, caller: Identity) -> HTMLResponse:
        """The page for what is not there or not permitted: the same for both."""
        return self.page(request, caller, "missing.html", http_status=404)

    def texts(self, request: Request) -> Texts:
        """The texts in the language of whoever asks."""
        accepted = request.headers.get("accept-language", "")
        return Texts(chosen_language(request.cookies.get(COOKIE), accepted))


def _coded(text: str) -> Markup:
    """What stands between backticks is shown as something to type."""
    parts = text.split("`")
    shown = (Markup("<code>{}</code>") if n % 2 else Markup("{}") for n in range(len(parts)))
    return Markup().join(form.format(part) for form, part in zip(shown, parts, strict=True))


def _kind(media_type: str) -> str:
    """A format as people call it."""
    return _KINDS.get(media_type, media_type)


def _when(texts: Texts) -> Any:
    """Shows a time (a value, or as receipts write it) as people do, with the exact one beside it."""

    def shown(value: datetime | str) -> Markup:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
        utc = time.astimezone(UTC)
        words = texts("time.utc", time=utc.strftime(_DATES[texts.language]))
        return Markup('<time datetime="{}">{}</time>').format(utc.isoformat(), words)

    return shown


assert _DATES.keys() == LANGUAGES.keys()
