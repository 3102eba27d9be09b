"""The words of claims and passages that carry content, stemmed, and the clauses they stand in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from evidencedesk.text.analysis import stems_of, words
from evidencedesk.verification.alternation import by_first_letter


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTION_WORDS = _words(
    """
    a an the this that these those it its he she they them his her their we us our you your i my
    me is are was were be been being am do does did done has have had having will would shall
    should can could may might must of in on at to for from by with as into onto over about than
    then so such and or but if when while which who whom whose what where there here also too very
    just s t yes up out off per each both any one according

    der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird
    werden wurde wurden hat haben hatte im in am an auf aus bei mit von vom zu zum zur für als wie
    auch noch nur er sie es man ich wir ihr sich durch über unter bis kann können muss müssen darf
    dürfen soll sollen ja

    el la los las un una unos unas y o pero es son era fue está están ha han de del en a al con
    por para que se su sus lo le como más

    les des une et ou mais est sont était ont du dans au aux avec par pour sur qui sa ses ce cette
    il elle ils elles on

    gli uno di della dei delle è che si con per nel nella sono
    os as um uma do da dos das em no na são com
    het van en of zijn met voor op te dat

    है हैं था थे की का के को में से पर और या यह वह एक ही भी तक जा कर सकता सकते सकती किए
    এবং ও বা যে এই সে তার একটি হবে হয় করা করে থেকে জন্য পর এর
    في من على إلى عن أن التي الذي هذا هذه هو هي مع أو و ما
    """
)
_CONTRASTING = by_first_letter(
    "but|while|whereas|although|though|because|aber|sondern|während|pero|sino|mais|tandis"
)
_CONTRAST = re.compile(rf"\b(?:{_CONTRASTING})\b")
_MARK = re.compile(r"[;()\[\]|。，；：、،؛!?।]|[:,](?!\d)|\.(?=\s|$)|\s[-–—]\s")
_CLAUSE = re.compile(f"{_MARK.pattern}|{_CONTRAST.pattern}")
_COORDINATED = re.compile(
    r"[;()\[\]|。，；：、،؛]|[:,](?!\d)|\.(?=\s|$)|\b(?i:and|but|while|whereas|from|compared|versus|und|aber"
    r"|sowie|y|pero|et|mais)\b"
)


@lru_cache(maxsize=512)
def content_words(text: str, lang: str) -> tuple[str, ...]:
    """Stems of the content words of ``text`` in order; numbers and function words left out."""
    return tuple(stems_of(_kept(text), lang))


def count_content_words(text: str) -> int:
    """How many content words ``text`` has."""
    return len(_kept(text))


def _kept(text: str) -> list[str]:
    return [word for word in words(text) if word not in _FUNCTION_WORDS and not word[0].isdecimal()]


def coverage(claim: str, support: str, lang: str) -> float:
    """Share of the claim's content words that stand in ``support``, in [0, 1]; 1.0 when it has none."""
    wanted = content_words(claim, lang)
    if not wanted:
        return 1.0
    present = frozenset(content_words(support, lang))
    return sum(word in present for word in wanted) / len(wanted)


def in_order(claim: str, support: str, lang: str) -> float:
    """Share of the claim's content words that stand in ``support`` in the claim's order, in [0, 1]."""
    wanted, told = content_words(claim, lang), content_words(support, lang)
    if not wanted:
        return 1.0
    return _longest_common(wanted, told) / len(wanted)


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence, a row of the table in one integer.

    Hyyrö, Bit-parallel LCS-length computation revisited, 2004.
    """
    places: dict[str, int] = {}
    for index, word in enumerate(other):
        places[word] = places.get(word, 0) | 1 << index
    everywhere = (1 << len(other)) - 1
    row = everywhere
    for word in one:
        matching = row & places.get(word, 0)
        row = ((row + matching) | (row - matching)) & everywhere
    return len(other) - row.bit_count()


def clauses(text: str) -> list[str]:
    """Folded ``text`` cut at punctuation and at conjunctions that contrast; none empty."""
    cut = _CLAUSE if _CONTRAST.search(text) else _MARK
    return [part for part in map(str.strip, cut.split(text)) if part]


def coordinated_parts(text: str) -> list[tuple[int, int]]:
    """Spans of ``text`` between conjunctions and marks of punctuation."""
    cuts = [match.span() for match in _COORDINATED.finditer(text)]
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if end > start]


def best_overlap(wanted: Sequence[str], among: Sequence[tuple[str, ...]]) -> tuple[int, int]:
    """Index of the clause that shares most of ``wanted``, and how many; (-1, 0) for none."""
    goal = frozenset(wanted)
    best = max(
        ((len(goal.intersection(words)), -index) for index, words in enumerate(among)),
        default=(0, 1),
    )
    return (-best[1], best[0]) if best[0] else (-1, 0)
