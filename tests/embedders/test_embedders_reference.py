"""The model agrees with vectors made from the original weights by PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return list(json.loads((DATA / "reference_sentences.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def reference() -> NDArray[np.float32]:
    with np.load(DATA / "reference_vectors.npz") as stored:
        return stored["vectors"].astype(np.float32)


def _cosines(vectors: NDArray[np.float32], reference: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vectors * reference).sum(axis=1) / np.linalg.norm(reference, axis=1)


def test_there_are_two_hundred_different_sentences_with_a_vector_each(
    sentences: list[str], reference: NDArray[np.float32]
) -> None:
    assert len(set(sentences)) == 200
    assert reference.shape == (200, 384)
    assert np.linalg.norm(reference, axis=1) == pytest.approx(1, abs=1e-3)
    assert (reference @ reference.T).mean() < 0.3  # about many things


def test_fp32_agrees_with_every_reference_vector(
    minilm_directory: Path, sentences: list[str], reference: NDArray[np.float32]
) -> None:
    vectors = OnnxEmbedder(minilm_directory, precision="fp32").embed_passages(sentences)
    assert _cosines(vectors, reference).min() >= 0.999


def test_int8_agrees_on_average_and_strays_far_nowhere(
    minilm: OnnxEmbedder, sentences: list[str], reference: NDArray[np.float32]
) -> None:
    cosines = _cosines(minilm.embed_passages(sentences), reference)
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.96


def test_int8_ranks_as_the_reference_does(
    minilm: OnnxEmbedder, sentences: list[str], reference: NDArray[np.float32]
) -> None:
    vectors = minilm.embed_passages(sentences)
    np.fill_diagonal(ours := vectors @ vectors.T, -1)
    np.fill_diagonal(theirs := reference @ reference.T, -1)
    overlap = [
        len({*np.argsort(-mine)[:10]} & {*np.argsort(-other)[:10]})
        for mine, other in zip(ours, theirs, strict=True)
    ]
    assert np.mean(overlap) >= 8.5
