"""Facts of the Kestrel corpus, read from the files by a reader that is not ours."""

from pathlib import Path

import pytest
import yaml

from evidencedesk.chunking import STRATEGIES, chunk_corpus
from evidencedesk.model import Document

FOLDER = Path(__file__).parents[2] / "samples" / "kestrel"
FILES = sorted(FOLDER.glob("*.md"))
KEY_FACTS = {
    "within 30 days of delivery": "kc-returns-v3",
    "within 14 days if unopened": "kc-returns-v3",
    "opened helmets cannot be returned": "kc-returns-v3",
    "within 5 business days": "kc-returns-v3",
    "serial numbers starting with RD2-24": "kc-recalls-v1",
    "expire 36 months after purchase": "kc-giftcards-v1",
    "4 to 7 business days": "kc-shipping-v1",
    "5-year warranty": "kc-warranty-v2",
}
KEYS = ["id", "title", "version", "status", "lang", "roles", "owner"]


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


def document_of(path: Path) -> Document:
    lines = lines_of(path)
    meta = yaml.safe_load("\n".join(lines[1:8]))
    return Document(
        id=meta["id"],
        text="\n".join(lines[9:]),
        title=meta["title"],
        source=path.name,
        version=meta["version"],
        status=meta["status"],
        lang=meta["lang"],
        owner=meta["owner"],
        roles=frozenset(meta["roles"]),
        first_line=10,
    )


DOCUMENTS = {document.id: document for document in map(document_of, FILES)}


def test_thirteen_documents_of_36_sections():
    assert len(FILES) == len(DOCUMENTS) == 13
    headings = [line for path in FILES for line in lines_of(path) if line.startswith("#")]
    assert len(headings) == 36
    assert all(line.startswith("## ") for line in headings)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_front_matter_and_first_heading_stand_where_they_should(path):
    lines = lines_of(path)
    assert lines[0] == lines[8] == "---"
    assert [line.split(":")[0] for line in lines[1:8]] == KEYS
    assert all(
        isinstance(value, str | list) for value in yaml.safe_load("\n".join(lines[1:8])).values()
    )
    assert lines[9].startswith("## ")
    assert lines[10].strip()
    assert max(map(len, lines)) <= 120


def test_the_paragraph_strategy_gives_36_chunks_one_per_section():
    chunks = chunk_corpus(DOCUMENTS.values(), "paragraph")
    assert len(chunks) == 36
    assert len({(chunk.document_id, chunk.location.heading) for chunk in chunks}) == 36


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_no_strategy_crosses_a_section(strategy):
    chunks = chunk_corpus(DOCUMENTS.values(), strategy)
    assert all("## " not in chunk.text for chunk in chunks)
    assert len({(chunk.document_id, chunk.location.heading) for chunk in chunks}) == 36


def test_the_returns_paragraph():
    first = chunk_corpus([DOCUMENTS["kc-returns-v3"]], "structure")[0]
    assert first.id == "kc-returns-v3:c0"
    assert first.location.label == "Returning a bike, lines 11-12"
    assert tuple(first.span) == (20, 250)
    assert len(first.text) == 230
    assert first.text == "\n".join(lines_of(FOLDER / "returns-policy.md")[10:12])


@pytest.mark.parametrize(("fact", "document"), KEY_FACTS.items())
@pytest.mark.parametrize("strategy", ["paragraph", "sentence", "structure"])
def test_key_facts_stay_whole_in_a_chunk_and_stand_in_one_document_only(strategy, fact, document):
    holders = {c.document_id for c in chunk_corpus(DOCUMENTS.values(), strategy) if fact in c.text}
    assert holders == {document}


def test_rights_status_and_languages():
    assert [d.id for d in DOCUMENTS.values() if d.roles != {"everyone"}] == ["kc-refunds-staff-v1"]
    assert DOCUMENTS["kc-refunds-staff-v1"].roles == {"staff"}
    assert [d.id for d in DOCUMENTS.values() if d.status != "current"] == ["kc-returns-v2"]
    assert DOCUMENTS["kc-returns-v2"].status == "superseded"
    assert sorted(d.id for d in DOCUMENTS.values() if d.lang == "bn") == [
        "kc-help-bn-v1",
        "kc-returns-bn-v3",
    ]


def test_nothing_speaks_of_instalments():
    text = " ".join(document.text for document in DOCUMENTS.values()).casefold()
    assert not any(word in text for word in ("instal", "monthly", "financing", "কিস্তি"))


def test_the_money_back_question_shares_no_word_with_its_answer():
    policy = DOCUMENTS["kc-returns-v3"]
    words = set(
        (policy.title + " " + policy.text).casefold().replace(",", " ").replace(".", " ").split()
    )
    assert not words & {"how", "do", "i", "get", "my", "money", "back"}
