"""The built-in reader: answers with sentences of the evidence, quoted, or abstains.

It needs no model, no key and no network. Its reply is JSON like any model's, so it is parsed and
verified like any model's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from evidencedesk.adapters.generators.plain import plain
from evidencedesk.model import (
    Evidence,
    EvidenceSource,
    RankedSentence,
    Reply,
    Request,
    SourceConflict,
    Span,
)
from evidencedesk.text.analysis import query_groups, terms
from evidencedesk.text.scripts import question_languages

MAX_SENTENCES = 2
CLOSE = 0.75


class ExtractiveReader:
    """Answers with the ranked sentences of the evidence, best first, one claim per sentence.

    A sentence after the first is shown only when it adds something: it holds a word of the question
    that the ones before do not, or its score is at least 75 % of the best one's. Where the best
    sentence is in dispute, the claims are the disputed sentences, one per source.
    """

    name = "extractive"

    def __init__(self, max_sentences: int = MAX_SENTENCES) -> None:
        """Show at most ``max_sentences`` sentences, 1 or more."""
        self._max_sentences = max_sentences

    def generate(self, request: Request) -> Reply:
        """The reply; insufficient when the evidence has no sentence that can be quoted."""
        claims = [
            {
                "text": plain(quote),
                "citations": [{"source": source.label, "quote": quote}],
            }
            for source, quote in self._quotes(request)
        ]
        reply = {"insufficient": not claims, "claims": claims}
        return Reply(json.dumps(reply, ensure_ascii=False), generator=self.name)

    def _quotes(self, request: Request) -> Iterator[tuple[EvidenceSource, str]]:
        evidence = request.evidence
        sources = {source.chunk.id: source for source in evidence.sources}
        ranked = [
            one for one in evidence.sentences if one.chunk_id in sources and quotable(one.text)
        ]
        disputed = _dispute(evidence, sources, ranked[:1])
        if disputed is not None:
            yield from _sides(evidence, disputed)
            return
        for sentence in choose(request.question, ranked, sources, self._max_sentences):
            yield sources[sentence.chunk_id], sentence.text


def choose(
    question: str,
    ranked: Sequence[RankedSentence],
    sources: dict[str, EvidenceSource],
    limit: int,
) -> list[RankedSentence]:
    """The first sentence, and of the next ``limit - 1`` those that add something."""
    chosen: list[RankedSentence] = []
    held: frozenset[str] = frozenset()
    for sentence in ranked[:limit]:
        lang = sources[sentence.chunk_id].chunk.lang
        groups = query_groups(question, question_languages(question, (lang,)))
        words = frozenset(terms(sentence.text, lang))
        new = {group for group in groups if not words.isdisjoint(group) and held.isdisjoint(group)}
        if not chosen or new or sentence.score >= CLOSE * chosen[0].score:
            chosen.append(sentence)
            held |= words
    return chosen


def quotable(text: str) -> bool:
    """Whether a quote of this text carries content: enough words, enough letters, or a number."""
    ink = plain(text)
    return len(ink.split()) >= 4 or len(ink) >= 20 or any(map(str.isdigit, ink))


def _dispute(
    evidence: Evidence, sources: dict[str, EvidenceSource], best: Sequence[RankedSentence]
) -> SourceConflict | None:
    for sentence in best:
        side = (sources[sentence.chunk_id].label, sentence.span)
        for conflict in evidence.conflicts:
            if side in zip(conflict.labels, conflict.spans, strict=True):
                return conflict
    return None


def _sides(evidence: Evidence, conflict: SourceConflict) -> Iterator[tuple[EvidenceSource, str]]:
    for label, span in zip(conflict.labels, conflict.spans, strict=True):
        source = evidence.source(label)
        if source is not None:
            yield source, _slice(source, span)


def _slice(source: EvidenceSource, span: Span) -> str:
    base = source.chunk.location.start
    return source.chunk.text[span.start - base : span.end - base]
