"""Bytes to text: byte order mark, strict UTF-8, zeros of UTF-16 and UTF-32, then detection."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass

import chardet

from evidencedesk.errors import ParseError

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 64 * 1024
_FEW_BAD_BYTES = 0.01
_CONFIDENT = 0.2
_MOST_NOISE = 0.02
_COMMONEST = "cp1252"
_TEXT_CONTROLS = frozenset("\t\n\v\f\r\x08\x1b\x1c\x1d\x1e\x1f")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded text and what had to be given up.

    Attributes:
        text: without a byte order mark and without zero characters, which stand replaced.
        encoding: Python's name of the encoding used.
        warnings: in words for a person.
        lossy: whether some bytes stand for no character.
    """

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()
    lossy: bool = False


def decode(data: bytes, file_name: str, *, declared: Iterable[str] = ()) -> Decoded:
    """The text of ``data``.

    Order: byte order mark; the ``declared`` encodings that Python knows and that fit; UTF-8; UTF-16
    and UTF-32 recognised by their zeros; UTF-8 with a few bad bytes, each of which becomes U+FFFD;
    the detector's guess. Zero characters become U+FFFD too, so that every offset stays true.

    Raises:
        ParseError: ``unsupported`` when the bytes are text in no encoding.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _finish(data[len(mark) :].decode(encoding, "replace"), encoding, strict=False)
    wide = _wide_encodings(data)
    for encoding in (*declared, *(wide or ("utf-8",))):
        text = _strictly(data, encoding)
        if text is not None:
            return _finish(text, encoding)
    return _guess(data, file_name)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(codecs.lookup(encoding).name)
    except (LookupError, ValueError):  # a name with a zero byte is a ValueError
        return None


def _wide_encodings(data: bytes) -> tuple[str, ...]:
    """UTF-32 and UTF-16 candidates, told by where the zeros of mostly Latin text fall."""
    sample = data[:_SAMPLE]
    if sample.count(0) < 0.2 * len(sample) or len(data) % 2:
        return ()
    zeros = [sample[offset::4].count(0) / max(len(sample) // 4, 1) for offset in range(4)]
    if zeros[2] > 0.9 and zeros[3] > 0.9 and zeros[0] < 0.1:
        return ("utf-32-le",)
    if zeros[0] > 0.9 and zeros[1] > 0.9 and zeros[3] < 0.1:
        return ("utf-32-be",)
    return ("utf-16-le",) if zeros[1] + zeros[3] > zeros[0] + zeros[2] else ("utf-16-be",)


def _guess(data: bytes, file_name: str) -> Decoded:
    nearly = data.decode("utf-8", "replace")
    sample = nearly[:_SAMPLE]
    multibyte = sum(char > "\x7f" for char in sample) - sample.count(REPLACEMENT)
    if multibyte and nearly.count(REPLACEMENT) <= max(_FEW_BAD_BYTES * len(nearly), 3):
        return _finish(nearly, "utf-8", strict=False)
    found = _detected(data[:_SAMPLE])
    text = _strictly(data, found)
    if text is None:
        text = data.decode(found, "replace")
    if _mostly_noise(text):
        raise ParseError(
            f"{file_name}: the bytes are text in no encoding that is known.",
            code="unsupported",
            hint="Save the file as UTF-8.",
        )
    decoded = _finish(text, found, strict=False)
    warning = f"the encoding is not declared; {found} was assumed"
    return Decoded(decoded.text, found, (warning, *decoded.warnings), decoded.lossy)


def _detected(sample: bytes) -> str:
    """The detector's guess; of a guess without confidence, the commonest encoding that fits."""
    guess = chardet.detect(sample)
    name = guess["encoding"] or _COMMONEST
    unsure = guess["confidence"] < _CONFIDENT and _strictly(sample, _COMMONEST) is not None
    return _COMMONEST if unsure or not _known(name) else name


def _mostly_noise(text: str) -> bool:
    sample = text[:_SAMPLE]
    noise = sum(
        char == REPLACEMENT or (char < " " and char not in _TEXT_CONTROLS) for char in sample
    )
    return noise > _MOST_NOISE * len(sample)


def _known(encoding: str) -> bool:
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):
        return False
    return True


def _finish(text: str, encoding: str, *, strict: bool = True) -> Decoded:
    warnings = []
    bad = 0 if strict else text.count(REPLACEMENT)
    if bad:
        warnings.append(f"{bad} characters could not be decoded as {encoding}")
    zeros = text.count("\0")
    if zeros:
        text = text.replace("\0", REPLACEMENT)
        warnings.append(f"{zeros} zero characters were replaced")
    return Decoded(text, encoding, tuple(warnings), lossy=bool(bad))
