"""Which parts of a page are its words, and which are furniture or hidden."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

FURNITURE = frozenset({"nav", "header", "footer", "aside", "role", "cookies"})
_NEVER_NAMES = (
    "script style template noscript head iframe object embed canvas audio video svg select option"
    " datalist textarea input button annotation annotation-xml map frameset"
)
_NEVER = frozenset(_NEVER_NAMES.split())
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog"})
_CONTENT = frozenset({"main", "article", "section"})
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_COOKIES = re.compile(
    r"(?:cookie|consent|gdpr)s?[-_]?(?:banner|bar|notice|popup|modal|dialog|overlay|wall|consent)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[ \t\n\f\r]+")


def fold(text: str) -> str:
    """HTML white space folded to single spaces and stripped; no-break spaces are not white space."""
    return _SPACE.sub(" ", text).strip(" ")


def is_left_out(node: LexborNode, furniture: frozenset[str]) -> bool:
    """Whether a node and everything in it is no part of the text.

    ``<header>`` and ``<footer>`` inside ``<main>``, ``<article>`` or ``<section>`` belong to the
    text (they hold headlines and footnotes); those of the page are furniture.

    Args:
        node: an element.
        furniture: what counts as furniture; empty to keep all that is visible.
    """
    tag = node.tag or ""
    if tag in _NEVER:
        return True
    attributes = node.attributes
    if "hidden" in attributes or _HIDDEN.search(attributes.get("style") or ""):
        return True
    if not furniture:
        return False
    if tag in {"header", "footer"}:
        return not _inside_content(node)
    if tag in furniture or attributes.get("role") in _ROLES:
        return True
    names = f"{attributes.get('id') or ''} {attributes.get('class') or ''}"
    return bool(_COOKIES.search(names))


def _inside_content(node: LexborNode) -> bool:
    above = node.parent
    while above is not None:
        if above.tag in _CONTENT:
            return True
        above = above.parent
    return False


def visible_text(root: LexborNode, furniture: frozenset[str]) -> str:
    """The folded text of a node and all that is visible in it, blocks parted by spaces."""
    words: list[str] = []
    above: list[LexborNode] = []
    node: LexborNode | None = root.child
    while node is not None:
        tag = node.tag or ""
        if tag == "-text":
            words.append(node.text_content or "")
        elif tag not in _INLINE:
            words.append(" ")
        if tag.startswith("-") or is_left_out(node, furniture) or node.child is None:
            while above and node.next is None:
                node = above.pop()
                words.append(" " if node.tag not in _INLINE else "")
            node = node.next
        else:
            above.append(node)
            node = node.child
    return fold("".join(words))


_INLINE_NAMES = (
    "-text -comment a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark"
    " nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
_INLINE = frozenset(_INLINE_NAMES.split())
