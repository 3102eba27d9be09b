"""What a model or a provider returns is checked before anybody may store it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_bert import SHAPE, random_tensors, write_safetensors, write_tokenizer

from evidencedesk.adapters.embedders.checks import checked_unit_vectors
from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.bert_graph import build_graph
from evidencedesk.adapters.models.manifest import ModelManifest
from evidencedesk.adapters.models.weights import Weights
from evidencedesk.errors import ModelError


def _rows(*rows: list[float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


@given(
    rows=st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3).filter(any),
        min_size=1,
        max_size=5,
    )
)
def test_vectors_keep_their_direction_and_get_unit_length(rows: list[list[float]]) -> None:
    given_rows = _rows(*rows)
    unit = checked_unit_vectors(given_rows, len(rows), 3, "provider")
    assert unit.dtype == np.float32
    assert np.linalg.norm(unit, axis=1) == pytest.approx(1, abs=1e-6)
    lengths = np.linalg.norm(given_rows.astype(np.float64), axis=1)
    assert (unit * given_rows).sum(axis=1) == pytest.approx(lengths, rel=1e-5)
    alone = checked_unit_vectors(given_rows[:1], 1, 3, "provider")
    assert alone[0].tobytes() == unit[0].tobytes()


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (_rows([1, 2]), "(1, 2), not (1, 3)"),
        (_rows([1, 2, 3], [4, 5, 6]), "(2, 3), not (1, 3)"),
        (_rows([1, np.nan, 3]), "text 0"),
        (_rows([1, np.inf, 3]), "text 0"),
        (_rows([0, 0, 0]), "text 0"),
    ],
)
def test_other_shapes_and_vectors_without_direction_are_refused(
    vectors: NDArray[np.float32], said: str
) -> None:
    with pytest.raises(ModelError) as caught:
        checked_unit_vectors(vectors, 1, 3, "openai:small")
    assert caught.value.code == "model_output"
    assert "openai:small" in caught.value.message
    assert said in caught.value.message


def _embedder(directory: Path, *, dimensions: int, poison: float) -> OnnxEmbedder:
    tensors = random_tensors(1)
    tensors["encoder.layer.1.output.LayerNorm.bias"][0] = poison
    write_safetensors(directory / "model.safetensors", tensors)
    write_tokenizer(directory / "tokenizer.json")
    build_graph(Weights(directory / "model.safetensors"), SHAPE, "fp32", directory / "g.onnx")
    graphs = {"fp32": ("g.onnx", "model.safetensors")}
    ModelManifest(name="bad", graphs=graphs, dimensions=dimensions, max_tokens=12).write(directory)
    return OnnxEmbedder(directory)


@pytest.mark.parametrize(("dimensions", "poison"), [(9, 0.0), (8, float("nan"))])
def test_a_model_that_breaks_its_word_is_refused(
    tmp_path: Path, dimensions: int, poison: float
) -> None:
    embedder = _embedder(tmp_path, dimensions=dimensions, poison=poison)
    for work in (
        lambda: embedder.embed_passages(["a bike", "refund"]),
        lambda: embedder.embed_query("a bike"),
        lambda: embedder.token_vectors(["a bike"]),
    ):
        with pytest.raises(ModelError) as caught:
            work()
        assert caught.value.code == "model_output"
