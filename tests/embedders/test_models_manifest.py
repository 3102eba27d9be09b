"""Directories that are models, directories that are not, and what is said of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tiny_bert import (
    SHAPE,
    WIDTH,
    encode,
    random_tensors,
    sentence,
    write_safetensors,
    write_tokenizer,
)
from tokenizers import Tokenizer

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.bert_graph import build_graph
from evidencedesk.adapters.models.manifest import MANIFEST, ModelManifest, read_manifest, sha256_of
from evidencedesk.adapters.models.weights import Weights
from evidencedesk.errors import ModelError

SEED = 5
BIKE = [2, 4, 5, 3]  # [CLS] a bike [SEP]


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A directory with our manifest."""
    directory = tmp_path / "tiny"
    directory.mkdir()
    write_tokenizer(directory / "tokenizer.json")
    write_safetensors(directory / "model.safetensors", random_tensors(SEED))
    weights = Weights(directory / "model.safetensors")
    for precision in ("int8", "fp32"):
        build_graph(weights, SHAPE, precision, directory / f"{precision}.onnx")
    graphs = {"fp32": ("fp32.onnx", "model.safetensors"), "int8": ("int8.onnx",)}
    ModelManifest(
        name="tiny",
        graphs=graphs,
        max_tokens=12,
        languages=("en", "de"),
        dimensions=WIDTH,
        sha256={path.name: sha256_of(path) for path in directory.iterdir()},
    ).write(directory)
    return directory


@pytest.fixture
def plain(ours: Path) -> Path:
    """A directory as sentence-transformers saves one with an ONNX export."""
    (ours / MANIFEST).unlink()
    (ours / "int8.onnx").unlink()
    (ours / "onnx").mkdir()
    _tokens_only(ours / "fp32.onnx")
    (ours / "fp32.onnx").rename(ours / "onnx" / "model.onnx")
    (ours / "model.safetensors").rename(ours / "onnx" / "model.safetensors")
    _write(ours / "sentence_bert_config.json", {"max_seq_length": 10})
    _write(ours / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    return ours


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _tokens_only(path: Path) -> None:
    """Leave the last layer as the only output, under the name that exporters give it."""
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        node.output[:] = [
            "last_hidden_state" if o == "token_embeddings" else o for o in node.output
        ]
    size = ["batch", "tokens", WIDTH]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, size)]
    del model.graph.output[:]
    model.graph.output.extend(outputs)
    path.write_bytes(model.SerializeToString())


def _code(directory: Path, **options: Any) -> tuple[str, str]:
    with pytest.raises(ModelError) as caught:
        OnnxEmbedder(directory, **options)
    assert caught.value.hint
    return caught.value.code, caught.value.message


def test_a_manifest_is_read_as_it_was_written(ours: Path) -> None:
    manifest = read_manifest(ours)
    manifest.write(ours)
    assert read_manifest(ours) == manifest
    assert (manifest.name, manifest.languages, manifest.max_tokens) == ("tiny", ("en", "de"), 12)


def test_our_directory_is_run_by_what_it_says(ours: Path) -> None:
    embedder = OnnxEmbedder(ours)
    assert (embedder.spec.name, embedder.spec.dimensions) == ("tiny", WIDTH)
    assert (
        embedder.spec.revision
        == f"sha256:{sha256_of(ours / 'fp32.onnx', ours / 'model.safetensors')}"
    )
    assert embedder.embed_query("a bike") == pytest.approx(
        sentence(random_tensors(SEED), BIKE), abs=1e-4
    )
    assert OnnxEmbedder(ours, precision="int8").spec.name == "tiny:int8"


def test_a_plain_directory_is_run_as_it_is(plain: Path) -> None:
    embedder = OnnxEmbedder(plain)
    spec = embedder.spec
    assert (spec.name, spec.dimensions, spec.max_tokens) == ("tiny", WIDTH, 10)
    assert (spec.languages, spec.query_prefix, spec.passage_prefix) == (("en",), "", "")
    assert embedder.embed_query("a bike") == pytest.approx(
        sentence(random_tensors(SEED), BIKE), abs=1e-4
    )
    (tokens,) = embedder.token_vectors(["a bike"])
    assert tokens.spans == ((0, 1), (2, 6))
    expected = encode(random_tensors(SEED), BIKE)[1:3]
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    assert tokens.vectors == pytest.approx(expected / lengths, abs=1e-4)


def test_other_weights_beside_a_plain_graph_are_another_revision(plain: Path) -> None:
    before = OnnxEmbedder(plain).spec.revision
    write_safetensors(plain / "onnx" / "model.safetensors", random_tensors(SEED + 1))
    assert OnnxEmbedder(plain).spec.revision != before


def test_the_first_token_is_the_sentence_where_the_directory_says_so(plain: Path) -> None:
    _write(plain / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    first = encode(random_tensors(SEED), BIKE)[0]
    assert OnnxEmbedder(plain).embed_query("a bike") == pytest.approx(
        first / np.linalg.norm(first), abs=1e-4
    )


def test_padding_that_a_tokenizer_file_asks_for_is_left_out(plain: Path) -> None:
    padding = Tokenizer.from_file(str(plain / "tokenizer.json"))
    padding.enable_padding(length=9)
    padding.save(str(plain / "tokenizer.json"))
    assert OnnxEmbedder(plain).embed_query("a bike") == pytest.approx(
        sentence(random_tensors(SEED), BIKE), abs=1e-4
    )


def test_prompts_of_a_plain_directory_are_its_prefixes(plain: Path) -> None:
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    _write(plain / "config_sentence_transformers.json", prompts)
    embedder = OnnxEmbedder(plain)
    assert (embedder.spec.query_prefix, embedder.spec.passage_prefix) == ("query: ", "passage: ")
    (tokens,) = embedder.token_vectors(["a bike"], query=True)
    assert tokens.spans == ((0, 1), (2, 6))


@pytest.mark.parametrize("name", ["fp32.onnx", "model.safetensors", "tokenizer.json"])
def test_a_file_that_is_not_what_was_recorded_is_refused(ours: Path, name: str) -> None:
    content = bytearray((ours / name).read_bytes())
    content[len(content) // 2] ^= 1
    (ours / name).write_bytes(content)
    code, message = _code(ours)
    assert code == "model_damaged"
    assert name in message


@pytest.mark.parametrize("name", ["fp32.onnx", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(ours: Path, name: str) -> None:
    (ours / name).unlink()
    assert _code(ours) == ("model_directory", _code(ours)[1])
    assert name in _code(ours)[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 7}, "name"),
        ({"surprise": 1}, "surprise"),
        ({"graphs": {}}, "at least one graph"),
        ({"graphs": {"int8": []}}, "at least one graph"),
        ({"format": 2}, "format 1"),
        ({"graphs": {"int8": ["../elsewhere.onnx"]}}, "outside"),
        ({"tokenizer": "/etc/passwd"}, "outside"),
    ],
)
def test_a_wrong_manifest_is_refused_at_the_place(
    ours: Path, change: dict[str, Any], said: str
) -> None:
    manifest = json.loads((ours / MANIFEST).read_text(encoding="utf-8"))
    _write(ours / MANIFEST, {**manifest, **change})
    code, message = _code(ours)
    assert code == "model_directory"
    assert said in message


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_manifest_that_is_not_json_is_refused(ours: Path, content: bytes) -> None:
    (ours / MANIFEST).write_bytes(content)
    assert _code(ours)[0] == "model_directory"


def test_a_precision_that_is_not_there_is_refused_with_those_that_are(ours: Path) -> None:
    with pytest.raises(ModelError) as caught:
        OnnxEmbedder(ours, precision="fp16")
    assert caught.value.code == "model_directory"
    assert "fp32, int8" in caught.value.hint


def test_other_directories_are_refused(tmp_path: Path, plain: Path) -> None:
    assert _code(tmp_path / "nowhere")[0] == "model_directory"
    (tmp_path / "empty").mkdir()
    assert "no graph" in _code(tmp_path / "empty")[1]
    (plain / "onnx" / "model.onnx").rename(plain / "onnx" / "b.onnx")
    (plain / "onnx" / "a.onnx").write_bytes(b"")
    assert "onnx/a.onnx, onnx/b.onnx" in _code(plain)[1]


def test_unsupported_pooling_is_refused(plain: Path) -> None:
    _write(plain / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    assert _code(plain)[0] == "model_incompatible"


@pytest.mark.parametrize("name", ["sentence_bert_config.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("content", ["{", "[1]"])
def test_a_broken_file_of_a_plain_directory_is_named(plain: Path, name: str, content: str) -> None:
    (plain / name).write_text(content, encoding="utf-8")
    code, message = _code(plain)
    assert code == "model_directory"
    assert name in message


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
def test_a_file_that_cannot_be_opened_is_named(plain: Path, name: str) -> None:
    (plain / name).write_bytes(b"\x07 not this")
    code, message = _code(plain)
    assert code == "model_damaged"
    assert name in message


def test_a_graph_for_something_else_is_refused(plain: Path) -> None:
    def declare(name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])

    for put, got, said in (
        ("pixels", "last_hidden_state", "pixels"),
        ("input_ids", "logits", "logits"),
    ):
        node = helper.make_node("Identity", [put], [got])
        graph = helper.make_graph([node], "other", [declare(put)], [declare(got)])
        opset = [helper.make_opsetid("", 20)]
        onnx.save(
            helper.make_model(graph, opset_imports=opset, ir_version=9), plain / "onnx/model.onnx"
        )
        code, message = _code(plain)
        assert code == "model_incompatible"
        assert said in message


def test_a_graph_without_token_vectors_says_so_when_asked_for_them(ours: Path) -> None:
    model = onnx.load(ours / "int8.onnx")
    del model.graph.output[1]
    onnx.save(model, ours / "int8.onnx")
    manifest = ModelManifest(name="sentences", graphs={"int8": ("int8.onnx",)}, max_tokens=12)
    manifest.write(ours)
    embedder = OnnxEmbedder(ours)
    assert embedder.embed_query("a bike").shape == (WIDTH,)
    with pytest.raises(ModelError) as caught:
        embedder.token_vectors(["a bike"])
    assert caught.value.code == "model_incompatible"


def test_texts_longer_than_the_positions_of_the_model_are_an_error_not_a_crash(ours: Path) -> None:
    ModelManifest(name="long", graphs={"int8": ("int8.onnx",)}, max_tokens=99).write(ours)
    embedder = OnnxEmbedder(ours)
    with pytest.raises(ModelError) as caught:
        embedder.embed_passages(["a bike"] * 3 + ["bike " * 60])
    assert caught.value.code == "model_failed"
    assert embedder.embed_query("a bike").shape == (WIDTH,)
