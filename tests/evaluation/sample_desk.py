"""The sample corpora in one index, and parts of the product broken on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from evidencedesk.access import AccessFilter, Principal, Status
from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.answering import answer_from, has_evidence
from evidencedesk.assembly import assemble
from evidencedesk.chunking import chunk_document
from evidencedesk.evaluation.golden import GoldenSet
from evidencedesk.evaluation.loading import load_golden
from evidencedesk.generation import build_request
from evidencedesk.generation.reply import RejectedReply, parse_reply
from evidencedesk.indexing import embed_chunks
from evidencedesk.model import (
    Draft,
    Evidence,
    Hit,
    IndexedChunk,
    Query,
    Reason,
    Reply,
    Request,
    Support,
    Verdict,
    VerifiedCitation,
    VerifiedClaim,
)
from evidencedesk.pipeline import Answering, Explanation, answer_question, search
from evidencedesk.protocols import Embedder, Snapshot, Store, Writer
from evidencedesk.retrieval import retrieve
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.text.analysis import NORMALISATION, document_terms

SAMPLES = Path(__file__).parents[2] / "samples"
CORPORA = ("kestrel", "academy")


def golden_samples() -> GoldenSet:
    """The labelled questions over both corpora."""
    sets = [load_golden(SAMPLES / "golden" / f"{name}.yaml") for name in CORPORA]
    return GoldenSet("samples", tuple(one for golden in sets for one in golden.questions))


@dataclass
class Composed:
    """Answers with parts that were put together by hand."""

    answering: Answering

    def explain(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None = None,  # noqa: ARG002 - the port's, and parts have their own
    ) -> Explanation:
        return answer_question(question, self.answering, principal=principal, statuses=statuses)

    def search(
        self, query: str, *, principal: Principal, statuses: Iterable[Status], k: int | None = None
    ) -> tuple[Hit, ...]:
        return search(query, self.answering, principal=principal, statuses=statuses, k=k).hits


class OpenStore:
    """A store whose access filter is broken: every reader sees what an administrator sees."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @contextmanager
    def read(self, *, access: AccessFilter, generation: int | None = None) -> Iterator[Snapshot]:
        wide = replace(access, administrator=True)
        with self._store.read(access=wide, generation=generation) as snapshot:
            yield snapshot

    def write(self) -> Writer:
        raise AssertionError("a reader does not write")

    def check(self) -> tuple[str, ...]:
        return self._store.check()

    def close(self) -> None:
        self._store.close()


class Embellisher(ExtractiveReader):
    """A generator that adds a promise to whatever it says about warranties and certificates."""

    def generate(self, request: Request) -> Reply:
        reply = super().generate(request)
        if not {"warranty", "certificate", "password"} & set(request.question.casefold().split()):
            return reply
        content = json.loads(reply.text)
        for claim in content["claims"]:
            claim["text"] += " And 500 euros in cash."
            for citation in claim["citations"]:
                citation["quote"] += " And 500 euros in cash."
        return replace(reply, text=json.dumps(content))


@dataclass
class Unverified(Composed):
    """Answers whose verifier is broken: it believes every reply that parses."""

    def explain(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None = None,  # noqa: ARG002 - the port's, and parts have their own
    ) -> Explanation:
        parts = self.answering
        access = AccessFilter.for_principal(principal, statuses)
        with parts.store.read(access=access) as snapshot:
            found = retrieve(Query(question, parts.languages), snapshot, parts.embedder)
        if not has_evidence(found, parts.threshold):
            answer = answer_from(
                answer_id="a", question=question, threshold=parts.threshold, retrieval=found
            )
            return Explanation(answer, found)
        evidence = assemble(found)
        request = build_request(question, evidence, canary="canary")
        reply = parts.generator.generate(request)
        draft = parse_reply(reply)
        assert not isinstance(draft, RejectedReply)
        answer = answer_from(
            answer_id="a",
            question=question,
            threshold=parts.threshold,
            retrieval=found,
            evidence=evidence,
            reply=reply,
            verdict=believed(draft, evidence),
        )
        return Explanation(answer, found, evidence, request, reply)


def believed(draft: Draft, evidence: Evidence) -> Verdict:
    """A verdict that finds nothing wrong with anything."""
    claims = []
    for claim in draft.claims:
        cited = []
        for citation in claim.citations:
            source = evidence.source(citation.source)
            assert source is not None
            chunk = source.chunk
            cited.append(
                VerifiedCitation(
                    source.label, chunk, citation.quote, chunk.span, chunk.location, ()
                )
            )
        claims.append(VerifiedClaim(claim.text, Reason.OK, Support.EXTRACTIVE, tuple(cited)))
    return Verdict(Reason.OK, tuple(claims), ())


def lossy_store(path: Path, good: Store, embedder: Embedder) -> SQLiteStore:
    """The same documents cut by a chunker that loses every second chunk."""
    store = SQLiteStore.open(
        path,
        create=True,
        clock=SteppingClock(),
        embedding=embedder.spec,
        normalisation=NORMALISATION,
    )
    with good.write() as source, store.write() as writer:
        generation = writer.generations()[0].id
        for record in list(source.records("default")):
            document = source.document("default", record.id)
            assert document is not None
            plain = [
                IndexedChunk(
                    chunk,
                    document_terms(
                        chunk.title, chunk.location.heading, chunk.context, chunk.text, chunk.lang
                    ),
                )
                for chunk in chunk_document(document)[1::2]
            ]
            cached: Mapping[str, object] = {}
            chunks = embed_chunks(plain, embedder, lambda _, cached=cached: cached)
            writer.replace_document(document, {generation: chunks})
    return store
