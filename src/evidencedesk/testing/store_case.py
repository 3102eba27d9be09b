"""What the parts of the store's conformance suite share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.model import Document, IndexedChunk
from evidencedesk.protocols import Store, Writer
from evidencedesk.testing.strategies import Step, make_chunks, make_document

STAFF = AccessRule(roles=frozenset({"staff"}))
SHARED_BY_SUBCLASSES = (HealthCheck.differing_executors, HealthCheck.too_slow)
"""Each subclass of the suite runs the same properties on a store of its own, on purpose."""

AS_STAFF = AccessFilter(roles=frozenset({"staff"}))
AS_GUEST = AccessFilter(roles=frozenset({"guest"}))
AS_ADMINISTRATOR = AccessFilter(administrator=True, statuses=frozenset(Status))


class StoreCase:
    """How a store under test is opened and used."""

    open_store: ClassVar[Callable[[str], Store]]

    def tidy(self, store: Store) -> None:
        """Whatever upkeep the store has; nothing by default."""

    @contextmanager
    def opened(self, path: Path | str) -> Iterator[Store]:
        """The store at ``path``, closed at the end."""
        store = type(self).open_store(str(path))
        try:
            yield store
        finally:
            store.close()

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """A new store."""
        with self.opened(tmp_path / "test.desk") as store:
            yield store

    def apply(self, store: Store, steps: Iterable[Step]) -> dict[tuple[str, str], Document]:
        """Do ``steps`` one after another; the documents that are there then, in order of writing."""
        documents: dict[tuple[str, str], Document] = {}
        with store.write() as writer:
            for step in steps:
                if step.kind == "tidy":
                    self.tidy(store)
                else:
                    apply_step(writer, step, documents)
        return documents


def apply_step(writer: Writer, step: Step, documents: dict[tuple[str, str], Document]) -> None:
    """Do one step, and to ``documents`` what it should do to the store."""
    key = (step.rule.tenant, step.document_id)
    known = documents.get(key)
    if step.kind == "replace":
        made = make_document(step.document_id, step.paragraphs, step.rule)
        writer.replace_document(made, for_all(writer, made, every=step.every))
        documents.pop(key, None)
        documents[key] = made
    elif known is None:
        return
    elif step.kind == "rights":
        rule = step.rule
        changed = replace(known, roles=rule.roles, deny=rule.deny, status=rule.status.value)
        writer.update_document(changed)
        documents[key] = changed
    elif step.kind == "remove":
        writer.remove_document(*key)
        del documents[key]
    else:
        writer.fill_vectors(*key, for_all(writer, known, every=step.every))
        documents[key] = documents.pop(key)


def for_all(
    writer: Writer, document: Document, *, every: int = 1
) -> Mapping[int, Sequence[IndexedChunk]]:
    """The document's chunks for every live generation."""
    return {
        generation.id: make_chunks(document, generation.embedding, every=every)
        for generation in writer.generations()
    }


def put(store: Store, document_id: str, *paragraphs: str, rule: AccessRule = STAFF) -> Document:
    """Write a document."""
    document = make_document(document_id, paragraphs, rule)
    with store.write() as writer:
        writer.replace_document(document, for_all(writer, document))
    return document


def texts(store: Store, document_id: str, access: AccessFilter = AS_STAFF) -> list[str]:
    """Texts of the chunks of a document as a reader sees them."""
    with store.read(access=access) as snapshot:
        return [chunk.text for chunk in snapshot.document_chunks(document_id)]
