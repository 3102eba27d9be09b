"""What an answer is worth, judged by the documents themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evidencedesk.access import Principal, Status
from evidencedesk.errors import GoldenSetError, UsageError
from evidencedesk.evaluation.corpus import Corpus, usable
from evidencedesk.evaluation.golden import GoldenQuestion, GoldenSet, Label, Place, Reader
from evidencedesk.evaluation.scoring import (
    answer_scores,
    citation_scores,
    retrieval_scores,
    words_entail,
)
from evidencedesk.model import (
    Answer,
    Chunk,
    Citation,
    Claim,
    Document,
    DocumentRecord,
    Hit,
    Location,
    Reason,
    Support,
)
from evidencedesk.verification.passages import Passage

TEXT = "A bike may be returned within 30 days. Helmets stay sold."
QUOTE = "A bike may be returned within 30 days."
STAFF = Reader(roles=frozenset({"staff"}))
GOLDEN = GoldenQuestion(
    "q", "How long?", STAFF, documents={"returns": 1.0}, quotes=("within 30 days",)
)


class Shelf:
    """A library of two documents: one for staff, one for managers."""

    def __init__(self) -> None:
        self.held = {
            "returns": Document(id="returns", text=TEXT, roles=frozenset({"staff"})),
            "pay": Document(id="pay", text="Pay is 9.", roles=frozenset({"manager"})),
        }

    def documents(
        self, *, principal: Principal, statuses: Iterable[Status]
    ) -> tuple[DocumentRecord, ...]:
        assert principal.administrator
        return tuple(record(one) for one in self.held.values() if one.status in set(statuses))

    def document(
        self, document_id: str, *, principal: Principal, statuses: Iterable[Status]
    ) -> Document:
        assert principal.administrator
        assert set(statuses) == set(Status)
        if document_id not in self.held:
            raise UsageError("gone", code="not_found")
        return self.held[document_id]


def record(document: Document) -> DocumentRecord:
    return DocumentRecord(
        id=document.id,
        tenant=document.tenant,
        title=document.title,
        source="",
        root="",
        version="",
        status=document.status,
        lang=document.lang,
        owner="",
        roles=document.roles,
        deny=document.deny,
        media_type="text/plain",
        parser="",
        parser_version="",
        file_hash="",
        content_hash=document.content_hash,
        location_hash="",
        supersedes="",
        ingested_at=datetime(2026, 1, 1, tzinfo=UTC),
        chunks=1,
        vectors=0,
    )


CORPUS = Corpus(Shelf(), ["default"])


def answer(text: str = QUOTE, quote: str = QUOTE, document: str = "returns") -> Answer:
    place = Location(first_line=3, last_line=3, start=0, end=len(quote))
    cited = Citation(
        f"{document}:c0", document, "", "", place, "", quote=quote, quote_location=place
    )
    return Answer(
        answer_id="a",
        question="How long?",
        text=text,
        abstained=False,
        reason=Reason.OK,
        confidence=0.9,
        threshold=0.5,
        claims=(Claim(text, Support.EXTRACTIVE, (0,)),),
        citations=(cited,),
    )


ABSTAINED = replace(
    answer(), abstained=True, reason=Reason.NO_EVIDENCE, claims=(), citations=(), text="Nothing."
)


def scores(given: Answer, question: GoldenQuestion = GOLDEN) -> dict[str, float | None]:
    return dict(answer_scores(question, given, CORPUS, words_entail))


def test_a_right_answer() -> None:
    assert scores(answer()) == {
        "answered": 1.0,
        "fact_coverage": 1.0,
        "answer_place": 1.0,
        "wrong_shown": 0.0,
        "quote_validity": 1.0,
        "citation_recall": 1.0,
        "citation_precision": 1.0,
    }


def test_an_abstention() -> None:
    assert scores(ABSTAINED) == {
        "answered": 0.0,
        "fact_coverage": 0.0,
        "abstention_precision": 0.0,
    }
    nobody = replace(GOLDEN, label=Label.UNANSWERABLE, documents={}, quotes=())
    assert scores(ABSTAINED, nobody) == {"abstention_recall": 1.0, "abstention_precision": 1.0}
    assert scores(answer(), nobody)["wrong_shown"] == 1.0
    assert scores(answer(), nobody)["abstention_recall"] == 0.0


def test_a_quote_that_does_not_stand_at_its_place_is_not_valid() -> None:
    altered = scores(answer(quote=QUOTE.replace("30", "90")))
    assert altered["quote_validity"] == 0.0
    assert altered["citation_recall"] == 0.0
    assert scores(answer(document="gone"))["quote_validity"] == 0.0


def test_a_statement_that_its_quote_denies_is_not_borne_out() -> None:
    found = scores(answer(text="A bike may be returned within 90 days."))
    assert (found["quote_validity"], found["citation_recall"]) == (1.0, 0.0)


def test_without_facts_a_citation_of_the_document_is_what_counts() -> None:
    plain = replace(GOLDEN, quotes=())
    assert scores(answer(), plain)["fact_coverage"] == 1.0
    assert scores(answer(document="pay"), plain)["wrong_shown"] == 1.0


def test_half_of_the_facts_is_wrong_when_shown() -> None:
    found = scores(answer(), replace(GOLDEN, facts=("helmets", "30 days"), quotes=()))
    assert (found["fact_coverage"], found["wrong_shown"]) == (0.5, 1.0)


def test_places() -> None:
    placed = replace(GOLDEN, quotes=(), places=(Place("returns", 2, 3),))
    assert scores(answer(), placed)["answer_place"] == 1.0
    elsewhere = replace(GOLDEN, quotes=(), places=(Place("returns", 4, 5),))
    assert scores(answer(), elsewhere)["answer_place"] == 0.0


def hit(document: str, text: str, line: int = 3) -> Hit:
    place = Location(first_line=line, last_line=line, end=len(text))
    return Hit(Chunk(f"{document}:c{line}", document, line, text, place), 1.0, None, 1.0)


def test_retrieval_is_scored_by_document_and_by_place() -> None:
    hits = [hit("pay", "x"), hit("returns", "Helmets."), hit("returns", QUOTE)]
    found = retrieval_scores(GOLDEN, hits)
    assert (found["recall@1"], found["recall@3"], found["mrr"]) == (0.0, 1.0, 0.5)
    assert (found["hit_place"], found["hit_place@1"]) == (1.0, 0.0)
    assert retrieval_scores(GOLDEN, hits[:2])["hit_place"] == 0.0
    assert retrieval_scores(replace(GOLDEN, label=Label.UNANSWERABLE), hits) == {}
    assert "hit_place" not in retrieval_scores(replace(GOLDEN, quotes=()), hits)


def test_alce() -> None:
    def entails(claim: str, passages: Sequence[Passage]) -> bool:
        return set(claim) <= set("".join(one.quote for one in passages))

    a, b, ab, c = (Passage(quote) for quote in ("a", "b", "ab", "c"))
    assert citation_scores([("ab", [a, b])], entails) == (1.0, 1.0)
    assert citation_scores([("ab", [ab, c])], entails) == (1.0, 0.5)
    assert citation_scores([("ab", [a])], entails) == (0.0, 0.0)
    assert citation_scores([("ab", [])], entails) == (0.0, 0.0)
    assert citation_scores([("a", [a]), ("b", [a, c])], entails) == (0.5, 1 / 3)


def test_rights_are_judged_without_asking_the_store() -> None:
    assert CORPUS.admits(STAFF, "returns")
    assert not CORPUS.admits(STAFF, "pay")
    assert not CORPUS.admits(STAFF, "gone")
    assert CORPUS.admits(Reader(administrator=True), "pay")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": {"gone": 1.0}}, "no document 'gone'"),
        ({"documents": {"pay": 1.0}, "quotes": ()}, "may not see 'pay'"),
        ({"quotes": ("90 days",)}, "no expected document holds '90 days'"),
        (
            {
                "documents": {},
                "quotes": (),
                "label": Label.NOT_PERMITTED,
                "hidden": ("returns",),
            },
            "may see 'returns'",
        ),
    ],
)
def test_stale_rows_say_what_does_not_fit(change: dict[str, object], message: str) -> None:
    stale = replace(GOLDEN, id="stale", **change)
    golden = GoldenSet("g", (GOLDEN, stale))
    [found] = CORPUS.stale_rows(golden)
    assert found.question_id == "stale"
    assert message in found.message
    assert usable(golden, [found]).questions == (GOLDEN,)
    with pytest.raises(GoldenSetError, match="No row"):
        usable(GoldenSet("g", (stale,)), [found])
