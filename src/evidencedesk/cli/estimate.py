"""What long work will take, said before it starts; rough, and on the high side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidencedesk.adapters.models.cache import cache_directory, locate
from evidencedesk.cli.call import Call
from evidencedesk.errors import ModelError
from evidencedesk.ingestion.load import discover

WORTH_SAYING_S = 30.0

_TEXT_PER_CHUNK = 500
_PACKED = {".pdf": 10, ".docx": 10}
# Measured on the sample corpora on two cores: passages per second, and bytes on disk per passage.
_RATES = {True: 80, False: 3000}
_BYTES = {True: 6_500, False: 3_000}


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much there is to do.

    Attributes:
        chunks: passages.
        seconds: wall time on two cores.
        size: bytes of the index.
    """

    chunks: int
    seconds: float
    size: int

    def __str__(self) -> str:
        minutes = max(1, round(self.seconds / 60))
        unit = "minute" if minutes == 1 else "minutes"
        megabytes = max(1, round(self.size / 1e6))
        return f"about {self.chunks:,} passages, {minutes} {unit} and {megabytes:,} MB of disk"


def estimate_chunks(chunks: int, *, semantic: bool) -> Estimate:
    """What ``chunks`` passages take, with or without a semantic model."""
    return Estimate(chunks, chunks / _RATES[semantic], chunks * _BYTES[semantic])


def estimate_files(files: Iterable[tuple[str, int]], *, semantic: bool) -> Estimate:
    """What files of these names and sizes in bytes take when none is in the index yet."""
    text = sum(size / _PACKED.get(Path(name).suffix.lower(), 1) for name, size in files)
    return estimate_chunks(round(text / _TEXT_PER_CHUNK), semantic=semantic)


def say_before_ingesting(call: Call, paths: Sequence[Path]) -> None:
    """A note on stderr when it may take half a minute or more."""
    found = discover([path for path in paths if path.exists()]).files
    files = ((file.relative, file.path.stat().st_size) for file in found)
    expected = estimate_files(files, semantic=has_model(call))
    if expected.seconds >= WORTH_SAYING_S:
        call.terminal.note(
            f"{len(found):,} files: at most {expected}; unchanged ones cost nothing."
        )


def say_before_rebuilding(call: Call, chunks: int, *, semantic: bool) -> None:
    """A note on stderr when it may take half a minute or more."""
    expected = estimate_chunks(chunks, semantic=semantic)
    if expected.seconds >= WORTH_SAYING_S:
        call.terminal.note(f"At most {expected}; what is embedded already costs nothing.")


def has_model(call: Call) -> bool:
    """Whether the semantic model of the settings is on this machine."""
    try:
        locate(call.settings.embedding.model, cache_directory())
    except ModelError:
        return False
    return True
