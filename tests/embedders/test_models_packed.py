"""A file of four-bit weights is read as it was written, and its graph computes the same model."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_bert import write_safetensors
from tokenizers import Tokenizer

from evidencedesk.adapters.embedders.encoder import open_session
from evidencedesk.adapters.models.bert_graph import build_graph, write_graph
from evidencedesk.adapters.models.catalogue import BertShape
from evidencedesk.adapters.models.layers import Graph, PackedLayers
from evidencedesk.adapters.models.packed import BLOCK, PackedModel
from evidencedesk.adapters.models.unigram import write_tokenizer
from evidencedesk.adapters.models.weights import Weights
from evidencedesk.errors import ModelError

WIDTH, INNER, POSITIONS = 32, 64, 16
PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", "▁re", "fund", "▁refund", "s", "▁भ", "ाषा")
SCORES = (0.0, 0.0, 0.0, 0.0, -3.0, -4.0, -4.0, -5.0, -3.5, -6.0, -6.0)
SHAPE = BertShape(layers=1, heads=2)
NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
    "l0.q.w": "encoder.layer.0.attention.self.query.weight",
    "l0.q.b": "encoder.layer.0.attention.self.query.bias",
    "l0.k.w": "encoder.layer.0.attention.self.key.weight",
    "l0.k.b": "encoder.layer.0.attention.self.key.bias",
    "l0.v.w": "encoder.layer.0.attention.self.value.weight",
    "l0.v.b": "encoder.layer.0.attention.self.value.bias",
    "l0.ao.w": "encoder.layer.0.attention.output.dense.weight",
    "l0.ao.b": "encoder.layer.0.attention.output.dense.bias",
    "l0.aln.w": "encoder.layer.0.attention.output.LayerNorm.weight",
    "l0.aln.b": "encoder.layer.0.attention.output.LayerNorm.bias",
    "l0.fi.w": "encoder.layer.0.intermediate.dense.weight",
    "l0.fi.b": "encoder.layer.0.intermediate.dense.bias",
    "l0.fo.w": "encoder.layer.0.output.dense.weight",
    "l0.fo.b": "encoder.layer.0.output.dense.bias",
    "l0.oln.w": "encoder.layer.0.output.LayerNorm.weight",
    "l0.oln.b": "encoder.layer.0.output.LayerNorm.bias",
}


def _shape(name: str) -> tuple[int, ...]:
    rows = {"emb.word": len(PIECES), "emb.pos": POSITIONS, "emb.type": 2, "l0.fi.w": INNER}
    if name == "l0.fi.b":
        return (INNER,)
    if name == "l0.fo.w":
        return (WIDTH, INNER)
    matrix = name in rows or (name.endswith(".w") and "ln" not in name)
    return (rows.get(name, WIDTH), WIDTH) if matrix else (WIDTH,)


def _in_four_bits(values: NDArray[np.float32]) -> tuple[bytes, NDArray[np.float32]]:
    """The bytes of a matrix, one weight after the other, and what they stand for."""
    packed, read = b"", []
    for block in values.reshape(-1, BLOCK):
        scale = np.float16(np.abs(block).max() / 7 or 1)
        whole = [int(np.clip(np.rint(one / np.float32(scale)), -8, 7)) + 8 for one in block]
        packed += scale.tobytes()
        packed += bytes(low | high << 4 for low, high in zip(whole[:16], whole[16:], strict=True))
        read.append([(one - 8) * np.float32(scale) for one in whole])
    return packed, np.array(read, np.float32).reshape(values.shape)


def write_packed(path: Path, seed: int) -> dict[str, NDArray[np.float32]]:
    """Write a file by hand; the tensors that it stands for, by their own names."""
    random = np.random.default_rng(seed)
    tensors, data, entries = {}, b"", []
    for name, full in NAMES.items():
        values = (0.3 * random.standard_normal(_shape(name))).astype(np.float32)
        if name.endswith("ln.w"):
            values += 1
        kind = int(name == "emb.word" or (name.startswith("l") and values.ndim == 2))
        raw, tensors[full] = _in_four_bits(values) if kind else (values.tobytes(), values)
        entries.append((name.encode(), kind, values.size, len(data), len(raw)))
        data += raw
    blob = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, blob)]).astype("<u4").tobytes()
    head = b"E5S1" + struct.pack("<I7ifi", 1, WIDTH, 1, 2, INNER, len(PIECES), 16, 2, 1e-12, BLOCK)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, blob)))
    head += ends + np.array(SCORES, "<f4").tobytes() + b"".join(blob)
    head += struct.pack("<iI", 0, 3) + b"map" + struct.pack("<i", len(entries))
    start = len(head) + sum(23 + len(name) for name, *_ in entries)
    for name, kind, count, first, size in entries:
        head += struct.pack("<H", len(name)) + name
        head += struct.pack("<BIQQ", kind, count, start + first, size)
    path.write_bytes(head + data)
    return tensors


@given(seed=st.integers(0, 2**32 - 1))
def test_every_tensor_is_read_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = tmp_path_factory.mktemp("packed") / "model.bin"
    tensors = write_packed(path, seed)
    model = PackedModel(path)
    for name, expected in tensors.items():
        found = model.array(name)
        assert found.shape == expected.shape
        assert (found == expected).all()


def test_the_graph_computes_what_the_weights_say(tmp_path: Path) -> None:
    tensors = write_packed(tmp_path / "model.bin", 5)
    model = PackedModel(tmp_path / "model.bin")
    write_graph(PackedLayers(Graph(), model), SHAPE, model, tmp_path / "packed.onnx")
    write_safetensors(tmp_path / "model.safetensors", tensors)
    build_graph(Weights(tmp_path / "model.safetensors"), SHAPE, "fp32", tmp_path / "fp32.onnx")
    ids = np.array([[0, 7, 8, 9, 10, 2]])
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    found, expected = (
        open_session(tmp_path / f"{name}.onnx").run(["sentence_embedding"], feed)[0][0]
        for name in ("packed", "fp32")
    )
    assert float(found @ expected) > 0.99


def test_the_tokenizer_splits_as_the_scores_say(tmp_path: Path) -> None:
    write_packed(tmp_path / "model.bin", 1)
    write_tokenizer(PackedModel(tmp_path / "model.bin").vocabulary, tmp_path / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tokenizer.encode("refunds").tokens == ["<s>", "▁refund", "s", "</s>"]
    assert tokenizer.encode("ｒｅｆｕｎｄ  भाषा").tokens == ["<s>", "▁refund", "▁भ", "ाषा", "</s>"]
    assert tokenizer.encode("refund é").ids[-2] == 3
    assert tokenizer.encode("refund  भाषा").offsets[-2] == (9, 12)


@pytest.mark.parametrize("cut", [0, 3, 40, 200, 1000, -1])
def test_a_file_that_ends_too_early_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "model.bin"
    write_packed(path, 1)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ModelError) as caught:
        PackedModel(path)
    assert caught.value.code == "model_damaged"
    assert str(path) in caught.value.message


def test_another_format_and_another_tensor_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    write_packed(path, 1)
    model = PackedModel(path)
    for name in ("pooler.dense.weight", "encoder.layer.9.output.dense.weight"):
        with pytest.raises(ModelError, match="no tensor"):
            model.array(name)
    with pytest.raises(ModelError, match="not in four bits"):
        model.blocks("embeddings.position_embeddings.weight")
    path.write_bytes(b"E5S2" + path.read_bytes()[4:])
    with pytest.raises(ModelError, match="it begins with"):
        PackedModel(path)
