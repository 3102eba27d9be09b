"""Hyphens at line ends: the same word whether it was joined, kept or broken over two lines.

Hyphens between word characters are taken out of the text and remembered as joints. Two texts then
agree when their letters agree and each pair of joints does: a hyphen at a line end agrees with a
hyphen and, between letters, with nothing at all; a hyphen elsewhere agrees with a hyphen only.
Between digits nothing is ever joined: ``10-`` at a line end before ``20`` is not ``1020``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evidencedesk.text.folding import Folded, is_mark

_JOINT = re.compile(r"-(?P<space> )?| ")
_TRUE_HYPHENS = frozenset("-\u2010\u2011")
_SOFT_HYPHEN = "\u00ad"
_PLAIN, _SPACED, _KEPT, _BROKEN = "-", "- ", "kept", "broken"

_AGREES_WITH_BROKEN = frozenset({"", _PLAIN, _SPACED, _KEPT, _BROKEN})
_AGREES_WITH_KEPT = frozenset({_PLAIN, _SPACED, _KEPT, _BROKEN})


@dataclass(frozen=True, slots=True)
class Jointed:
    """Folded text without its hyphens.

    Attributes:
        whole: the text with its hyphens.
        folded: the text with hyphens out and the map back.
        joints: kind of the joint before each position that has one.
        has_line_ends: whether any hyphen stood at a line end.
    """

    whole: Folded
    folded: Folded
    joints: dict[int, str]
    has_line_ends: bool


def take_out_hyphens(folded: Folded) -> Jointed:
    """The text with every hyphen between word characters taken out and remembered."""
    text, kept, joints = folded.text, [], {}
    opened = removed = 0
    for match in _JOINT.finditer(text):
        kind = _kind(folded, match)
        if kind:
            kept.append((opened, match.start()))
            opened = match.end()
            joints[match.start() - removed] = kind
            removed += match.end() - match.start()
    kept.append((opened, len(text)))
    bare = Folded(
        source=folded.source,
        text="".join(text[start:end] for start, end in kept),
        starts=[at for start, end in kept for at in folded.starts[start:end]],
        ends=[at for start, end in kept for at in folded.ends[start:end]],
    )
    return Jointed(folded, bare, joints, not {_KEPT, _BROKEN}.isdisjoint(joints.values()))


def joints_agree(source: Jointed, start: int, quote: Jointed) -> bool:
    """Whether the joints of ``source`` from ``start`` agree with those inside ``quote``."""
    length = len(quote.folded.text)
    inside = {at - start for at in source.joints if start < at < start + length}
    inside.update(at for at in quote.joints if 0 < at < length)
    return all(_agree(source.joints.get(start + at, ""), quote.joints.get(at, "")) for at in inside)


def _agree(one: str, other: str) -> bool:
    if one == other:
        return True
    pair = {one, other}
    if _BROKEN in pair:
        return pair <= _AGREES_WITH_BROKEN
    return _KEPT in pair and pair <= _AGREES_WITH_KEPT


def _kind(folded: Folded, match: re.Match[str]) -> str:
    text, start, end = folded.text, match.start(), match.end()
    if start == 0 or end == len(text):
        return ""
    left, right = text[start - 1], text[end]
    if not (_joins(left) and _joins(right)):
        return ""
    both_letters = not (left.isdigit() or right.isdigit())
    if match[0] == " ":
        broken = both_letters and _ends_in_soft_hyphen(folded, start)
        return _BROKEN if broken else ""
    if not match["space"]:
        return _PLAIN
    if "\n" not in folded.source[folded.starts[end - 1] : folded.ends[end - 1]]:
        return _SPACED
    true_hyphen = folded.source[folded.starts[start]] in _TRUE_HYPHENS
    return _BROKEN if true_hyphen and both_letters else _KEPT


def _ends_in_soft_hyphen(folded: Folded, space: int) -> bool:
    start, end = folded.starts[space], folded.ends[space]
    before = folded.source[folded.ends[space - 1] : start]
    return _SOFT_HYPHEN in before and "\n" in folded.source[start:end]


def _joins(character: str) -> bool:
    return character.isalnum() or is_mark(character)
