"""What a reply must not carry into a page: the canary, markup, remote links, images."""

from __future__ import annotations

import html
import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HTML = _words(
    """
    a abbr address audio b base blockquote body br button canvas code details div dialog embed em
    font form frame frameset h1 h2 h3 h4 h5 h6 head hr html i iframe img input ins kbd label li
    link main map mark marquee math meta nav noscript object ol option p param picture pre s
    script section select small source span strong style sub summary sup svg table tbody td
    template textarea th thead title tr track u ul video
    """
)
_TAG = re.compile(r"</?(?P<name>[a-z!?][\w:-]*)(?P<rest>[^<>]*)(?:>|\Z)", re.IGNORECASE)
_MARKDOWN = re.compile(r"!\[[^\]]*\]|\[[^\]]*\]\s?[(\[]|^\s{0,3}\[[^\]]+\]:\s", re.MULTILINE)
_ADDRESS = re.compile(
    r"(?:https?|ftp|javascript|data|vbscript|file)\s?:\s?(?:/{2}|(?<=t:)|(?<=a:))\S+"
    r"|(?<![\w/:])//[\w-]+\.[\w.-]+\S*|\bwww\.\w\S*",
    re.IGNORECASE,
)
_ADDRESS_SIGN = re.compile(r":|//|www\.", re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_NO_WORD = re.compile(r"[\W_]+")
_LONGEST_FOLDING = 3
"""Most characters that folding makes of one."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def carries_canary(text: str, canary: str) -> bool:
    """Whether ``text`` holds the random string of the rules, however it is cased or split up."""
    if not canary:
        return False
    if len(canary) > _LONGEST_FOLDING * len(text):
        return False
    bare = _NO_WORD.sub("", _INVISIBLE.sub("", html.unescape(text))).casefold()
    return _NO_WORD.sub("", canary).casefold() in bare


def unsafe_part(text: str, support: str) -> str | None:
    """What makes ``text`` unsafe to show, in words for a person; None when nothing does.

    Args:
        text: a claim's text.
        support: the claim's verified quotes. A plain address or a placeholder like ``<path>`` that
            stands in them word for word is the document's own and may be repeated as text; HTML,
            Markdown links and images may not, wherever they come from.
    """
    bare = _INVISIBLE.sub("", html.unescape(text))
    if _CONTROL.search(text):
        return "a control character"
    if "[" in bare and _MARKDOWN.search(bare):
        return "a link or an image"
    if "<" in bare and any(_is_html(tag, support) for tag in _TAG.finditer(bare)):
        return "markup"
    if _ADDRESS_SIGN.search(bare) and any(
        not _is_quoted(address[0], support) for address in _ADDRESS.finditer(bare)
    ):
        return "a remote link"
    return None


def _is_html(tag: re.Match[str], support: str) -> bool:
    known = tag["name"].lower() in _HTML or tag["name"][0] in "!?" or "=" in tag["rest"]
    return known or tag[0] not in support


def _is_quoted(address: str, support: str) -> bool:
    is_web = address.lower().startswith(("http", "ftp", "www."))
    return is_web and address.rstrip(".,;:!?)\"'") in support
