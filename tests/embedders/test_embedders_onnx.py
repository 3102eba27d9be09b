"""A text's vector is its own: not its batch's, its thread's or its process's."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder, Overrides

TEXTS = st.lists(st.text(max_size=60) | st.sampled_from(["A bike.", "Refunds " * 40]), max_size=6)
LONG = "The warranty covers the frame. " * 100


@given(texts=TEXTS)
@settings(max_examples=40)
def test_a_vector_has_the_same_bytes_alone_and_in_any_batch(
    minilm: OnnxEmbedder, texts: list[str]
) -> None:
    together = minilm.embed_passages(texts)
    assert together.shape == (len(texts), 384)
    assert together.dtype == np.float32
    for text, vector in zip(texts, together, strict=True):
        assert minilm.embed_passages([text])[0].tobytes() == vector.tobytes()


@given(text=st.text(max_size=200))
@settings(max_examples=40)
def test_any_text_has_a_finite_unit_vector(minilm: OnnxEmbedder, text: str) -> None:
    assert np.linalg.norm(minilm.embed_query(text)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(minilm: OnnxEmbedder, minilm_directory: Path, threads: int) -> None:
    texts = [f"Rule {n}: {'bikes and ' * n} more." for n in range(12)]
    other = OnnxEmbedder(minilm_directory, threads=threads)
    assert other.embed_passages(texts).tobytes() == minilm.embed_passages(texts).tobytes()


def test_another_process_gives_the_same_bytes(minilm: OnnxEmbedder, minilm_directory: Path) -> None:
    texts = ["How long do I have?", LONG, "🚲"]
    code = (
        "import hashlib, sys; from pathlib import Path\n"
        "from evidencedesk.adapters.embedders.onnx import OnnxEmbedder\n"
        "vectors = OnnxEmbedder(Path(sys.argv[1])).embed_passages(sys.argv[2:])\n"
        "print(hashlib.sha256(vectors.tobytes()).hexdigest())"
    )
    command = [sys.executable, "-c", code, str(minilm_directory), *texts]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert printed == hashlib.sha256(minilm.embed_passages(texts).tobytes()).hexdigest()


def test_no_texts_give_no_vectors(minilm: OnnxEmbedder) -> None:
    assert minilm.embed_passages([]).shape == (0, 384)
    assert minilm.token_vectors([]) == []


def test_a_question_and_a_passage_are_embedded_alike_without_prefixes(
    minilm: OnnxEmbedder,
) -> None:
    text = "When is the workshop open?"
    assert minilm.embed_query(text).tobytes() == minilm.embed_passages([text])[0].tobytes()


def test_texts_are_cut_at_the_limit(minilm: OnnxEmbedder) -> None:
    assert minilm.embed_query(LONG).tobytes() == minilm.embed_query(LONG + "Cats.").tobytes()
    short = "The warranty covers the frame."
    assert minilm.embed_query(short).tobytes() != minilm.embed_query(short + " Cats.").tobytes()
    (tokens,) = minilm.token_vectors([LONG])
    assert len(tokens.spans) == 254  # the limit counts the two special tokens


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b", "\x00", "\ud800", "."])
def test_texts_without_words_are_embedded_too(minilm: OnnxEmbedder, text: str) -> None:
    assert np.isfinite(minilm.embed_query(text)).all()


def test_meaning_is_nearer_than_spelling(minilm: OnnxEmbedder) -> None:
    question = minilm.embed_query("How do I get my money back?")
    near, far = minilm.embed_passages(["Refunds take five days.", "How do I get my bike back?"])
    weather = minilm.embed_query("It will rain in Lisbon tomorrow.")
    assert question @ near > question @ weather + 0.2
    assert question @ far > question @ weather


@given(text=st.text(max_size=120))
@settings(max_examples=40)
def test_token_spans_lie_in_the_text_in_order(minilm: OnnxEmbedder, text: str) -> None:
    (tokens,) = minilm.token_vectors([text])
    assert tokens.vectors.shape == (len(tokens.spans), 384)
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert all(0 <= span.start < span.end <= len(text) for span in tokens.spans)
    assert list(tokens.spans) == sorted(tokens.spans)


def test_tokens_stand_where_their_words_stand(minilm: OnnxEmbedder) -> None:
    text = "🚲 Café returns: 30 days"
    (tokens,) = minilm.token_vectors([text])
    words = [text[span.start : span.end] for span in tokens.spans]
    assert words[-5:] == ["Café", "returns", ":", "30", "days"]


def test_a_token_knows_its_context(minilm: OnnxEmbedder) -> None:
    river, money = minilm.token_vectors(["the river bank", "the savings bank"])
    assert river.vectors[-1] @ money.vectors[-1] < 0.95


def test_a_prefix_changes_vectors_and_moves_no_span(
    minilm: OnnxEmbedder, minilm_directory: Path
) -> None:
    overrides = Overrides(
        languages=("en", "de"), query_prefix="query: ", passage_prefix="passage: "
    )
    prefixed = OnnxEmbedder(minilm_directory, overrides=overrides)
    text = "Returning a bike"
    assert prefixed.spec.languages == ("en", "de")
    assert prefixed.embed_query(text).tobytes() == minilm.embed_query(f"query: {text}").tobytes()
    passage = minilm.embed_passages([f"passage: {text}"])
    assert prefixed.embed_passages([text]).tobytes() == passage.tobytes()
    (plain,), (query,) = minilm.token_vectors([text]), prefixed.token_vectors([text], query=True)
    assert query.spans == plain.spans
    assert query.vectors.tobytes() != plain.vectors.tobytes()


def test_the_specification_says_what_ran(minilm: OnnxEmbedder, minilm_directory: Path) -> None:
    weights = (minilm_directory / "model.int8.onnx").read_bytes()
    spec = minilm.spec
    assert spec.revision == f"sha256:{hashlib.sha256(weights).hexdigest()}"
    assert (spec.name, spec.dimensions, spec.max_tokens, spec.languages, spec.normalised) == (
        "minilm", 384, 256, ("en",), True,
    )  # fmt: skip
    exact = OnnxEmbedder(minilm_directory, precision="fp32").spec
    assert exact.name == "minilm:fp32"
    assert exact.revision not in ("", spec.revision)


def test_the_graph_has_the_same_bytes_on_every_machine(minilm: OnnxEmbedder) -> None:
    made_elsewhere = "9dada1078a3c811f35d7504fc07f6d3827f9a841b55b804eab1c7ad111509b4e"
    assert minilm.spec.revision == f"sha256:{made_elsewhere}"
