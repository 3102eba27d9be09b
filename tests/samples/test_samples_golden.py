"""The golden sets agree with the corpora: documents exist, quotes stand in them, rights are as said."""

import pytest
import yaml
from sample_files import SAMPLES, declared, files_of, text_of

KEYS = {
    "id",
    "question",
    "roles",
    "document",
    "quote",
    "also",
    "abstain",
    "hidden",
    "retrieval_only",
    "tags",
}
SETS = {
    name: yaml.safe_load((SAMPLES / "golden" / f"{name}.yaml").read_text(encoding="utf-8"))
    for name in ("kestrel", "academy")
}
PATHS = {name: {str(declared(path)["id"]): path for path in files_of(name)} for name in SETS}
QUESTIONS = [(name, each) for name, golden in SETS.items() for each in golden["questions"]]
ANSWERED = [(name, each) for name, each in QUESTIONS if "document" in each]
ABSTAINED = [(name, each) for name, each in QUESTIONS if "abstain" in each]


def label(value: object) -> str:
    return value["id"] if isinstance(value, dict) else str(value)


def may_see(name: str, each: dict, document: str) -> bool:
    return bool(set(declared(PATHS[name][document])["roles"]) & set(each["roles"]))


def test_there_are_sixty_questions_and_a_third_has_no_answer():
    assert len(QUESTIONS) >= 60
    assert len(ABSTAINED) * 3 >= len(QUESTIONS)
    assert len(ANSWERED) + len(ABSTAINED) == len(QUESTIONS)
    assert len({each["id"] for _, each in QUESTIONS}) == len(QUESTIONS)
    assert all(each["question"].strip() and set(each) <= KEYS for _, each in QUESTIONS)
    assert all(golden["corpus"] == name for name, golden in SETS.items())


@pytest.mark.parametrize(("name", "each"), ANSWERED, ids=label)
def test_the_answer_stands_in_a_document_that_the_reader_may_see(name, each):
    assert may_see(name, each, each["document"])
    text = text_of(PATHS[name][each["document"]])
    assert each["quote"] in text
    assert each.get("also", "") in text


@pytest.mark.parametrize(("name", "each"), ABSTAINED, ids=label)
def test_what_is_hidden_exists_and_the_reader_may_not_see_it(name, each):
    assert each["abstain"] == "no_evidence"
    assert ("hidden" in each) == ("permission" in each["tags"])
    if "hidden" in each:
        assert not may_see(name, each, each["hidden"])


def test_each_hidden_document_can_be_read_by_somebody():
    assert all(
        declared(PATHS[name][each["hidden"]])["roles"]
        for name, each in ABSTAINED
        if "hidden" in each
    )


def test_every_current_document_of_the_shop_is_asked_about():
    asked = {each["document"] for name, each in ANSWERED if name == "kestrel"}
    assert set(PATHS["kestrel"]) - asked == {"kc-returns-v2", "kc-help-bn-v1"}
