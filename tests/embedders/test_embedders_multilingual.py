"""The multilingual model agrees with its own package and puts languages beside each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evidencedesk.adapters.embedders.encoder import SentenceEncoder
from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.cache import cache_directory, verify
from evidencedesk.adapters.models.catalogue import E5, shipped_centre
from evidencedesk.adapters.models.pull import pull
from evidencedesk.errors import ModelError
from evidencedesk.text.scripts import unknown_script_share

DATA = Path(__file__).parent.parent / "data"
PASSAGES = [
    "You can return goods within thirty days of purchase.",
    "The office is closed on Sundays and public holidays.",
    "Employees may carry five days of leave over into the next year.",
    "Passwords are changed every ninety days.",
]
QUESTIONS = {
    "Wie lange kann ich Waren zurückgeben?": 0,
    "¿Está abierta la oficina los domingos?": 1,
    "मैं कितने दिन की छुट्टी अगले वर्ष में ले जा सकता हूँ?": 2,
    "كم مرة يجب تغيير كلمات المرور؟": 3,
}


def test_off_its_centre_it_is_the_model_of_the_package_that_the_weights_come_from(
    e5: OnnxEmbedder, e5_directory: Path
) -> None:
    sentences = json.loads((DATA / "reference_sentences.json").read_text(encoding="utf-8"))[::8]
    with np.load(DATA / "reference_vectors_e5.npz") as stored:
        reference = stored["vectors"].astype(np.float32)
    encoder = SentenceEncoder(
        e5_directory / "model.int8.onnx",
        e5_directory / "tokenizer.json",
        max_tokens=e5.spec.max_tokens,
        pooling="mean",
    )
    means = [encoder.tokens(f"passage: {text}")[1].mean(axis=0) for text in sentences]
    vectors = np.array(means) + np.load(shipped_centre(E5) or "")
    cosines = (vectors * reference).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    assert len(cosines) == 25
    assert cosines.min() >= 0.985
    assert cosines.mean() >= 0.995


def test_texts_about_different_things_have_nothing_in_common(e5: OnnxEmbedder) -> None:
    sentences = json.loads((DATA / "reference_sentences.json").read_text(encoding="utf-8"))[1::4]
    vectors = e5.embed_passages(sentences)
    assert abs(float((vectors @ vectors.T).mean())) < 0.1


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_passage_in_another_language(e5: OnnxEmbedder, question: str) -> None:
    cosines = e5.embed_passages(PASSAGES) @ e5.embed_query(question)
    assert int(cosines.argmax()) == QUESTIONS[question]


def test_a_vector_does_not_depend_on_its_batch(e5: OnnxEmbedder) -> None:
    texts = [*QUESTIONS, *PASSAGES]
    together = e5.embed_passages(texts)
    assert all(
        (e5.embed_passages([text])[0] == row).all()
        for text, row in zip(texts, together, strict=True)
    )


def test_tokens_are_pieces_of_the_text_without_the_prefix(e5: OnnxEmbedder) -> None:
    text = "मैं कितने दिन की छुट्टी"
    (tokens,) = e5.token_vectors([text], query=True)
    assert len(tokens.vectors) == len(tokens.spans)
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    covered = {place for span in tokens.spans for place in range(span.start, span.end)}
    assert {place for place, letter in enumerate(text) if letter != " "} <= covered


def test_it_says_which_scripts_it_does_not_know(e5: OnnxEmbedder) -> None:
    assert all(unknown_script_share(one, e5.spec.languages) == 0 for one in QUESTIONS)
    assert unknown_script_share("བོད་ཀྱི་སྐད་ཡིག", e5.spec.languages) == 1


def test_a_pulled_model_is_whole_and_another_file_is_refused(
    e5_directory: Path, tmp_path: Path
) -> None:
    findings = verify("e5", cache_directory())
    assert all(finding.ok for finding in findings)
    assert {one.check for one in findings} >= {"model_file:model.int8.onnx"}
    (tmp_path / "e5-small-q4.bin").write_bytes(b"E5S1 another model")
    with pytest.raises(ModelError) as caught:
        pull("e5", cache_dir=tmp_path / "cache", source=str(tmp_path))
    assert caught.value.code == "model_hash_mismatch"
    assert e5_directory == cache_directory() / "models" / "e5"
