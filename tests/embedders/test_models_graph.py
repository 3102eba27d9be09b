"""The graphs compute what the paper says, and quantisation loses what it must and no more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_bert import POSITIONS, SHAPE, WORDS, encode, random_tensors, sentence, write_safetensors

from evidencedesk.adapters.embedders.encoder import open_session
from evidencedesk.adapters.models.bert_graph import PRECISIONS, build_graph
from evidencedesk.adapters.models.layers import INT8_LIMIT, quantise
from evidencedesk.adapters.models.weights import Weights
from evidencedesk.errors import ModelError

IDS = st.lists(st.integers(0, len(WORDS) - 1), min_size=1, max_size=POSITIONS)


def _session(directory: Path, seed: int, precision: str) -> onnxruntime.InferenceSession:
    weights = directory / "model.safetensors"
    write_safetensors(weights, random_tensors(seed))
    graph = directory / f"{precision}.onnx"
    build_graph(Weights(weights), SHAPE, precision, graph)
    return open_session(graph)


@given(seed=st.integers(0, 2**32 - 1), ids=IDS)
@settings(max_examples=30)
def test_fp32_computes_the_paper(
    tmp_path_factory: pytest.TempPathFactory, seed: int, ids: list[int]
) -> None:
    session = _session(tmp_path_factory.mktemp("fp32"), seed, "fp32")
    feed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
    vector, tokens = session.run(["sentence_embedding", "token_embeddings"], feed)
    assert tokens[0] == pytest.approx(encode(random_tensors(seed), ids), abs=1e-4)
    assert vector[0] == pytest.approx(sentence(random_tensors(seed), ids), abs=1e-4)


@given(ids=IDS)
@settings(max_examples=20)
def test_int8_stays_near(tmp_path_factory: pytest.TempPathFactory, ids: list[int]) -> None:
    session = _session(tmp_path_factory.mktemp("int8"), 7, "int8")
    feed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
    (vector,) = session.run(["sentence_embedding"], feed)
    assert float(vector[0] @ sentence(random_tensors(7), ids)) > 0.98


def test_padding_counts_for_nothing_in_fp32(tmp_path: Path) -> None:
    session = _session(tmp_path, 3, "fp32")
    ids = np.array([[2, 5, 6, 3, 0, 0, 0]])
    padded = {"input_ids": ids, "attention_mask": (ids != 0).astype(np.int64)}
    (vector,) = session.run(["sentence_embedding"], padded)
    assert vector[0] == pytest.approx(sentence(random_tensors(3), [2, 5, 6, 3]), abs=1e-4)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_same_weights_give_the_same_bytes_and_a_valid_graph(
    tmp_path: Path, precision: str
) -> None:
    _session(tmp_path, 1, precision)
    graph = tmp_path / f"{precision}.onnx"
    first = graph.read_bytes()
    onnx.checker.check_model(str(graph), full_check=True)
    _session(tmp_path, 1, precision)
    assert graph.read_bytes() == first
    _session(tmp_path, 2, "int8")
    assert (tmp_path / "int8.onnx").read_bytes() != first


@given(
    weight=st.lists(
        st.lists(st.floats(-1e3, 1e3, width=32), min_size=3, max_size=3), min_size=1, max_size=8
    ),
    limit=st.sampled_from([INT8_LIMIT, 127]),
)
def test_quantised_weights_are_within_half_a_step(weight: list[list[float]], limit: int) -> None:
    matrix = np.array(weight, np.float32)
    integers, scales = quantise(matrix, limit=limit)
    assert np.abs(integers.astype(int)).max() <= limit
    assert (scales > 0).all()
    assert (np.abs(integers * scales - matrix) <= scales * 0.5001).all()


def test_sums_of_two_products_never_saturate_sixteen_bits() -> None:
    assert 2 * 255 * INT8_LIMIT <= 2**15 - 1 < 2 * 255 * (INT8_LIMIT + 2)


@pytest.mark.parametrize("content", [b"", b"\x01", b"\xff" * 40, b"\x02" + b"\0" * 7 + b"no"])
def test_weights_in_another_format_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        Weights(path)
    assert caught.value.code == "model_damaged"
    assert str(path) in caught.value.message


def test_missing_and_cut_tensors_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    tensors = random_tensors(1)
    write_safetensors(path, tensors)
    with pytest.raises(ModelError, match=r"encoder\.layer\.9"):
        Weights(path).array("encoder.layer.9")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ModelError, match="ends after the file"):
        Weights(path).array(list(tensors)[-1])
