"""Conformance of stores: generations, rebuilt side by side."""

from __future__ import annotations

import pytest

from evidencedesk.errors import IndexingError
from evidencedesk.model import ChunkingSettings, StoreQuery
from evidencedesk.protocols import Store
from evidencedesk.testing.store_case import AS_STAFF, STAFF, StoreCase, for_all, put, texts
from evidencedesk.testing.strategies import (
    DIMENSIONS,
    OTHER_SPEC,
    SPEC,
    make_chunks,
    make_document,
    vector_of,
)

_CHUNKING = ChunkingSettings("fixed", (("overlap", 0), ("size", 100)))


class GenerationContract(StoreCase):
    """The old generation answers until the new one is switched to, and can be switched back to."""

    def test_a_building_generation_does_not_answer(self, store: Store) -> None:
        document = put(store, "a", "bike fee", "rain")
        with store.write() as writer:
            new = writer.begin_generation(OTHER_SPEC, _CHUNKING, "2")
            assert (new.id, new.state, new.embedding) == (2, "building", OTHER_SPEC)
            assert (new.chunking, new.normalisation) == (_CHUNKING, "2")
            writer.put_chunks(2, "default", "a", make_chunks(document, OTHER_SPEC)[:1])
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.generation.id == 1
            result = snapshot.search(StoreQuery((("bike",),), vector_of("rain"), 10))
            assert len(result.keys) == 2
            assert result.vectors.shape == (2, DIMENSIONS)
        assert texts(store, "a") == ["bike fee", "rain"]

    def test_any_live_generation_can_be_read_by_its_number(self, store: Store) -> None:
        document = put(store, "a", "bike fee", "rain")
        with store.write() as writer:
            writer.begin_generation(OTHER_SPEC, _CHUNKING, "2")
            writer.put_chunks(2, "default", "a", make_chunks(document, OTHER_SPEC)[:1])
        for _ in range(2):
            for number, expected in ((1, 2), (2, 1), (None, 2)):
                with store.read(access=AS_STAFF, generation=number) as snapshot:
                    assert snapshot.generation.id == (number or 1)
                    assert len(snapshot.document_chunks("a")) == expected
                    result = snapshot.search(StoreQuery((("bike",), ("rain",)), None, 9))
                    assert len(result.keys) == expected
                    assert [record.chunks for record in snapshot.documents()] == [expected]
        with pytest.raises(IndexingError) as missing, store.read(access=AS_STAFF, generation=7):
            pass
        assert missing.value.code == "generation_missing"

    def test_switch_and_back(self, store: Store) -> None:
        document = put(store, "a", "bike fee", "rain")
        with store.write() as writer:
            writer.begin_generation(OTHER_SPEC, _CHUNKING, "2")
            writer.put_chunks(2, "default", "a", make_chunks(document, OTHER_SPEC)[:1])
            writer.switch_generation(2)
            states = [generation.state for generation in writer.generations()]
            assert states == ["previous", "active"]
            record = writer.record("default", "a")
            assert record is not None
            assert record.chunks == 1
        assert texts(store, "a") == ["bike fee"]
        with store.read(access=AS_STAFF) as snapshot:
            result = snapshot.search(StoreQuery((), vector_of("x", OTHER_SPEC.dimensions), 10))
            assert result.vectors.shape == (1, OTHER_SPEC.dimensions)
        later = make_document("a", ["lock", "gear"], STAFF)
        with store.write() as writer:
            writer.replace_document(later, for_all(writer, later))
            writer.remove_document("default", "b")
            writer.switch_generation(1)
        assert texts(store, "a") == ["lock", "gear"]
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.generation.id == 1
            assert snapshot.generation.embedding == SPEC
        assert store.check() == ()

    def test_discarding_leaves_the_active_one(self, store: Store) -> None:
        document = put(store, "a", "bike fee")
        with store.write() as writer:
            writer.begin_generation(None, _CHUNKING, "2")
            writer.put_chunks(2, "default", "a", make_chunks(document, None))
            with pytest.raises(IndexingError) as refused:
                writer.discard_generation(1)
            assert refused.value.code == "generation_active"
            writer.discard_generation(2)
            assert [generation.id for generation in writer.generations()] == [1]
            assert writer.begin_generation(None, _CHUNKING, "2").id == 3
        assert texts(store, "a") == ["bike fee"]
        assert store.check() == ()

    def test_only_one_is_built_at_a_time(self, store: Store) -> None:
        with store.write() as writer:
            writer.begin_generation(None, _CHUNKING, "2")
            with pytest.raises(IndexingError) as refused:
                writer.begin_generation(None, _CHUNKING, "2")
        assert refused.value.code == "generation_exists"

    def test_an_incomplete_generation_is_not_switched_to(self, store: Store) -> None:
        put(store, "a", "bike fee")
        with store.write() as writer:
            writer.begin_generation(None, _CHUNKING, "2")
            with pytest.raises(IndexingError) as refused:
                writer.switch_generation(2)
        assert refused.value.code == "generation_incomplete"
        assert texts(store, "a") == ["bike fee"]

    def test_a_write_must_be_for_every_live_generation(self, store: Store) -> None:
        document = put(store, "a", "bike fee")
        with store.write() as writer:
            writer.begin_generation(None, _CHUNKING, "2")
            with pytest.raises(IndexingError) as refused:
                writer.replace_document(document, {1: make_chunks(document)})
            assert refused.value.code == "generations_differ"
            with pytest.raises(IndexingError) as missing:
                writer.put_chunks(9, "default", "a", [])
            assert missing.value.code == "generation_missing"

    def test_a_generation_without_a_model_is_given_one(self, store: Store) -> None:
        document = put(store, "a", "bike fee")
        with store.write() as writer:
            writer.begin_generation(None, _CHUNKING, "2")
            writer.put_chunks(2, "default", "a", make_chunks(document, None))
            writer.switch_generation(2)
            writer.discard_generation(1)
            with pytest.raises(IndexingError) as refused:
                writer.fill_vectors("default", "a", {2: make_chunks(document)})
            assert refused.value.code == "index_mismatch"
            writer.set_embedding(2, SPEC)
            writer.fill_vectors("default", "a", {2: make_chunks(document)})
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.generation.embedding == SPEC
            assert len(snapshot.search(StoreQuery((), vector_of("rain"), 5)).keys) == 1
