"""Fit the matrix that shortens stored token vectors, on our sample corpora and nothing else.

Run ``python -m benchmarks.token_projection --write`` from the repository's root. The leading
eigenvectors of the second moments of all token vectors of the English sample documents, cut and
encoded as the product does it. Prints how much of the moments each number of dimensions keeps.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import open_model
from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.settings import Settings
from evidencedesk.text.sentences import sentences
from evidencedesk.text.windows import sentence_windows

SAMPLES = ("samples/academy", "samples/kestrel")
OUTPUT = Path("src/evidencedesk/adapters/embedders/minilm_tokens.npy")


def main() -> None:
    """Fit, report, and with ``--write`` replace the matrix."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimensions", type=int, default=96)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    tokens = token_vectors(windows()).astype(np.float64)
    moments, directions = np.linalg.eigh(tokens.T @ tokens)
    moments, directions = moments[::-1], directions[:, ::-1]
    print(f"{len(tokens):,} tokens")
    for kept in (32, 48, 64, 96, 128, 192):
        print(f"{kept:>4} dimensions: {moments[:kept].sum() / moments.sum():.3f}")
    if options.write:
        np.save(OUTPUT, directions[:, : options.dimensions].astype(np.float16))


def windows() -> list[str]:
    """What the product encodes of the English sample documents."""
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    operator = Principal(administrator=True)
    found: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Desk.open(Path(folder) / "samples.desk", create=True, settings=settings) as desk,
    ):
        for sample in SAMPLES:
            desk.ingest(sample)
        for record in desk.documents(principal=operator):
            if record.lang.startswith("en"):
                text = desk.document(record.id, principal=operator).text
                found += [
                    text[window[0].start : window[-1].end]
                    for window in sentence_windows(text, tuple(sentences(text)))
                ]
    return found


def token_vectors(texts: list[str]) -> NDArray[np.float32]:
    """Vectors of all tokens of the texts, shape (tokens, dimensions)."""
    return np.concatenate([each.vectors for each in open_model().token_vectors(texts)])


if __name__ == "__main__":
    main()
