"""What must hold of each difficult file: small checks that the table of expectations is made of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from evidencedesk.model import BlockKind, Document, Location, Locator, Span

CRASHES = frozenset({"parser_crashed", "timeout"})
_LINE_END_HYPHEN = re.compile(r"[-\u2010\u00ad]\n(?=\w)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.

    Attributes:
        documents: documents made of it, with their sources.
        errors: (source, code, message) of what could not be read.
        warnings: in words.
        chunks: number of chunks.
        seconds: wall time of reading, parsing and chunking.
        peak_mb: most resident memory of the parsing process.
    """

    documents: tuple[tuple[str, Document], ...] = ()
    errors: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    chunks: int = 0
    seconds: float = 0.0
    peak_mb: float = 0.0
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def codes(self) -> set[str]:
        """Codes of the errors."""
        return {code for _, code, _ in self.errors}


Check = Callable[[Outcome], str]
"""Empty when it holds, else what was found instead."""


def fold(text: str) -> str:
    """NFKC, white space folded, words broken at a line end joined, soft hyphens dropped."""
    joined = _LINE_END_HYPHEN.sub("", text).replace("\u00ad", "")
    return " ".join(unicodedata.normalize("NFKC", joined).split())


def sane(outcome: Outcome) -> str:
    """No crash, nothing over 60 s or 1 GB, and text or a reason."""
    if outcome.codes & CRASHES:
        return f"crashed: {outcome.errors}"
    if outcome.seconds > 60 or outcome.peak_mb > 1024:
        return f"{outcome.seconds:.1f} s, {outcome.peak_mb:.0f} MB"
    return "" if outcome.documents or outcome.errors else "neither text nor an error"


def has(*wanted: str) -> Check:
    """Each stands somewhere in the text."""

    def check(outcome: Outcome) -> str:
        text = "\n".join(fold(document.text) for _, document in outcome.documents)
        return _missing(wanted, text, outcome)

    return check


def on_page(number: int, *wanted: str) -> Check:
    """Each stands on the page."""

    def check(outcome: Outcome) -> str:
        for _, document in outcome.documents:
            spans = [page for page in document.pages if page.number == number]
            text = "\n".join(fold(document.text[page.start : page.end]) for page in spans)
            return _missing(wanted, text, outcome)
        return _nothing(outcome)

    return check


def at_line(number: int, text: str) -> Check:
    """The text begins on that line of the file."""
    return _found(text, lambda place: place.first_line == number, f"line {number}")


def under(text: str, *path: str) -> Check:
    """The text stands under these headings, in this order; others may stand between them."""

    def holds(place: Location) -> bool:
        above = iter(place.heading)
        return all(heading in above for heading in path)

    return _found(text, holds, f"under {path}")


def labelled(text: str, label: str) -> Check:
    """The label of the text's place ends so."""
    return _found(text, lambda place: place.label.endswith(label), label)


def row(*cells: str) -> Check:
    """A table row holds these cells."""

    def check(outcome: Outcome) -> str:
        for text, kind in _blocks(outcome):
            if kind in {BlockKind.TABLE_ROW, BlockKind.TABLE_HEADER}:
                found = [cell.strip() for cell in fold(text).strip("| ").split("|")]
                if [fold(cell) for cell in cells] == found:
                    return ""
        return f"no row {cells}" if outcome.documents else _nothing(outcome)

    return check


def lacks(*unwanted: str) -> Check:
    """None stands in the text, nor in an error."""

    def check(outcome: Outcome) -> str:
        text = "\n".join(fold(document.text) for _, document in outcome.documents)
        text += "".join(message for *_, message in outcome.errors)
        return "; ".join(f"{word!r} is there" for word in unwanted if word in text)

    return check


def once(text: str) -> Check:
    """It stands in the text exactly once."""

    def check(outcome: Outcome) -> str:
        count = sum(fold(document.text).count(text) for _, document in outcome.documents)
        return "" if count == 1 else f"{text!r} is there {count} times"

    return check


def error(*codes: str) -> Check:
    """A clear error with one of these codes, and no document."""

    def check(outcome: Outcome) -> str:
        if outcome.documents or not outcome.codes or not outcome.codes <= {*codes}:
            return f"no error of {codes}: {outcome.errors or 'text was read'}"
        return ""

    return check


def flagged(outcome: Outcome) -> str:
    """Reported as without text, or read in part or by OCR and said so."""
    partial = any(document.partial for _, document in outcome.documents)
    partial = partial or any("read by OCR" in warning for warning in outcome.warnings)
    if outcome.codes == {"no_text"} or (partial and outcome.warnings):
        return ""
    return f"not flagged: {outcome.errors} {outcome.warnings}"


def warned(*words: str) -> Check:
    """A warning or an error that has one of the words (any when none is given)."""

    def check(outcome: Outcome) -> str:
        said = " ".join([*outcome.warnings, *(message for *_, message in outcome.errors)])
        good = bool(said) and (not words or any(word in said for word in words))
        return "" if good else f"no warning: {said!r}"

    return check


def pages(count: int) -> Check:
    """So many pages."""

    def check(outcome: Outcome) -> str:
        found = [len(document.pages) for _, document in outcome.documents]
        return "" if found == [count] else f"{found} pages"

    return check


def within(seconds: float, megabytes: float = 1024.0) -> Check:
    """Not slower, not larger."""

    def check(outcome: Outcome) -> str:
        good = outcome.seconds <= seconds and outcome.peak_mb <= megabytes
        return "" if good else f"{outcome.seconds:.1f} s, {outcome.peak_mb:.0f} MB"

    return check


def heading_lines(*wanted: int) -> Check:
    """Headings begin on exactly these lines."""

    def check(outcome: Outcome) -> str:
        found: list[int | None] = []
        for _, document in outcome.documents:
            locator = Locator(document)
            found += [
                locator.locate(Span(block.start, block.end)).first_line
                for block in document.blocks
                if block.kind is BlockKind.HEADING
            ]
        return "" if found == list(wanted) else f"headings on lines {found}"

    return check


def declared(**wanted: str) -> Check:
    """Metadata declared in the file."""

    def check(outcome: Outcome) -> str:
        found = {key: outcome.metadata.get(key) for key in wanted}
        return "" if found == wanted else f"metadata {found}"

    return check


def titled(title: str) -> Check:
    """The document's title."""

    def check(outcome: Outcome) -> str:
        found = [document.title for _, document in outcome.documents]
        return "" if found[:1] == [title] else f"titled {found}"

    return check


def chunk_count(count: int) -> Check:
    """So many chunks, and no error."""

    def check(outcome: Outcome) -> str:
        good = outcome.chunks == count and not outcome.errors
        return "" if good else f"{outcome.chunks} chunks, {outcome.errors}"

    return check


def longer_than(characters: int) -> Check:
    """Text of at least so many characters."""

    def check(outcome: Outcome) -> str:
        found = sum(len(document.text) for _, document in outcome.documents)
        return "" if found >= characters else f"{found} characters"

    return check


def either(*choices: Check) -> Check:
    """One of them holds."""

    def check(outcome: Outcome) -> str:
        found = [choice(outcome) for choice in choices]
        return "" if "" in found else " / ".join(found)

    return check


def both(*parts: Check) -> Check:
    """All of them hold."""

    def check(outcome: Outcome) -> str:
        return "; ".join(filter(None, (part(outcome) for part in parts)))

    return check


def _missing(wanted: tuple[str, ...], text: str, outcome: Outcome) -> str:
    if not outcome.documents:
        return _nothing(outcome)
    return "; ".join(f"no {word!r}" for word in wanted if fold(word) not in text)


def _nothing(outcome: Outcome) -> str:
    return f"nothing read: {outcome.errors}"


def _blocks(outcome: Outcome) -> Iterator[tuple[str, BlockKind]]:
    for _, document in outcome.documents:
        for block in document.blocks:
            yield document.text[block.start : block.end], block.kind


def _found(text: str, holds: Callable[[Location], bool], wanted: str) -> Check:
    def check(outcome: Outcome) -> str:
        places = []
        for _, document in outcome.documents:
            locator = Locator(document)
            for match in re.finditer(r"\s+".join(map(re.escape, text.split())), document.text):
                place = locator.locate(Span(*match.span()))
                if holds(place):
                    return ""
                places.append((place.label, place.heading, place.element))
        return f"{text!r} not at {wanted}: {places[:3] or outcome.errors or 'not in the text'}"

    return check
