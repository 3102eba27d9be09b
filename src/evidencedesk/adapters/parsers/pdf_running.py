"""Headers, footers and page numbers that pages repeat.

A line near the top or the bottom of its page is a running line when at least three pages have the
same one, numbers aside, at the same height. Where it stands first it stays text (it may be the only
place that names the edition); its repetitions stay in the canonical text, with their boxes, and go
into no chunk.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from evidencedesk.adapters.parsers.pdf_pieces import Line, PageLines

_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_MARGIN = 0.13
_SAME_HEIGHT = 0.015
_FEWEST_PAGES = 3
_LEAST_SHARE = 0.05
_OUTERMOST = 3
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Running:
    """Running lines of a document.

    Attributes:
        first: those that stand where their text stands first.
        repeated: the others.
    """

    first: frozenset[int]
    repeated: frozenset[int]

    def __contains__(self, line: Line) -> bool:
        return id(line) in self.repeated or id(line) in self.first


def running_lines(pages: Sequence[PageLines | None]) -> Running:
    """The running lines of ``pages``, by identity."""
    alike: dict[str, list[tuple[float, Line]]] = defaultdict(list)
    for page in pages:
        for line in _outer_lines(page) if page else ():
            alike[_key(line.text)].append((line.middle / _height(page), line))
    first: set[int] = set()
    repeated: set[int] = set()
    least = max(_FEWEST_PAGES, _LEAST_SHARE * len(pages))
    for placed in alike.values():
        if len(placed) >= least:
            for lines in _at_one_height(placed):
                if len({line.page for line in lines}) >= least:
                    first.add(id(lines[0]))
                    repeated |= {id(line) for line in lines[1:]}
    return Running(frozenset(first), frozenset(repeated - first))


def _height(page: PageLines | None) -> float:
    return max(page.frame.height, 1.0) if page else 1.0


def _outer_lines(page: PageLines) -> Iterable[Line]:
    height = _height(page)
    margin = [
        line
        for line in page.lines
        if not _MARGIN * height < line.middle < (1 - _MARGIN) * height
        and len(line.text) <= _LONGEST
    ]
    ordered = sorted(margin, key=lambda line: line.middle)
    top = [line for line in ordered if line.middle < height / 2][:_OUTERMOST]
    bottom = [line for line in ordered if line.middle >= height / 2][-_OUTERMOST:]
    return (*top, *bottom)


def _key(text: str) -> str:
    return _DIGITS.sub("0", " ".join(text.split()).casefold())


def _at_one_height(placed: Sequence[tuple[float, Line]]) -> Iterable[list[Line]]:
    """The lines parted into those at the top and those at the bottom, outliers left out."""
    for part in ([p for p in placed if p[0] < 0.5], [p for p in placed if p[0] >= 0.5]):
        if part:
            usual = median(height for height, _ in part)
            yield [line for height, line in part if abs(height - usual) < _SAME_HEIGHT]
