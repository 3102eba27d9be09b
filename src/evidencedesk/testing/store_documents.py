"""Conformance of stores: documents, their chunks, history and log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from evidencedesk.access import AccessFilter, AccessRule
from evidencedesk.errors import IndexingError
from evidencedesk.model import (
    Block,
    BlockKind,
    Document,
    IndexedChunk,
    LogEntry,
    PageBoxes,
    PageSpan,
    StoreQuery,
)
from evidencedesk.model.boxes import pack_boxes
from evidencedesk.protocols import Snapshot, Store, Writer
from evidencedesk.testing.store_case import (
    AS_ADMINISTRATOR,
    AS_GUEST,
    AS_STAFF,
    STAFF,
    StoreCase,
    for_all,
    put,
    texts,
)
from evidencedesk.testing.strategies import (
    make_chunks,
    make_document,
    vector_of,
)


def found(snapshot: Snapshot, *words: str, candidates: int = 1000) -> list[str]:
    """Texts of the chunks that hold any of ``words``, by key."""
    query = StoreQuery(tuple((word,) for word in words), None, candidates)
    return [chunk.text for chunk in snapshot.chunks(snapshot.search(query).keys.tolist())]


def _replace_together(
    writer: Writer, documents: Sequence[tuple[Document, Sequence[IndexedChunk]]]
) -> None:
    with writer.together():
        for document, chunks in documents:
            writer.replace_document(document, {1: chunks})


class BrokenTerms(Mapping[str, int]):
    """Terms that cannot be had: a failure in the middle of a write."""

    def __getitem__(self, term: str) -> int:
        raise KeyError(term)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("broken on purpose")

    def __len__(self) -> int:
        return 1


class DocumentContract(StoreCase):
    """What is written can be read, what is replaced or removed cannot."""

    def test_a_document_comes_back_as_it_was_written(self, store: Store) -> None:
        document = replace(
            make_document("a", ["bike fee", "rain"], STAFF),
            version="3",
            lang="de-CH",
            owner="desk",
            blocks=(
                Block(BlockKind.HEADING, 0, 4, ("bike",), level=1),
                Block(BlockKind.TABLE_ROW, 5, 14, ("bike",), 0, "h", 1, 2, 3, "#x"),
            ),
            pages=(PageSpan(1, 0, 14, 595.0, 842.0, "i"),),
            page_boxes=(
                PageBoxes(1, 0, pack_boxes(np.zeros((14, 4), dtype=np.float32))),
                PageBoxes(2, 14, b""),
            ),
            ingested_at=datetime(2026, 1, 2, tzinfo=UTC),
            file_hash="sha256:ab",
            root="docs",
            supersedes="old",
            warnings=("1 of 2 pages has no text",),
            partial=True,
            inputs_hash="sha256:cd",
            first_line=7,
        )
        with store.write() as writer:
            writer.replace_document(document, for_all(writer, document))
            assert writer.document("default", "a") == document
            record = writer.record("default", "a")
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.document("a") == document
            assert list(snapshot.documents()) == [record]
        assert record is not None
        assert (record.chunks, record.vectors, record.inputs_hash) == (2, 2, "sha256:cd")
        assert record.content_hash == document.content_hash
        assert record.location_hash == document.location_hash

    def test_chunks_carry_what_their_document_says(self, store: Store) -> None:
        document = put(store, "a", "bike fee", "rain")
        with store.read(access=AS_STAFF) as snapshot:
            chunk = snapshot.chunk("a:c1")
            assert chunk is not None
            assert chunk == snapshot.document_chunks("a")[1]
            assert (chunk.text, chunk.title, chunk.source) == ("rain", "Title", "a.md")
            assert (chunk.roles, chunk.content_hash) == (STAFF.roles, document.content_hash)
            assert document.text[chunk.location.start : chunk.location.end] == "rain"
            for name in ("a:c2", "a:c01", "a:c", "b:c0", "", "a", "a:c-1", "a:c²"):
                assert snapshot.chunk(name) is None

    def test_replacing_takes_all_old_chunks_out(self, store: Store) -> None:
        put(store, "a", "bike fee", "rain", "lock")
        put(store, "b", "bike days")
        put(store, "a", "gear")
        assert texts(store, "a") == ["gear"]
        with store.read(access=AS_STAFF) as snapshot:
            assert found(snapshot, "bike", "rain", "lock", "gear") == ["bike days", "gear"]

    def test_text_that_differs_becomes_history(self, store: Store) -> None:
        first = put(store, "a", "bike fee")
        put(store, "a", "bike fee")
        second = put(store, "a", "rain")
        put(store, "a", "lock")
        with store.read(access=AS_STAFF) as snapshot:
            hashes = [record.content_hash for record in snapshot.history("a")]
            assert hashes == [second.content_hash, first.content_hash]
            assert snapshot.historic_text("a", first.content_hash) == "bike fee"
            assert snapshot.historic_text("a", "sha256:none") is None
        with store.read(access=AS_GUEST) as snapshot:
            assert snapshot.history("a") == ()
            assert snapshot.historic_text("a", first.content_hash) is None

    def test_a_document_that_replaces_itself_leaves_nothing_earlier(self, store: Store) -> None:
        put(store, "a", "bike fee")
        put(store, "a", "rain")
        document = make_document("a", ["lock"], STAFF)
        with store.write() as writer:
            writer.replace_document(document, {1: make_chunks(document)}, replaces="a")
        assert texts(store, "a") == ["lock"]
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.history("a") == ()
            assert found(snapshot, "bike", "rain", "lock") == ["lock"]
        assert store.check() == ()

    def test_publishing_a_document_does_not_publish_its_earlier_text(self, store: Store) -> None:
        secret = put(store, "a", "secret", rule=AccessRule(roles=frozenset({"sales"})))
        put(store, "a", "public")
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.history("a") == ()
            assert snapshot.historic_text("a", secret.content_hash) is None

    def test_updating_changes_rights_at_once_and_leaves_text(self, store: Store) -> None:
        document = put(store, "a", "bike fee", "rain")
        guests = replace(document, roles=frozenset({"guest"}), version="2", first_line=5)
        with store.write() as writer:
            writer.update_document(guests)
        assert texts(store, "a") == []
        with store.read(access=AS_GUEST) as snapshot:
            assert found(snapshot, "bike") == ["bike fee"]
            chunks = snapshot.document_chunks("a")
            assert [chunk.location.first_line for chunk in chunks] == [5, 7]
            assert {chunk.version for chunk in chunks} == {"2"}
            assert snapshot.document("a") == guests
            assert snapshot.history("a") == ()

    def test_updating_another_text_is_refused(self, store: Store) -> None:
        document = put(store, "a", "bike")
        with store.write() as writer, pytest.raises(IndexingError) as refused:
            writer.update_document(replace(document, text="bike fee"))
        assert refused.value.code == "text_differs"
        assert texts(store, "a") == ["bike"]

    def test_filling_gives_vectors_to_unchanged_chunks(self, store: Store) -> None:
        document = make_document("a", ["bike fee", "rain"], STAFF)
        with store.write() as writer:
            writer.replace_document(document, {1: make_chunks(document, None)})
        query = StoreQuery((), vector_of("rain"), 5)
        with store.read(access=AS_STAFF) as snapshot:
            assert len(snapshot.search(query).keys) == 0
        with store.write() as writer:
            writer.fill_vectors("default", "a", {1: make_chunks(document)})
            record = writer.record("default", "a")
        assert record is not None
        assert (record.chunks, record.vectors) == (2, 2)
        with store.read(access=AS_STAFF) as snapshot:
            result = snapshot.search(query)
            assert snapshot.chunks(result.keys.tolist())[1].text == "rain"
            assert result.vector_scores[1] == pytest.approx(1.0, abs=1e-6)

    def test_removing_leaves_nothing_and_the_same_bytes_come_back(self, store: Store) -> None:
        put(store, "a", "rain")
        document = put(store, "a", "bike fee")
        with store.write() as writer:
            assert writer.remove_document("default", "a") is True
            assert writer.remove_document("default", "a") is False
            assert writer.record("default", "a") is None
            assert writer.document("default", "a") is None
            assert writer.cached_vectors(["toy:bike fee"]) == {}
        with store.read(access=AS_ADMINISTRATOR) as snapshot:
            assert found(snapshot, "bike", "rain") == []
            assert snapshot.document("a") is None
            assert list(snapshot.documents()) == []
        again = put(store, "a", "bike fee")
        assert again == document
        assert texts(store, "a") == ["bike fee"]
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.history("a") == ()
            assert found(snapshot, "bike") == ["bike fee"]

    def test_a_failure_in_the_middle_leaves_the_old_version(self, store: Store) -> None:
        old = put(store, "a", "bike fee", "rain")
        new = make_document("a", ["lock", "gear"], STAFF)
        with store.write() as writer:
            chunks = make_chunks(new)
            chunks[-1] = replace(chunks[-1], terms=BrokenTerms())
            with pytest.raises(RuntimeError, match="broken on purpose"):
                writer.replace_document(new, {1: chunks})
            put(store, "b", "days")
            assert writer.document("default", "a") == old
        assert texts(store, "a") == ["bike fee", "rain"]
        with store.read(access=AS_STAFF) as snapshot:
            assert found(snapshot, "bike", "lock") == ["bike fee"]
            assert snapshot.history("a") == ()
        assert store.check() == ()

    def test_changes_made_together_are_all_there_at_the_end(self, store: Store) -> None:
        put(store, "a", "bike fee")
        first, second = (
            make_document("b", ["lock", "gear"], STAFF),
            make_document("c", ["rain"], STAFF),
        )
        closed = make_document("a", ["bike fee"], AccessRule(roles=frozenset({"nobody"})))
        with store.write() as writer:
            with writer.together():
                writer.replace_document(first, {1: make_chunks(first)})
                assert writer.document("default", "b") == first
                writer.replace_document(closed, {1: make_chunks(closed)})
                writer.replace_document(second, {1: make_chunks(second)})
                assert writer.remove_document("default", "b")
            assert writer.record("default", "b") is None
        assert texts(store, "c") == ["rain"]
        with store.read(access=AS_STAFF) as snapshot:
            assert found(snapshot, "bike", "lock", "rain") == ["rain"]
        assert store.check() == ()

    def test_a_failure_among_changes_made_together_leaves_no_half(self, store: Store) -> None:
        old = put(store, "a", "bike fee", "rain")
        before, new = (
            make_document("b", ["lock"], STAFF),
            make_document("a", ["lock", "gear"], STAFF),
        )
        with store.write() as writer:
            chunks = make_chunks(new)
            chunks[-1] = replace(chunks[-1], terms=BrokenTerms())
            with pytest.raises(RuntimeError, match="broken on purpose"):
                _replace_together(writer, [(before, make_chunks(before)), (new, chunks)])
            assert writer.document("default", "a") == old
            whole = writer.document("default", "b")
        assert whole in (before, None)
        assert texts(store, "a") == ["bike fee", "rain"]
        assert texts(store, "b") == (["lock"] if whole else [])
        put(store, "c", "days")
        assert texts(store, "c") == ["days"]
        assert store.check() == ()

    def test_the_check_tells_documents_of_two_tenants_under_one_id_apart(
        self, store: Store
    ) -> None:
        put(store, "a", "bike fee", "lock")
        put(store, "a", "rain", "gear", rule=replace(STAFF, tenant="other"))
        assert store.check() == ()

    def test_keys_that_are_not_held_are_key_errors(self, store: Store) -> None:
        put(store, "a", "bike")
        with store.read(access=AS_STAFF) as snapshot:
            keys = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
        with store.read(access=AS_GUEST) as snapshot:
            for call in (snapshot.chunks, snapshot.sentence_vectors, snapshot.token_vectors):
                for wanted in (keys, [-1]):
                    with pytest.raises(KeyError):
                        call(wanted)

    def test_the_log_is_for_administrators_of_the_tenant(self, store: Store) -> None:
        at = datetime(2026, 1, 2, tzinfo=UTC)
        entries = [
            LogEntry(at, "default", "a.md", "a", "added", details={"chunks": 1}),
            LogEntry(at, "default", "x.pdf", "", "failed", "encrypted", "Needs a password."),
            LogEntry(at, "other", "b.md", "b", "added"),
        ]
        with store.write() as writer:
            writer.append_log(entries)
        with store.read(access=AS_ADMINISTRATOR) as snapshot:
            assert snapshot.log() == (entries[1], entries[0])
            assert snapshot.log(limit=1) == (entries[1],)
            assert snapshot.log(limit=0) == ()
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.log() == ()

    def test_the_log_of_a_document_denied_to_an_administrator_stays_closed(
        self, store: Store
    ) -> None:
        rule = AccessRule(roles=frozenset({"staff"}), deny=frozenset({"sales"}))
        put(store, "a", "bike", rule=rule)
        entry = LogEntry(datetime(2026, 1, 2, tzinfo=UTC), "default", "a.md", "a", "added")
        gone = replace(entry, outcome="removed")
        denied = AccessFilter(roles=frozenset({"sales"}), administrator=True)
        with store.write() as writer:
            writer.append_log([entry])
            writer.remove_document("default", "a")
            writer.append_log([gone])
        with store.read(access=denied) as snapshot:
            assert snapshot.log() == ()
        with store.read(access=AS_ADMINISTRATOR) as snapshot:
            assert snapshot.log() == (gone, entry)
