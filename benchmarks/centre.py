"""Measure what all token vectors of the multilingual model have in common, and write it down.

Run ``python -m benchmarks.centre``. Every second of our reference sentences is embedded as a passage
and every fourth as a question; the mean of both means is the centre that ``models pull e5`` builds into
its graph. Nothing of what the model is measured on is read.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from benchmarks.embed import SENTENCES
from evidencedesk.adapters.embedders.encoder import SentenceEncoder
from evidencedesk.adapters.models.cache import cache_directory, where
from evidencedesk.adapters.models.catalogue import E5, shipped_centre
from evidencedesk.adapters.models.manifest import read_manifest


def main() -> None:
    """Print how far the centre moves, and write it to the package."""
    directory = where(E5.name, cache_directory())
    manifest = read_manifest(directory)
    encoder = SentenceEncoder(
        directory / manifest.graphs["int8"][0],
        directory / manifest.tokenizer,
        max_tokens=manifest.max_tokens,
        pooling=manifest.pooling,
    )
    sentences = json.loads(SENTENCES.read_text(encoding="utf-8"))
    parts = ((E5.passage_prefix, sentences[::2]), (E5.query_prefix, sentences[::4]))
    means = [_mean(encoder, [prefix + text for text in texts]) for prefix, texts in parts]
    path = shipped_centre(E5)
    assert path is not None
    before = np.load(path) if path.exists() else np.zeros(E5.dimensions, np.float32)
    rest = np.mean(means, axis=0)
    print(f"length {np.linalg.norm(before + rest):.3f}, moved by {np.linalg.norm(rest):.3f}")
    np.save(path, (before + rest).astype(np.float32))


def _mean(encoder: SentenceEncoder, texts: list[str]) -> NDArray[np.float64]:
    vectors = [encoder.tokens(text)[1].mean(axis=0) for text in texts]
    mean: NDArray[np.float64] = np.mean(vectors, axis=0, dtype=np.float64)
    return mean


if __name__ == "__main__":
    main()
