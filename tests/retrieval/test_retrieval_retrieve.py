from __future__ import annotations

from dataclasses import replace

import pytest
from exact_snapshot import SPEC, ExactSnapshot, HashedEmbedder, chunk, indexed
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.access import AccessFilter
from evidencedesk.model import IndexedChunk, Query, Retrieval
from evidencedesk.retrieval import SHIPPED, retrieve

RETURNS = "You can return a new bike within 30 days of delivery. The box must be the original one."
GIFTS = "Gift cards expire 36 months after purchase. Expired cards cannot be extended."
SIZES = "We sell frames in five sizes."
BANGLA = "নতুন বাইক ত্রিশ দিনের মধ্যে ফেরত দেওয়া যায়।"

EMBEDDER = HashedEmbedder()


def corpus(embedder: HashedEmbedder | None = EMBEDDER) -> list[IndexedChunk]:
    plain = [
        chunk(RETURNS, "returns", title="Returns policy", heading="Returning a bike"),
        chunk(GIFTS, "gifts", title="Gift cards"),
        chunk(SIZES, "sizes", title="Frame sizes"),
    ]
    bangla = chunk(BANGLA, "bangla", title="ফেরত নীতি", lang="bn")
    return [*(indexed(one, embedder) for one in plain), indexed(bangla)]


def ask(question: str, embedder: HashedEmbedder | None = EMBEDDER, **options: object) -> Retrieval:
    return retrieve(Query(question), ExactSnapshot(corpus()), embedder, **options)


def ids(found: Retrieval) -> list[str]:
    return [hit.chunk.document_id for hit in found.hits]


def test_the_answer_comes_first_with_its_sentence() -> None:
    found = ask("How long can I return a bike after delivery?")
    assert ids(found)[0] == "returns"
    assert found.sentences[0].text == "You can return a new bike within 30 days of delivery."
    assert found.sentences[0].chunk_id == "returns:c0"
    assert found.calibration == SHIPPED.tokens.name
    assert found.degraded == ()


def test_sentence_spans_are_spans_of_the_document() -> None:
    moved = chunk(RETURNS, "returns")
    moved = replace(moved, location=replace(moved.location, start=100, end=100 + len(RETURNS)))
    found = retrieve(Query("original box"), ExactSnapshot([indexed(moved, EMBEDDER)]), EMBEDDER)
    assert found.sentences
    for sentence in found.sentences:
        start, end = sentence.span
        assert RETURNS[start - 100 : end - 100] == sentence.text


def test_nothing_visible_is_no_evidence() -> None:
    snapshot = ExactSnapshot(corpus(), AccessFilter(roles=frozenset({"stranger"})))
    assert retrieve(Query("return a bike"), snapshot, EMBEDDER) == Retrieval(
        (), (), 0.0, SHIPPED.tokens.name
    )


def test_a_question_without_words_finds_nothing_by_keywords() -> None:
    found = retrieve(Query("?!"), ExactSnapshot(corpus(None), embedding=None), None)
    assert (found.hits, found.confidence) == ((), 0.0)


def test_chunks_without_a_shared_word_are_no_hits_by_keywords() -> None:
    found = ask("gift cards", embedder=None)
    assert ids(found) == ["gifts"]
    assert found.hits[0].vector_score is None


def test_without_a_model_it_says_so() -> None:
    found = ask("gift cards", embedder=None)
    assert found.degraded == ("embedding: no semantic model; keywords only",)
    assert found.calibration == SHIPPED.keywords.name


def test_an_index_without_vectors_is_not_asked_for_them() -> None:
    found = retrieve(Query("gift cards"), ExactSnapshot(corpus(), embedding=None), EMBEDDER)
    assert found.hits[0].vector_score is None
    assert found.degraded


def test_an_outage_of_the_model_falls_back_to_keywords_and_says_so() -> None:
    found = ask("gift cards", HashedEmbedder(failing=frozenset({"query"})))
    assert ids(found) == ["gifts"]
    assert found.degraded == ("embedding: model_away; keywords only",)


def test_without_token_vectors_cosines_are_used_and_it_says_so() -> None:
    found = ask("When do gift cards expire?", HashedEmbedder(failing=frozenset({"tokens"})))
    assert ids(found)[0] == "gifts"
    assert found.calibration == SHIPPED.cosine.name
    assert found.degraded == ("embedding: model_away; no token vectors",)


def test_a_question_in_a_script_the_model_does_not_know_is_searched_by_words() -> None:
    found = ask("নতুন বাইক ফেরত")
    assert ids(found) == ["bangla"]
    assert found.hits[0].vector_score is None
    assert found.degraded == ()


def test_a_chunk_without_a_vector_is_found_beside_those_that_have_one() -> None:
    found = ask("bike বাইক returns policy and frame sizes")
    hits = {hit.chunk.document_id: hit for hit in found.hits}
    assert hits["bangla"].vector_score is None
    assert hits["returns"].vector_score is not None


def test_k_limits_the_hits() -> None:
    assert len(ask("bike cards frames sizes gift", k=1).hits) == 1
    assert len(ask("bike cards frames sizes gift", k=2).hits) == 2


def test_floors_drop_weak_chunks_and_zero_is_a_floor_of_zero() -> None:
    everything = ask("gift cards", k=10)
    floor = everything.hits[0].vector_score
    assert floor is not None
    assert ids(ask("gift cards", min_vector_score=floor)) == ["gifts"]
    assert ids(ask("gift cards", min_keyword_score=0.5)) == ["gifts"]
    assert ids(ask("gift cards", min_vector_score=-1.0)) == ids(everything)
    assert ids(ask("gift cards", min_keyword_score=0.0)) == ids(everything)
    assert ask("gift cards", min_vector_score=1.1, min_keyword_score=99.0).hits == ()


def test_hits_are_ordered_by_score() -> None:
    scores = [hit.score for hit in ask("bike cards frames").hits]
    assert scores == sorted(scores, reverse=True)


def test_one_chunk_has_no_deviation_and_is_found_all_the_same() -> None:
    snapshot = ExactSnapshot([indexed(chunk(GIFTS, "gifts"), EMBEDDER)])
    found = retrieve(Query("gift cards"), snapshot, EMBEDDER)
    assert [hit.score for hit in found.hits] == [0.0]
    assert found.sentences


WORDS = st.sampled_from(
    ["bike", "card", "gift", "return", "days", "box", "frame", "size", "বাইক", "delivery"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
ROLES = st.sampled_from(["all", "staff"])


@given(st.lists(st.tuples(TEXTS, ROLES), max_size=12), TEXTS, st.booleans())
def test_what_is_not_seen_changes_nothing(
    rows: list[tuple[str, str]], question: str, dense: bool
) -> None:
    embedder = EMBEDDER if dense else None
    chunks = [
        indexed(chunk(text, f"d{number}", roles=frozenset({role})), embedder)
        for number, (text, role) in enumerate(rows)
    ]
    spec = SPEC if dense else None
    visible = [one for one in chunks if "all" in one.chunk.roles]
    among_others = retrieve(Query(question), ExactSnapshot(chunks, embedding=spec), embedder)
    alone = retrieve(Query(question), ExactSnapshot(visible, embedding=spec), embedder)
    assert among_others == alone


@given(TEXTS)
def test_confidence_is_a_probability(question: str) -> None:
    for embedder in (EMBEDDER, None, HashedEmbedder(failing=frozenset({"tokens"}))):
        assert 0.0 <= ask(question, embedder).confidence <= 1.0


@pytest.mark.parametrize("embedder", [EMBEDDER, None])
def test_the_same_question_gets_the_same_outcome(embedder: HashedEmbedder | None) -> None:
    assert ask("return a bike", embedder) == ask("return a bike", embedder)
