"""Personal data and secrets replaced by placeholders before anything else sees a document.

``[EMAIL_1]`` stands for the same value wherever it occurs in a document, and for another one in the
next document. Line ends inside a value stay, so that lines keep their numbers; in a paged format the
characters of a placeholder get boxes from where the value stands, so that places still lead there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evidencedesk.model import Block, Document, DocumentRecord, PageBoxes, ParsedDocument
from evidencedesk.model.boxes import pack_boxes, unpack_boxes
from evidencedesk.model.document import MASKED
from evidencedesk.protocols import Detector

_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_FIRST = ("secret", "iban", "card", "email")


@dataclass(frozen=True, slots=True)
class _Span:
    """One masked value: a span of the text as it was and what stands there instead."""

    start: int
    end: int
    text: str
    kind: str


@dataclass(slots=True)
class Masker:
    """Masks the texts of one document.

    Attributes:
        detectors: what to look for.
        names: placeholders given out so far, by kind and value.
        counts: how many values of each kind have one.
    """

    detectors: Sequence[Detector]
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def mask(self, text: str) -> str:
        """``text`` with placeholders."""
        return "".join(_pieces(text, self.spans(text)))

    def spans(self, text: str) -> list[_Span]:
        """What is to be replaced, in order, none over another; the earlier and the longer wins."""
        plain, places = searchable(text)
        ends = [*places[1:], len(text)] if places else []
        found = sorted(
            (start, _rank(detector.kind), -end, detector.kind)
            for detector in self.detectors
            for start, end in detector.find(plain)
        )
        spans: list[_Span] = []
        for start, _, negative, kind in found:
            first, last = places[start], ends[-negative - 1]
            if spans and first < spans[-1].end:
                spans[-1] = replace(spans[-1], end=max(last, spans[-1].end))
                continue
            value = plain[start:-negative]
            spans.append(_Span(first, last, self._placeholder(kind, value), kind))
        return [self._with_line_ends(text, span) for span in spans]

    def _placeholder(self, kind: str, value: str) -> str:
        key = kind, "".join(filter(str.isalnum, value.casefold()))
        if key not in self.names:
            self.counts[kind] += 1
            self.names[key] = f"[{kind.upper().replace('-', '_')}_{self.counts[kind]}]"
        return self.names[key]

    def _with_line_ends(self, text: str, span: _Span) -> _Span:
        return replace(
            span, text=span.text + "".join(_LINE_ENDS.findall(text, span.start, span.end))
        )


def _rank(kind: str) -> int:
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


def searchable(text: str) -> tuple[str, Sequence[int]]:
    """``text`` as detectors read it, and where in ``text`` each of its characters stands."""
    if text.isascii():
        return text, range(len(text))
    chars: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char > "\x7f":
            if _INVISIBLE.match(char):
                continue
            digit = unicodedata.decimal(char, None)
            plain = str(digit) if digit is not None else unicodedata.normalize("NFKC", char)
            char = plain if len(plain) == 1 else char  # noqa: PLW2901 - one for one, or left alone
        chars.append(char)
        places.append(place)
    return "".join(chars), places


def _pieces(text: str, spans: Sequence[_Span]) -> list[str]:
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], span.text]
        end = span.end
    return [*pieces, text[end:]]


class _Moved:
    """Where offsets of the text as it was are in the masked text."""

    def __init__(self, spans: Sequence[_Span]) -> None:
        self._spans = spans
        self._starts = [span.start for span in spans]
        self._shifts = [0]
        for span in spans:
            self._shifts.append(self._shifts[-1] + len(span.text) - (span.end - span.start))

    def start(self, offset: int) -> int:
        """Of the beginning of something: inside a value it is the end of its placeholder."""
        index = bisect_right(self._starts, offset)
        span = self._spans[index - 1] if index else None
        if span is not None and span.start < offset < span.end:
            return span.end + self._shifts[index]
        if span is not None and offset == span.start:
            return offset + self._shifts[index - 1]
        return offset + self._shifts[index]

    def end(self, offset: int) -> int:
        """Of the end of something: inside a value it is the end of its placeholder."""
        index = bisect_right(self._starts, offset - 1) if offset else 0
        span = self._spans[index - 1] if index else None
        if span is not None and offset < span.end:
            return span.end + self._shifts[index]
        return offset + self._shifts[index]


def mask_document(parsed: ParsedDocument, detectors: Sequence[Detector]) -> ParsedDocument:
    """``parsed`` with every value that a detector finds replaced, in its text and in all it says.

    A warning says how many values of each kind were masked; it makes the document a masked one.
    """
    masker = Masker(detectors)
    spans = masker.spans(parsed.text)
    moved = _Moved(spans)
    masked = replace(
        parsed,
        text="".join(_pieces(parsed.text, spans)),
        blocks=tuple(filter(None, (_block(block, moved, masker) for block in parsed.blocks))),
        pages=tuple(
            replace(
                page,
                start=moved.start(page.start),
                end=max(moved.end(page.end), moved.start(page.start)),
            )
            for page in parsed.pages
        ),
        page_boxes=tuple(_boxes(page, spans, moved) for page in parsed.page_boxes),
        title=None if parsed.title is None else masker.mask(parsed.title),
        metadata={key: _value(value, masker) for key, value in parsed.metadata.items()},
        warnings=tuple(map(masker.mask, parsed.warnings)),
        masks=frozenset(detector.kind for detector in detectors),
    )
    if not masker.counts:
        return masked
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(masker.counts.items()))
    return replace(masked, warnings=(*masked.warnings, MASKED + counts))


def masks_more(document: Document, earlier: DocumentRecord) -> bool:
    """Whether a kind of value is looked for in ``document`` that its last version was not searched for.

    Whether any is found does not matter: it may have been edited out just now, and stand in what came
    before.
    """
    return not document.masks <= earlier.masks


def _block(block: Block, moved: _Moved, masker: Masker) -> Block | None:
    start, end = moved.start(block.start), moved.end(block.end)
    if end <= start:
        return None
    return replace(
        block,
        start=start,
        end=end,
        heading=tuple(map(masker.mask, block.heading)),
        context=masker.mask(block.context),
        sheet=None if block.sheet is None else masker.mask(block.sheet),
        element=None if block.element is None or masker.spans(block.element) else block.element,
    )


def _value(value: object, masker: Masker) -> object:
    if isinstance(value, str):
        return masker.mask(value)
    if isinstance(value, list):
        return [_value(each, masker) for each in value]
    if isinstance(value, Mapping):
        return {key: _value(each, masker) for key, each in value.items()}
    return value


def _boxes(page: PageBoxes, spans: Sequence[_Span], moved: _Moved) -> PageBoxes:
    boxes = unpack_boxes(page.data)
    rows, end = [], 0
    for span in spans:
        start, stop = span.start - page.start, span.end - page.start
        if stop <= 0 or start >= len(boxes):
            continue
        start, stop = max(start, 0), min(stop, len(boxes))
        steps = np.linspace(start, stop - 1, len(span.text)).round().astype(int)
        rows += [boxes[end:start], boxes[steps]]
        end = stop
    rows.append(boxes[end:])
    return PageBoxes(page.page, moved.start(page.start), pack_boxes(np.concatenate(rows)))
