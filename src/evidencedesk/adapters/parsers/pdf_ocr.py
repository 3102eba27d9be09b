"""PDF whose pages without text are read by OCR: tesseract, where it is installed.

Each such page is drawn in grey at 200 dots per inch and handed to the program; what it reads has a box
for each word and a confidence. Nothing is written to disk. Pages that would take longer than a file's
share of time stay without text, and are reported as such.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pypdfium2.raw as pdfium

from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.adapters.parsers.pdf_chars import CharacterReader
from evidencedesk.adapters.parsers.pdf_pieces import Line, PageLines
from evidencedesk.adapters.parsers.tesseract import PROGRAM, finds_orientation, languages
from evidencedesk.model import ParsedDocument
from evidencedesk.model.boxes import Boxes

_DOTS_PER_POINT = 200 / 72
_MOST_DOTS = 20_000_000
_SECONDS_FOR_FILE = 60.0
_SECONDS_FOR_PAGE = 30.0
_LEAST_CONFIDENCE = 20.0
_SURE = 70.0


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the program reads it: its line, its confidence in per cent, its box in dots."""

    line: tuple[str, ...]
    text: str
    confidence: float
    left: float
    top: float
    width: float
    height: float


class OcrPdfParser(PdfParser):
    """Parser for PDF that reads pages without text by OCR, and says so."""

    name = "pdf+ocr"
    version = f"{PdfParser.version}.1"

    def __init__(self) -> None:
        self._ends = 0.0
        self._confidences: dict[int, float] = {}

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse PDF; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``encrypted``, ``damaged``, ``too_large`` or ``no_text``.
        """
        self._ends = time.monotonic() + _SECONDS_FOR_FILE
        self._confidences = {}
        parsed = super().parse(data, file_name)
        if not self._confidences:
            return parsed
        shown = [f"page {page}: {sure:.0f} %" for page, sure in self._confidences.items()]
        more = ", ..." if len(shown) > 10 else ""
        warning = (
            f"{len(shown)} of {len(parsed.pages)} pages were read by OCR and may be misread; "
            f"confidence {', '.join(shown[:10])}{more}"
        )
        unsure = min(self._confidences.values()) < _SURE
        return replace(
            parsed, warnings=(*parsed.warnings, warning), partial=parsed.partial or unsure
        )

    def _read_page(self, page: pdfium.FPDF_PAGE, number: int, reader: CharacterReader) -> PageLines:
        found = super()._read_page(page, number, reader)
        if not found.lines and time.monotonic() < self._ends:
            self._recognise(page, number, found)
        return found

    def _recognise(self, page: pdfium.FPDF_PAGE, number: int, found: PageLines) -> None:
        drawn = _drawn(page, found)
        seconds = min(_SECONDS_FOR_PAGE, self._ends - time.monotonic())
        table = _asked(drawn, seconds) if drawn is not None and seconds > 0 else ""
        words = [word for word in words_of(table) if word.confidence >= _LEAST_CONFIDENCE]
        if words:
            _fill(found, number, words, found.frame.width / max(_size(found)[0], 1))
            self._confidences[number] = sum(word.confidence for word in words) / len(words)


def _size(found: PageLines) -> tuple[int, int]:
    """Width and height in dots: 200 to the inch, fewer on a page that would have too many."""
    width, height = max(found.frame.width, 1), max(found.frame.height, 1)
    scale = min(_DOTS_PER_POINT, (_MOST_DOTS / (width * height)) ** 0.5)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def _drawn(page: pdfium.FPDF_PAGE, found: PageLines) -> bytes | None:
    """The page as a portable grey map (PGM)."""
    width, height = _size(found)
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        return None
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, pdfium.FPDF_ANNOT)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        memory = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    dots = np.frombuffer(memory, dtype=np.uint8).reshape(height, stride)[:, :width]
    if dots.min() == dots.max():
        return None
    return b"P5 %d %d 255\n" % (width, height) + dots.tobytes()


def _asked(drawn: bytes, seconds: float) -> str:
    """What the program reads, as its table of tab-separated values; empty when it fails."""
    layout = ["--psm", "1"] if finds_orientation() else []
    command = [PROGRAM, "stdin", "stdout", "-l", languages(), "--dpi", "200", *layout, "tsv"]
    try:
        asked = subprocess.run(  # noqa: S603 - a fixed program; the file is its input
            command,
            input=drawn,
            capture_output=True,
            check=False,
            timeout=seconds,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.decode("utf-8", "replace")


def words_of(table: str) -> Iterator[Word]:
    """The words in the program's table, in reading order."""
    for row in table.split("\n")[1:]:
        cells = row.rstrip("\r").split("\t")
        if len(cells) == 12 and cells[0] == "5" and cells[11].strip():
            left, top, width, height, sure = (float(cell) for cell in cells[6:11])
            text = "".join(char for char in cells[11].strip() if char.isprintable())
            if text and width > 0 and height > 0:
                yield Word(tuple(cells[2:5]), text, sure, left, top, width, height)


def _fill(found: PageLines, number: int, words: Sequence[Word], scale: float) -> None:
    """Put the words on the page, a line for each of theirs; ``scale`` is points to the dot."""
    boxes: list[Boxes] = []
    start = 0
    for _, line in groupby(words, key=lambda word: word.line):
        placed = list(line)
        text, spans = "", []
        for word in placed:
            text += " " if text else ""
            spans.append((len(text), start, start + len(word.text)))
            text += word.text
            start += len(word.text)
            boxes.append(_letter_boxes(word, scale))
        corners = np.concatenate(boxes[-len(placed) :])
        x0, y0 = corners[:, :2].min(axis=0).tolist()
        x1, y1 = corners[:, 2:].max(axis=0).tolist()
        size = round(float(np.median([word.height for word in placed])) * scale, 1)
        found.lines.append(Line(number, text, tuple(spans), size, x0, y0, x1, y1))
    found.boxes = np.concatenate(boxes)
    found.characters = start


def _letter_boxes(word: Word, scale: float) -> Boxes:
    """A box for each letter: the word's box in equal parts."""
    edges = np.linspace(word.left, word.left + word.width, len(word.text) + 1) * scale
    boxes = np.empty((len(word.text), 4), dtype=np.float32)
    boxes[:, 0], boxes[:, 2] = edges[:-1], edges[1:]
    boxes[:, 1], boxes[:, 3] = word.top * scale, (word.top + word.height) * scale
    return boxes
