"""Chunking strategies side by side, on a corpus and on labelled questions: values, no printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evidencedesk.chunking.documents import chunk_corpus
from evidencedesk.chunking.intervals import Interval, leading_row, wilson_interval
from evidencedesk.chunking.layout import with_blocks
from evidencedesk.model import Chunk, ChunkingSettings, Document
from evidencedesk.text.sentences import sentences

Search: TypeAlias = Callable[[str], Sequence[str]]
"""From a question to chunk ids, best first."""

Indexer: TypeAlias = Callable[[tuple[Chunk, ...]], Search]
"""From the chunks of one strategy to a search over them."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question and where its answer stands.

    Attributes:
        question: as a person asks it.
        document_id: the document that answers.
        quote: words that the answering chunk must hold, white space and case aside; empty when any
            chunk of the document will do.
    """

    question: str
    document_id: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """How well labelled questions found a chunk that answers, each with its 95 % interval.

    Attributes:
        recall_at_1: share of questions whose first chunk answers.
        recall_at_3: share with an answering chunk among the first three.
        recall_at_5: share with an answering chunk among the first five.
        mrr: mean of one over the rank of the first answering chunk, 0 where there is none.
    """

    recall_at_1: Interval
    recall_at_3: Interval
    recall_at_5: Interval
    mrr: Interval


@dataclass(frozen=True, slots=True)
class StrategyReport:
    """One strategy on one corpus. Lengths are in characters; 0 when there are no chunks.

    Attributes:
        settings: strategy and options.
        chunks: how many chunks.
        shortest: length of the shortest.
        longest: length of the longest.
        ending_mid_sentence: how many end where neither a sentence nor a block of the document does.
        whole_facts: the given facts that stand whole in at least one chunk.
        broken_facts: the given facts that stand in the corpus but whole in no chunk.
        retrieval: None without labelled questions.
    """

    settings: ChunkingSettings
    chunks: int
    shortest: int
    longest: int
    ending_mid_sentence: int
    whole_facts: tuple[str, ...]
    broken_facts: tuple[str, ...]
    retrieval: RetrievalScores | None = None


@dataclass(frozen=True, slots=True)
class ChunkingComparison:
    """All strategies on one corpus.

    Attributes:
        reports: one per strategy, in the order given.
        absent_facts: facts that stand nowhere in the corpus, so that no strategy is blamed.
        questions: how many labelled questions there were.
        leader: the settings whose reciprocal rank is better than that of every other at a family
            error of 5 %, or None: the sample supports no winner.
    """

    reports: tuple[StrategyReport, ...]
    absent_facts: tuple[str, ...] = ()
    questions: int = 0
    leader: ChunkingSettings | None = None


def compare_strategies(
    documents: Iterable[Document],
    choices: Sequence[ChunkingSettings],
    *,
    facts: Sequence[str] = (),
    questions: Sequence[LabelledQuestion] = (),
    indexer: Indexer | None = None,
    random: np.random.Generator | None = None,
) -> ChunkingComparison:
    """Chunk the corpus with each choice and measure what came out.

    Args:
        documents: the corpus.
        choices: strategies with their options, see ``chunking_settings``.
        facts: short texts that an answer would need in one piece.
        questions: labelled questions; measured only if ``indexer`` is given as well.
        indexer: the retrieval to measure with.
        random: source of the relabelling that decides on a leader; without it none is named.

    Raises:
        ChunkingError: as ``chunk_document`` does.
    """
    corpus = [with_blocks(document) for document in documents]
    present = [fact for fact in facts if any(_holds(each.text, fact) for each in corpus)]
    ends = {document.id: _natural_ends(document) for document in corpus}
    ranks: list[NDArray[np.float64]] = []
    reports = []
    for choice in choices:
        chunks = chunk_corpus(corpus, choice.strategy, **dict(choice.options))
        scores = None
        if indexer is not None and questions:
            ranks.append(_reciprocal_ranks(chunks, questions, indexer(chunks)))
            scores = _scores(ranks[-1])
        reports.append(_report(choice, chunks, present, ends, scores))
    best = leading_row(np.array(ranks), random) if ranks and random is not None else None
    return ChunkingComparison(
        reports=tuple(reports),
        absent_facts=tuple(fact for fact in facts if fact not in present),
        questions=len(questions) if ranks else 0,
        leader=None if best is None else choices[best],
    )


def _report(
    settings: ChunkingSettings,
    chunks: Sequence[Chunk],
    facts: Sequence[str],
    ends: Mapping[str, frozenset[int]],
    retrieval: RetrievalScores | None,
) -> StrategyReport:
    lengths = [len(chunk.text) for chunk in chunks]
    whole = [fact for fact in facts if any(_holds(chunk.text, fact) for chunk in chunks)]
    inked = ((chunk, chunk.span.start + len(chunk.text.rstrip())) for chunk in chunks)
    return StrategyReport(
        settings=settings,
        chunks=len(chunks),
        shortest=min(lengths, default=0),
        longest=max(lengths, default=0),
        ending_mid_sentence=sum(end not in ends[chunk.document_id] for chunk, end in inked),
        whole_facts=tuple(whole),
        broken_facts=tuple(fact for fact in facts if fact not in whole),
        retrieval=retrieval,
    )


def _natural_ends(document: Document) -> frozenset[int]:
    blocks = {block.end for block in document.blocks if block.kind.in_chunks}
    return frozenset(blocks | {sentence.end for sentence in sentences(document.text)})


def _holds(text: str, words: str) -> bool:
    return _plain(words) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _reciprocal_ranks(
    chunks: Sequence[Chunk], questions: Sequence[LabelledQuestion], search: Search
) -> NDArray[np.float64]:
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document_id, []).append(chunk)
    ranks = []
    for each in questions:
        candidates = by_document.get(each.document_id, [])
        answering = {chunk.id for chunk in candidates if _holds(chunk.text, each.quote)}
        found = search(each.question)
        first = next((rank for rank, key in enumerate(found, start=1) if key in answering), None)
        ranks.append(0.0 if first is None else 1.0 / first)
    return np.array(ranks)


def _scores(ranks: NDArray[np.float64]) -> RetrievalScores:
    return RetrievalScores(
        recall_at_1=wilson_interval(float((ranks >= 1).mean()), len(ranks)),
        recall_at_3=wilson_interval(float((ranks >= 1 / 3).mean()), len(ranks)),
        recall_at_5=wilson_interval(float((ranks >= 1 / 5).mean()), len(ranks)),
        mrr=wilson_interval(float(ranks.mean()), len(ranks)),
    )
