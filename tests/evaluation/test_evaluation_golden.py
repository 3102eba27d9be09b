"""Golden sets are read strictly, and every refusal says what is wrong and where."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.access import Status
from evidencedesk.errors import GoldenSetError
from evidencedesk.evaluation.drafting import add_row, draft_questions, row_from_answer, write_rows
from evidencedesk.evaluation.golden import GoldenQuestion, Label, Place, Reader
from evidencedesk.evaluation.loading import load_golden
from evidencedesk.evaluation.rows import read_row
from evidencedesk.model import Block, BlockKind, Document

ROW = {"id": "a", "question": "How long?", "roles": ["staff"], "document": "returns"}


def written(folder: Path, *rows: object, name: str = "golden.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def refused(path: Path) -> GoldenSetError:
    with pytest.raises(GoldenSetError) as caught:
        load_golden(path)
    return caught.value


def test_a_short_row_is_a_whole_question(tmp_path: Path) -> None:
    row = {**ROW, "quote": "30 days", "also": "unless", "lang": "en", "tags": ["t"]}
    [found] = load_golden(written(tmp_path, row)).questions
    assert found == GoldenQuestion(
        id="a",
        question="How long?",
        reader=Reader(roles=frozenset({"staff"})),
        documents={"returns": 1.0},
        quotes=("30 days", "unless"),
        lang="en",
        tags=("t",),
    )


def test_a_long_row_says_everything(tmp_path: Path) -> None:
    row = {
        "id": "b",
        "question": "কত দিন?",
        "tenant": "shop",
        "administrator": True,
        "statuses": ["superseded"],
        "documents": {"x": 2, "y": 0.5},
        "facts": ["30"],
        "places": [{"document": "x", "first_line": 4, "last_line": 5}],
        "retrieval_only": True,
    }
    [found] = load_golden(written(tmp_path, row)).questions
    assert found.reader == Reader(
        "shop", administrator=True, statuses=frozenset({Status.SUPERSEDED})
    )
    assert found.documents == {"x": 2.0, "y": 0.5}
    assert found.places == (Place("x", 4, 5),)
    assert found.lang == "bn"


def test_yaml_tells_the_line(tmp_path: Path) -> None:
    path = tmp_path / "golden.yaml"
    path.write_text('questions:\n\n  - {id: a, question: "How?", documnt: x}\n', "utf-8")
    error = refused(path)
    assert error.code == "golden_row"
    assert "line 3" in error.message
    assert "'document'" in error.hint


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], "golden_empty"),
        ([ROW, ROW], "golden_duplicate"),
        ([{**ROW, "question": "?"}], "golden_row"),
        ([{**ROW, "roles": "staff"}], "golden_row"),
        ([{**ROW, "roles": ["a b"]}], "golden_row"),
        ([{**ROW, "label": "maybe"}], "golden_row"),
        ([{**ROW, "statuses": ["new"]}], "golden_row"),
        ([{**ROW, "label": "unanswerable"}], "golden_contradiction"),
        ([{**ROW, "hidden": "x", "label": "answerable"}], "golden_contradiction"),
        ([{**ROW, "abstain": "no_evidence"}], "golden_contradiction"),
        ([{"id": "a", "question": "How?", "label": "answerable"}], "golden_contradiction"),
        (
            [ROW, {"id": "b", "question": "how  LONG?", "roles": ["staff"]}],
            "golden_contradiction",
        ),
        (["no object"], "golden_unreadable"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, rows: list[object], code: str) -> None:
    assert refused(written(tmp_path, *rows)).code == code


def test_files_that_are_no_golden_sets(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.yaml").code == "golden_missing"
    assert refused(written(tmp_path, ROW, name="golden.csv")).code == "golden_unreadable"
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{", "utf-8")
    assert "line 1" in refused(broken).message
    twice = tmp_path / "twice.yaml"
    twice.write_text("- {id: a, id: b, question: Why}\n", "utf-8")
    assert refused(twice).code == "golden_unreadable"
    plain = tmp_path / "plain.yaml"
    plain.write_text("a sentence\n", "utf-8")
    assert refused(plain).code == "golden_unreadable"


def test_the_same_question_may_have_another_answer_for_another_reader(tmp_path: Path) -> None:
    other = {"id": "b", "question": "How long?", "roles": [], "hidden": "returns"}
    labels = [one.label for one in load_golden(written(tmp_path, ROW, other)).questions]
    assert labels == [Label.ANSWERABLE, Label.NOT_PERMITTED]


def test_a_beir_folder(tmp_path: Path) -> None:
    written(tmp_path, {"_id": "1", "text": "a?"}, {"_id": "2", "text": "b?"}, name="queries.jsonl")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tx\t2\n1\ty\t0\n", "utf-8")
    golden = load_golden(tmp_path, reader=Reader(roles=frozenset({"r"})))
    [found] = golden.questions
    assert (found.documents, found.relevant) == ({"x": 2.0, "y": 0.0}, {"x"})
    assert found.retrieval_only
    assert found.reader.roles == {"r"}
    assert golden.notes == ("1 queries without a relevant document were left out",)
    (tmp_path / "qrels.tsv").write_text("head\nbad line\n", "utf-8")
    assert "line 2" in refused(tmp_path).message


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=8)
QUESTIONS = st.builds(
    GoldenQuestion,
    id=NAMES,
    question=NAMES,
    reader=st.builds(
        Reader, roles=st.frozensets(st.sampled_from("abc")), administrator=st.booleans()
    ),
    documents=st.dictionaries(NAMES, st.sampled_from([1.0, 2.0]), min_size=1, max_size=3),
    quotes=st.lists(NAMES, max_size=2).map(tuple),
    facts=st.lists(NAMES, max_size=2).map(tuple),
    lang=st.sampled_from(["en", "de"]),
    tags=st.lists(NAMES, max_size=2).map(tuple),
    retrieval_only=st.booleans(),
)


@given(QUESTIONS)
def test_a_row_reads_back_as_it_was_written(question: GoldenQuestion) -> None:
    assert read_row(question.to_json(), "here", Reader()) == question


@pytest.mark.parametrize("name", ["golden.yaml", "golden.jsonl"])
def test_rows_are_added_and_nothing_else_changes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    rows = [read_row({**ROW, "id": f"r{n}", "question": f"q{n}"}, "", Reader()) for n in range(3)]
    write_rows(path, rows[:1], name="shop")
    if name.endswith("yaml"):
        path.write_text("# mine\n" + path.read_text("utf-8"), "utf-8")
    before = path.read_text("utf-8")
    add_row(path, rows[1])
    add_row(path, rows[2])
    assert path.read_text("utf-8").startswith(before.rstrip("\n"))
    assert load_golden(path).questions == tuple(rows)
    after = path.read_text("utf-8")
    with pytest.raises(GoldenSetError, match="more than once"):
        add_row(path, rows[2])
    assert path.read_text("utf-8") == after
    with pytest.raises(GoldenSetError, match="there already"):
        write_rows(path, rows, name="shop")


def document(name: str) -> Document:
    text = "Returns\nA bike may be returned within 30 days of delivery. Keep the box."
    heading = Block(BlockKind.HEADING, 0, 7, heading=("Returns",), level=1)
    body = Block(BlockKind.PARAGRAPH, 8, len(text), heading=("Returns",))
    return Document(id=name, text=text, title=name.title(), blocks=(heading, body))


def test_drafts_come_from_headings_and_figures_and_from_what_is_left_out() -> None:
    rows = draft_questions([document("a"), document("b")], reader=Reader(), leave_out=["b"])
    assert [(row.question, row.label) for row in rows] == [
        ("A: Returns?", Label.ANSWERABLE),
        ("B: Returns?", Label.UNANSWERABLE),
    ]
    assert rows[0].quotes == ("A bike may be returned within 30 days of delivery.",)
    assert all("draft" in row.tags for row in rows)


def test_a_row_from_an_answer_expects_what_was_cited() -> None:
    answer = {
        "question": "How long?",
        "abstained": False,
        "citations": [{"document_id": "a", "quote": "30 days"}],
    }
    row = row_from_answer(answer, reader=Reader(), row_id="x")
    assert (row.label, row.documents, row.quotes) == (Label.ANSWERABLE, {"a": 1.0}, ("30 days",))
    wrong = row_from_answer(answer, reader=Reader(), row_id="x", label=Label.UNANSWERABLE)
    assert (wrong.documents, wrong.quotes) == ({}, ())
    silent = {"question": "How?", "abstained": True, "citations": []}
    assert row_from_answer(silent, reader=Reader(), row_id="x").label is Label.UNANSWERABLE
    with pytest.raises(GoldenSetError):
        row_from_answer(silent, reader=Reader(), row_id="x", label=Label.ANSWERABLE)
    with pytest.raises(GoldenSetError):
        row_from_answer({"question": "How?"}, reader=Reader(), row_id="x")
