"""What one question's outcome is worth: every metric as a number in [0, 1], or None for "not scored"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from evidencedesk.evaluation.corpus import Corpus, holds
from evidencedesk.evaluation.golden import GoldenQuestion, Label, Place
from evidencedesk.evaluation.metrics import (
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from evidencedesk.model import Answer, Citation, Claim, Document, Hit, Location
from evidencedesk.verification.claims import Band, check_claim
from evidencedesk.verification.passages import Passage

Scores: TypeAlias = Mapping[str, float | None]
Entails: TypeAlias = Callable[[str, Sequence[Passage]], bool]
"""Whether passages bear a statement out."""

CUTOFFS = (1, 3, 5, 10)


def retrieval_scores(question: GoldenQuestion, hits: Sequence[Hit]) -> Scores:
    """Ranking metrics over documents, each at the rank of its best chunk, and the place hit.

    Questions without an expected document are not scored. ``hit_place`` is 1 when each expected
    quote and place is held by a chunk that was found, ``hit_place@1`` when by the first; without
    quotes and places they are not scored.
    """
    if question.label is not Label.ANSWERABLE or not question.relevant:
        return {}
    ranking = tuple(dict.fromkeys(hit.chunk.document_id for hit in hits))
    relevant = question.relevant
    scores: dict[str, float | None] = {}
    for k in CUTOFFS:
        scores[f"recall@{k}"] = recall_at_k(ranking, relevant, k)
        scores[f"precision@{k}"] = precision_at_k(ranking, relevant, k)
    scores["mrr"] = reciprocal_rank(ranking, relevant)
    scores["ndcg@10"] = ndcg_at_k(ranking, question.documents, 10)
    if question.quotes or question.places:
        scores["hit_place"] = float(_place_hit(question, hits))
        scores["hit_place@1"] = float(_place_hit(question, hits[:1]))
    return scores


def answer_scores(
    question: GoldenQuestion, answer: Answer, corpus: Corpus, entails: Entails
) -> Scores:
    """Metrics of the answer.

    * ``answered``: of answerable questions, whether there was an answer.
    * ``fact_coverage``: of answerable questions, the share of expected facts and quotes in it.
    * ``answer_place``: of answered ones with quotes or places, whether one was cited.
    * ``quote_validity``: of answers, the share of citations whose quote stands at its place.
    * ``citation_recall``, ``citation_precision``: see :func:`citation_scores`.
    * ``abstention_precision``: of abstentions, whether it was right to abstain.
    * ``abstention_recall``: of questions nobody should answer, whether nothing was answered.
    * ``wrong_shown``: of answers, whether it is wrong: not to be answered, or without all facts.
    """
    if question.retrieval_only:
        return {}
    scores: dict[str, float | None] = {}
    answerable = question.label is Label.ANSWERABLE
    coverage = fact_coverage(question, answer)
    if answerable:
        scores["answered"] = float(not answer.abstained)
        scores["fact_coverage"] = coverage
    else:
        scores["abstention_recall"] = float(answer.abstained)
    if answer.abstained:
        scores["abstention_precision"] = float(not answerable)
        return scores
    scores["wrong_shown"] = float(not (answerable and (coverage is None or coverage == 1.0)))
    if answerable and (question.quotes or question.places):
        scores["answer_place"] = float(_place_cited(question, answer))
    return scores | _citation_scores(question.reader.tenant, answer, corpus, entails)


def fact_coverage(question: GoldenQuestion, answer: Answer) -> float | None:
    """Share of facts and quotes that stand in the answer's text or in one of its quotes.

    A row with neither is covered by a citation of an expected document. None where the row expects
    nothing at all, 0.0 for an abstention.
    """
    wanted = (*question.quotes, *question.facts)
    shown = [] if answer.abstained else [answer.text, *(one.quote for one in answer.citations)]
    if wanted:
        return sum(any(holds(text, fact) for text in shown) for fact in wanted) / len(wanted)
    if not question.relevant:
        return None
    return float(any(one.document_id in question.relevant for one in answer.citations))


def citation_scores(
    claims: Sequence[tuple[str, Sequence[Passage]]], entails: Entails
) -> tuple[float, float]:
    """Citation recall and precision of one answer (Gao et al., ALCE, EMNLP 2023, section 4.3).

    Recall: share of statements that all their citations together bear out. Precision: share of
    citations that are not irrelevant; a citation is irrelevant when it does not bear its statement
    out alone and the others do without it, and every citation of a statement that is not borne out
    counts as imprecise. ALCE asks an entailment model; ``entails`` may be one.

    Args:
        claims: each statement with the passages it cites; not empty.
        entails: whether passages bear a statement out.
    """
    borne_out = [bool(cited) and entails(text, cited) for text, cited in claims]
    precise = [
        supported and _relevant(text, cited, index, entails)
        for (text, cited), supported in zip(claims, borne_out, strict=True)
        for index in range(len(cited))
    ]
    precision = sum(precise) / len(precise) if precise else 0.0
    return sum(borne_out) / len(borne_out), precision


def words_entail(claim: str, passages: Sequence[Passage]) -> bool:
    """Whether nearly all of the claim stands in the passages and no rule speaks against it.

    Blind to a true paraphrase, which therefore counts against an answer; pass a judge where
    generators paraphrase.
    """
    return check_claim(claim, passages).band is Band.EXTRACTIVE


def _relevant(text: str, cited: Sequence[Passage], index: int, entails: Entails) -> bool:
    others = [one for other, one in enumerate(cited) if other != index]
    return entails(text, [cited[index]]) or not (others and entails(text, others))


def _citation_scores(
    tenant: str, answer: Answer, corpus: Corpus, entails: Entails
) -> dict[str, float | None]:
    passages = [_passage(corpus.document(tenant, c.document_id), c) for c in answer.citations]
    if not answer.claims:
        return {}
    claims = [(claim.text, list(_cited(claim, passages))) for claim in answer.claims]
    recall, precision = citation_scores(claims, entails)
    valid = [passage is not None for passage in passages]
    return {
        "quote_validity": sum(valid) / len(valid) if valid else 0.0,
        "citation_recall": recall,
        "citation_precision": precision,
    }


def _cited(claim: Claim, passages: Sequence[Passage | None]) -> Iterator[Passage]:
    for index in claim.citations:
        yield passages[index] or Passage("")


def _passage(document: Document | None, citation: Citation) -> Passage | None:
    """The quote as the document has it, None when it is not there."""
    place = citation.quote_location
    if document is None or not citation.quote.strip():
        return None
    if document.text[place.start : place.end] != citation.quote:
        return None
    framing = " ".join((document.title, *place.heading))
    return Passage(citation.quote, framing=framing, lang=document.lang)


def _place_hit(question: GoldenQuestion, hits: Sequence[Hit]) -> bool:
    chunks = [hit.chunk for hit in hits if hit.chunk.document_id in question.relevant]
    quotes = all(any(holds(chunk.text, quote) for chunk in chunks) for quote in question.quotes)
    places = all(
        any(_at(place, chunk.document_id, chunk.location) for chunk in chunks)
        for place in question.places
    )
    return quotes and places


def _place_cited(question: GoldenQuestion, answer: Answer) -> bool:
    cited = [one for one in answer.citations if one.document_id in question.relevant]
    return any(
        holds(one.quote, quote) or holds(quote, one.quote)
        for one in cited
        for quote in question.quotes
    ) or any(
        _at(place, one.document_id, one.quote_location)
        for one in cited
        for place in question.places
    )


def _at(place: Place, document_id: str, location: Location) -> bool:
    if place.document_id != document_id:
        return False
    lines = _overlap(place.first_line, place.last_line, location.first_line, location.last_line)
    pages = _overlap(place.page, place.page, location.page, location.last_page)
    return lines and pages


def _overlap(first: int | None, last: int | None, low: int | None, high: int | None) -> bool:
    if first is None:
        return True
    return low is not None and low <= (last or first) and first <= (high or low)
