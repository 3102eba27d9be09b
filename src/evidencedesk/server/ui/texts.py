"""What the pages say, in each language they speak. Every language has the same keys."""

from __future__ import annotations

from collections.abc import Mapping

from evidencedesk.server.ui.texts_de import GERMAN
from evidencedesk.server.ui.texts_en import ENGLISH

LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "de": GERMAN}
NAMES: Mapping[str, str] = {"en": "English", "de": "Deutsch"}
DEFAULT = "en"
COOKIE = "evidencedesk-language"


class Texts:
    """The texts of one language.

    Args:
        language: a key of :data:`LANGUAGES`.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = LANGUAGES[language]

    def __call__(self, key: str, **values: object) -> str:
        """The text called ``key`` with ``values`` filled in.

        Raises:
            KeyError: there is none: a bug of ours.
        """
        return self._texts[key].format(**values)

    def under(self, prefix: str) -> dict[str, str]:
        """The texts whose keys begin with ``prefix``, by the rest of the key; for scripts."""
        return {
            key.removeprefix(prefix): text
            for key, text in self._texts.items()
            if key.startswith(prefix)
        }


def chosen_language(cookie: str | None, accept_language: str) -> str:
    """The language of a reader: the one he switched to, else the first he accepts that there is.

    ``accept_language`` is the header of RFC 9110, 12.5.4; what is malformed in it is passed over.
    """
    if cookie is not None and cookie in LANGUAGES:
        return cookie
    wanted: list[tuple[float, str]] = []
    for part in accept_language.split(",")[:20]:
        tag, _, weight = part.partition(";")
        wanted.append((_weight(weight), tag.strip().lower().partition("-")[0]))
    wanted.sort(key=lambda pair: -pair[0])
    return next((tag for weight, tag in wanted if weight > 0 and tag in LANGUAGES), DEFAULT)


def _weight(text: str) -> float:
    name, _, number = text.strip().partition("=")
    if not name:
        return 1.0
    try:
        return float(number)
    except ValueError:
        return 0.0
