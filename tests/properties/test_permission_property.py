"""Nothing that a reader is shown depends on a document that he may not see.

For any corpus, rules and principal, two indexes are made: one with every document, and one in which
the invisible ones never existed. Clock, ids and canary are injected. Everything a reader can get,
as JSON, must be the same byte for byte.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evidencedesk.access import AccessFilter, AccessRule, Principal, Status
from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.errors import EvidenceDeskError
from evidencedesk.model import ChunkingSettings, Document, LogEntry
from evidencedesk.pipeline import Answering, Indexing, answer_question, ingest_document, search
from evidencedesk.protocols import Store
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.memory import MemoisedEmbedder
from evidencedesk.text.analysis import NORMALISATION

SENTENCES = (
    "A new bike can be returned within 30 days of delivery for a full refund.",
    "A new bike can be returned within 14 days of delivery for a full refund.",
    "Opened helmets cannot be returned for reasons of safety.",
    "Gift cards expire 36 months after purchase.",
    "The frame carries a five-year warranty against cracks.",
    "Refunds above 500 euros need the signature of a manager.",
    "Die Lieferung kostet 5 Euro und dauert vier Tage.",
    "ফেরত পেতে ৩০ দিনের মধ্যে আবেদন করুন।",
    "Salaries are paid on the last working day of the month.",
)
QUESTIONS = (
    "How long do I have to return a bike?",
    "When do gift cards expire?",
    "What does delivery cost?",
    "ফেরত পেতে কত দিন?",
    "salary",
)
ROLES = ("staff", "student", "admin", "guest")

roles = st.frozensets(st.sampled_from(ROLES), max_size=3)
rules = st.builds(
    AccessRule,
    tenant=st.sampled_from(("default", "other")),
    roles=roles,
    deny=st.frozensets(st.sampled_from(ROLES), max_size=1),
    status=st.sampled_from(list(Status)),
)
principals = st.builds(
    Principal,
    tenant=st.sampled_from(("default", "other")),
    roles=roles,
    administrator=st.booleans(),
)
statuses = st.frozensets(st.sampled_from(list(Status)), min_size=1)


@dataclass(frozen=True)
class Step:
    """One change to one document: put with a text and a rule, or removed (``rule`` is None)."""

    number: int
    sentences: tuple[str, ...]
    title: str
    rule: AccessRule | None


steps = st.builds(
    Step,
    number=st.integers(0, 5),
    sentences=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map(tuple),
    title=st.sampled_from(("Returns", "Gift cards", "Staff handbook")),
    rule=st.one_of(rules, rules, rules, st.none()),
)


def document_of(step: Step, rule: AccessRule) -> Document:
    return Document(
        id=f"doc-{step.number}",
        text="\n\n".join(step.sentences),
        title=step.title,
        source=f"doc-{step.number}.md",
        lang="und",
        tenant=rule.tenant,
        roles=rule.roles,
        deny=rule.deny,
        status=rule.status.value,
        first_line=1,
    )


@contextmanager
def indexed(
    path: Path,
    history: Sequence[Step],
    embedder: MemoisedEmbedder | None,
    opened: Callable[..., Store] = SQLiteStore.open,
) -> Iterator[Store]:
    clock = SteppingClock()
    store = opened(
        path,
        create=True,
        clock=clock,
        embedding=embedder.spec if embedder else None,
        chunking=ChunkingSettings("structure", (("max_tokens", 20), ("overlap_sentences", 0))),
        normalisation=NORMALISATION,
    )
    with store.write() as writer:
        indexing = Indexing(writer, lambda _: embedder)
        for step in history:
            if step.rule is None:
                for tenant in ("default", "other"):
                    writer.remove_document(tenant, f"doc-{step.number}")
                continue
            document = replace(document_of(step, step.rule), ingested_at=clock.now())
            outcome = ingest_document(document, indexing)
            entry = LogEntry(clock.now(), document.tenant, document.source, document.id, "added")
            writer.append_log([entry] if outcome.chunks else [])
    yield store
    store.close()


def everything_shown(
    store: Store,
    embedder: MemoisedEmbedder | None,
    principal: Principal,
    seen: frozenset[Status],
    threshold: float,
) -> str:
    numbers = itertools.count()
    answering = Answering(
        store=store,
        embedder=embedder,
        generator=ExtractiveReader(),
        clock=SteppingClock(),
        new_id=lambda: f"answer-{next(numbers)}",
        new_canary=lambda: "canary",
        threshold=threshold,
    )
    shown: list[Any] = []
    for question in QUESTIONS:
        explained = answer_question(question, answering, principal=principal, statuses=seen)
        shown.append(explained.answer.to_json())
        shown.append(explained.request.prompt if explained.request else None)
        found = search(question, answering, principal=principal, statuses=seen)
        shown.append([asdict(hit) for hit in found.hits] + [found.confidence])
    with store.read(access=AccessFilter.for_principal(principal, seen)) as snapshot:
        records = list(snapshot.documents())
        shown.append([asdict(record) for record in records])
        # A status is no right: an administrator's log is about documents of every status.
        shown.append([asdict(entry) for entry in snapshot.log()] if seen == set(Status) else [])
        for number in range(6):
            shown.append([chunk.id for chunk in snapshot.document_chunks(f"doc-{number}")])
            shown.append([asdict(old) for old in snapshot.history(f"doc-{number}")])
            try:
                shown.append(repr(snapshot.chunk(f"doc-{number}:c0")))
            except EvidenceDeskError as error:
                shown.append(error.to_json())
    return json.dumps(shown, default=_plain, ensure_ascii=False)


def _plain(value: object) -> object:
    return sorted(map(str, value)) if isinstance(value, frozenset | set) else str(value)


def visible_history(
    history: Sequence[Step], principal: Principal, seen: frozenset[Status]
) -> list[Step]:
    """The history in which every document that this reader may not see never was.

    What counts is the last rule of a document, one (tenant, id): a document that he may see keeps
    its whole history, and one that he could see when it was removed keeps its line in the log.
    """
    access = AccessFilter.for_principal(principal, seen)
    last = {(step.rule.tenant, step.number): step.rule for step in history if step.rule}
    return [
        step
        for step in history
        if step.rule is None or access.admits(last[step.rule.tenant, step.number])
    ]


@dataclass(frozen=True)
class Case:
    """What happened to an index, and who looks at it."""

    history: Sequence[Step]
    principal: Principal
    seen: frozenset[Status]
    threshold: float

    def shown(
        self,
        folders: pytest.TempPathFactory,
        embedder: MemoisedEmbedder | None,
        opened: Callable[..., Store] = SQLiteStore.open,
    ) -> tuple[str, str]:
        """All that this reader is shown, and what he is shown where all not his never was."""
        folder = folders.mktemp("trace")
        own = visible_history(self.history, self.principal, self.seen)
        reader = (self.principal, self.seen, self.threshold)
        with (
            indexed(folder / "all.desk", self.history, embedder, opened) as everything,
            indexed(folder / "own.desk", own, embedder, opened) as visible,
        ):
            return (
                everything_shown(everything, embedder, *reader),
                everything_shown(visible, embedder, *reader),
            )


cases = given(
    case=st.builds(
        Case,
        history=st.lists(steps, min_size=1, max_size=12),
        principal=principals,
        seen=statuses,
        threshold=st.sampled_from((0.0, 0.5)),
    )
)

STAFF_SECRET = Step(
    0,
    (SENTENCES[8],),
    "Staff handbook",
    AccessRule(roles=frozenset({"staff"})),
)
PUBLIC = Step(1, SENTENCES[:4], "Returns", AccessRule(roles=frozenset({"student"})))

SECRET_FOR_A_STUDENT = Case(
    [STAFF_SECRET, PUBLIC], Principal(roles={"student"}), frozenset({Status.CURRENT}), 0.0
)


@cases
@example(SECRET_FOR_A_STUDENT)
@settings(max_examples=60)
def test_nothing_shown_depends_on_what_may_not_be_seen(
    memoised_minilm: MemoisedEmbedder, tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    shown, without = case.shown(tmp_path_factory, memoised_minilm)
    assert shown == without


@cases
@settings(max_examples=60)
def test_nothing_shown_by_keywords_depends_on_what_may_not_be_seen(
    tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    shown, without = case.shown(tmp_path_factory, None)
    assert shown == without


def test_the_comparison_can_fail(tmp_path: Path) -> None:
    """A reader who may see the document is shown something that depends on it."""
    staff = Principal(roles={"staff", "student"})
    seen = frozenset({Status.CURRENT})
    with (
        indexed(tmp_path / "all.desk", [STAFF_SECRET, PUBLIC], None) as everything,
        indexed(tmp_path / "less.desk", [PUBLIC], None) as less,
    ):
        assert everything_shown(everything, None, staff, seen, 0.0) != everything_shown(
            less, None, staff, seen, 0.0
        )
