"""Labels of sources as replies write them, and the sources that they name."""

from __future__ import annotations

import re
import unicodedata

from evidencedesk.model import Evidence

_AROUND = "[](){}<>【】〔〕「」«»\"'`* \t\n"
_LABEL = re.compile(
    r"(?:(?:sources?|src)[ :#]*)?(?:s[ #-]?)?(?P<number>[1-9]\d{0,5})", re.IGNORECASE
)
_RANGE = re.compile(r"(?P<first>.+?)\s*(?:-|\.\.\.?|to)\s*(?P<last>.+)", re.IGNORECASE)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))
_LONGEST = 200


def labels_named(written: str, evidence: Evidence) -> tuple[str, ...] | None:
    """The labels that ``written`` names, in order, or None when any of it names no source shown.

    ``S1`` may be written ``[S1]``, ``[[1]]``, ``【１】``, ``s1``, ``source 1`` or in any script's
    digits. Lists and ranges (``S1, S3``, ``1-2``) name several sources, all of which must have been
    shown and must hold the quote. ``S0`` names none, and a range never reaches past the last source.
    """
    exact = written.strip()
    if evidence.source(exact) is not None:
        return (exact,)
    if not exact or len(exact) > _LONGEST:
        return None
    named: list[str] = []
    for part in re.split(r"[,;、،&]|\band\b", _plain(exact)):
        labels = _one_or_range(part, evidence)
        if labels is None:
            return None
        named.extend(labels)
    return tuple(dict.fromkeys(named))


def _plain(written: str) -> str:
    plain = unicodedata.normalize("NFKC", written).translate(_DASHES).strip(_AROUND)
    return "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in plain)


def _one_or_range(part: str, evidence: Evidence) -> list[str] | None:
    label = _label(part, evidence)
    if label is not None:
        return [label]
    bounds = _RANGE.fullmatch(part.strip(_AROUND))
    if bounds is None:
        return None
    first, last = _label(bounds["first"], evidence), _label(bounds["last"], evidence)
    if first is None or last is None:
        return None
    known = [source.label for source in evidence.sources]
    start, end = known.index(first), known.index(last)
    return known[start : end + 1] if start <= end else None


def _label(written: str, evidence: Evidence) -> str | None:
    match = _LABEL.fullmatch(written.strip(_AROUND))
    if match is None:
        return None
    label = f"S{match['number']}"
    return label if evidence.source(label) is not None else None
