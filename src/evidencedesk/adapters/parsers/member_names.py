"""Names of files inside files: cleaned so that they can be shown, compared and made into ids."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_LONGEST_PART = 120
_MOST_PARTS = 20
_UNSAFE = frozenset({"Cc", "Cf", "Cn", "Cs", "Co", "Zl", "Zp"})
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def clean_name(name: str, fallback: str = "file") -> str:
    """A name that is safe to show.

    Backslashes part folders as ``/`` does; drive letters and parts ``.`` and ``..`` are dropped;
    control, bidirectional and other invisible characters become ``_``, as do the names of devices
    a ``_`` behind them; ``!`` before ``/`` is kept apart from the mark of a member. Parts of more
    than 120 characters are cut, keep their extension and get six hex digits of their hash.
    """
    parts = re.sub(r"^[A-Za-z]:", "", name.replace("\\", "/")).split("/")
    cleaned = [_clean_part(part) for part in parts if part.strip() not in {"", ".", ".."}]
    return "/".join(cleaned[-_MOST_PARTS:]) or fallback


def _clean_part(part: str) -> str:
    safe = "".join("_" if unicodedata.category(char) in _UNSAFE else char for char in part)
    safe = unicodedata.normalize("NFC", " ".join(safe.split()))
    if safe.endswith("!"):
        safe += "_"
    if _DEVICES.fullmatch(safe):
        safe = f"_{safe}"
    if len(safe) <= _LONGEST_PART:
        return safe
    digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    stem, dot, extension = safe.rpartition(".")
    ending = f"{dot}{extension}" if stem and len(extension) <= 10 else ""
    return f"{safe[: _LONGEST_PART - 7 - len(ending)]}-{digest}{ending}"
