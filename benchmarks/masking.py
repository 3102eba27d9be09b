"""False alarms of masking on corpora without personal data, and what planted values cost.

Run ``python -m benchmarks.masking [FOLDER ...]``; without folders the sample corpora are read. Every
value that a detector finds is printed with its line, so that a person can say whether it is one: the
samples hold no real person's data, so all that is found there is a false alarm unless the text means
it as an address or a number of the kind.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from evidencedesk.errors import SourceError
from evidencedesk.ingestion.load import SourceFile, discover
from evidencedesk.ingestion.masking import Masker
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.ingestion.sniff import WITHOUT_TEXT
from evidencedesk.masking_wiring import masking_of
from evidencedesk.pipeline.documents import Reading, open_file, read_document
from evidencedesk.protocols import Detector
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.wiring import parser_pool, reading

SAMPLES = Path(__file__).parents[1] / "samples"
IDENTIFIERS = ("us-ssn", "de-tax-id")
_SHOWN = 60


def texts(files: Iterable[SourceFile], how: Reading) -> Iterator[tuple[str, str]]:
    """Names and texts of the documents that can be read."""
    for file in files:
        try:
            opened = open_file(file, how)
            if opened.media_type not in WITHOUT_TEXT:
                yield file.relative, read_document(opened, how, taken=lambda _: False).text
        except SourceError:
            continue


def findings(text: str, detector: Detector) -> Iterator[str]:
    """Each value with what stands around it."""
    for span in Masker([detector]).spans(text):
        before = text[max(span.start - 20, 0) : span.start]
        shown = f"{before}»{text[span.start : span.end]}«{text[span.end : span.end + 20]}"
        yield " ".join(shown.split())


def main() -> None:
    """Print what is found in each corpus, and a row of counts and rates for each."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("folders", type=Path, nargs="*")
    arguments.add_argument("--regions", nargs="*", default=[], help="of telephone numbers")
    options = arguments.parse_args()
    table = {"identifiers": IDENTIFIERS, "phone_regions": tuple(options.regions)}
    settings = Settings.model_validate({"masking": table})
    detectors = masking_of(settings).detectors
    assert detectors is not None
    folders = options.folders or sorted(path for path in SAMPLES.iterdir() if path.is_dir())
    with parser_pool(Settings()) as pool:
        how = reading(Settings(), pool, SteppingClock(), DeclaredMetadata(), "default")
        for folder in folders:
            counts: Counter[str] = Counter()
            seconds, characters, documents = 0.0, 0, 0
            for name, text in texts(discover([folder]).files, how):
                documents, characters = documents + 1, characters + len(text)
                for kind in detectors.kinds:
                    started = time.process_time()
                    found = list(findings(text, detectors.get(kind)))
                    seconds += time.process_time() - started
                    counts[kind] += len(found)
                    for value in found[: _SHOWN if counts[kind] < _SHOWN else 0]:
                        print(f"  {kind:10s} {name}: {value}")
            each = ", ".join(f"{kind} {counts[kind]}" for kind in detectors.kinds)
            rate = characters / 1e6 / seconds if seconds else 0.0
            print(
                f"{folder.name}: {documents} documents, {characters:,} characters,"
                f" {sum(counts.values())} found ({each}); {rate:.2f} million characters/s"
            )


if __name__ == "__main__":
    main()
