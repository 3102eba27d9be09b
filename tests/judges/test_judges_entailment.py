"""The entailment judge over a real ONNX graph built here."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from tiny_judge import WORDS, write_judge

from evidencedesk.adapters.judges.entailment import EntailmentJudge
from evidencedesk.errors import ModelError
from evidencedesk.protocols import Judge

QUOTE = "New bikes can be returned within 30 days of delivery."


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> EntailmentJudge:
    return EntailmentJudge(write_judge(tmp_path_factory.mktemp("judge")))


def code_of(folder: Path, claim: str = "bikes", quote: str = QUOTE) -> str:
    with pytest.raises(ModelError) as caught:
        EntailmentJudge(folder).supports(claim, [quote])
    return caught.value.code


def test_it_is_a_judge_with_the_name_of_its_folder(judge: Judge) -> None:
    assert judge.name == "tiny"


@pytest.mark.parametrize(
    ("claim", "quotes", "supported"),
    [
        ("Bikes can be returned within 30 days.", [QUOTE], True),
        ("Customers may return helmets.", [QUOTE], False),
        ("Opened helmets cannot be returned.", [QUOTE], False),
        (
            "Opened helmets cannot be returned.",
            [QUOTE, "Opened helmets cannot be sent back."],
            True,
        ),
        ("Bikes.", [""], False),
        ("", [QUOTE], False),
    ],
)
def test_premise_and_hypothesis_are_told_apart(
    judge: EntailmentJudge, claim: str, quotes: list[str], supported: bool
) -> None:
    assert judge.supports(claim, quotes) is supported


def test_the_entailment_is_a_probability_of_the_label_that_the_folder_names(tmp_path: Path) -> None:
    entails = EntailmentJudge(write_judge(tmp_path / "a", entailment=1))
    turned = EntailmentJudge(write_judge(tmp_path / "b", entailment=0))
    claim = "Bikes can be returned."
    assert entails.entailment(QUOTE, claim) > 0.99
    assert entails.entailment(QUOTE, claim) + turned.entailment(QUOTE, claim) == pytest.approx(1)
    assert turned.supports(claim, [QUOTE]) is False


def test_the_threshold_decides(tmp_path: Path) -> None:
    half = "Bikes can be sent back within 14 days"
    probability = EntailmentJudge(write_judge(tmp_path)).entailment(QUOTE, half)
    assert 0 < probability < 1
    for threshold, supported in ((probability, True), (min(1.0, probability + 1e-6), False)):
        judge = EntailmentJudge(write_judge(tmp_path, threshold=threshold))
        assert judge.supports(half, [QUOTE]) is supported


@given(st.lists(st.sampled_from(WORDS[4:]), min_size=1, max_size=12), st.text(max_size=50))
def test_a_probability_is_one_whatever_is_said(
    judge: EntailmentJudge, words: list[str], premise: str
) -> None:
    claim = " ".join(words)
    assert 0 <= judge.entailment(premise, claim) <= 1
    assert judge.supports(claim, [claim])


def test_a_surrogate_stops_nothing(judge: EntailmentJudge) -> None:
    assert judge.supports("bikes \ud800 can be returned", [QUOTE])


def test_a_long_premise_is_cut_and_a_long_claim_is_not_judged(judge: EntailmentJudge) -> None:
    assert judge.supports("bikes", ["bikes " * 5000])
    with pytest.raises(ModelError) as caught:
        judge.supports("bikes " * 33, [QUOTE])
    assert caught.value.code == "claim_too_long"


@pytest.mark.parametrize(
    "manifest",
    [
        {"entailment": -1},
        {"entailment": "yes"},
        {"threshold": 0},
        {"threshold": 2},
        {"max_tokens": 1},
        {"name": ""},
        {"unknown": 1},
    ],
)
def test_a_folder_that_says_nonsense_is_refused(tmp_path: Path, manifest: dict) -> None:
    assert code_of(write_judge(tmp_path, **manifest)) == "judge_directory"


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    assert code_of(tmp_path / "nowhere") == "judge_directory"
    for name, code in (
        ("judge.json", "judge_directory"),
        ("model.onnx", "model_damaged"),
        ("tokenizer.json", "model_damaged"),
    ):
        folder = write_judge(tmp_path / name)
        (folder / name).write_bytes(b"no such thing")
        assert code_of(folder) == code
        (folder / name).unlink()
        assert code_of(folder) == code


def test_a_label_that_the_graph_has_not_is_an_error(tmp_path: Path) -> None:
    assert code_of(write_judge(tmp_path, entailment=2)) == "model_incompatible"


def save_constant(folder: Path, value: list[float], shape: list[int], name: str) -> None:
    given = helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)
    tensor = helper.make_tensor("value", TensorProto.FLOAT, shape, value)
    nodes = [helper.make_node("Constant", [], ["logits"], value=tensor)]
    body = helper.make_graph(nodes, "constant", [given], [logits])
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, str(folder / "model.onnx"))


@pytest.mark.parametrize(
    ("value", "shape", "name", "code"),
    [
        ([float("nan"), 0.0], [1, 2], "input_ids", "model_output"),
        ([float("inf"), 0.0], [1, 2], "input_ids", "model_output"),
        ([0.0], [1, 1], "input_ids", "model_incompatible"),
        ([0.0, 0.0], [2, 1], "input_ids", "model_incompatible"),
        ([0.0, 0.0], [1, 2], "pixels", "model_incompatible"),
    ],
)
def test_a_graph_that_says_nothing_usable_is_an_error(
    tmp_path: Path, value: list[float], shape: list[int], name: str, code: str
) -> None:
    folder = write_judge(tmp_path)
    save_constant(folder, value, shape, name)
    assert code_of(folder) == code


def test_the_manifest_is_small(tmp_path: Path) -> None:
    said = json.loads((write_judge(tmp_path) / "judge.json").read_text("utf-8"))
    assert set(said) == {"name", "entailment", "max_tokens"}
