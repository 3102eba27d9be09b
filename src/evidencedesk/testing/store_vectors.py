"""Conformance of stores: the vectors that are kept with chunks, and the cache of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evidencedesk.errors import IndexMismatchError
from evidencedesk.model import StoreQuery
from evidencedesk.protocols import Store
from evidencedesk.testing.store_case import (
    AS_STAFF,
    STAFF,
    StoreCase,
    put,
    texts,
)
from evidencedesk.testing.strategies import (
    DIMENSIONS,
    SPEC,
    make_chunks,
    make_document,
    tokens_of,
)


class VectorContract(StoreCase):
    """Vectors come back as they were stored, or not at all."""

    def test_cached_vectors_are_what_was_stored(self, store: Store) -> None:
        document = put(store, "a", "bike fee")
        chunk = make_chunks(document)[0]
        assert chunk.vector is not None
        assert chunk.sentence_vectors is not None
        with store.write() as writer:
            cached = writer.cached_vectors(["toy:bike fee", "toy:none", ""])
            vector, sentences = cached["toy:bike fee"]
            assert list(cached) == ["toy:bike fee"]
            assert np.array_equal(vector, chunk.vector)
            np.testing.assert_allclose(sentences, chunk.sentence_vectors, atol=0.01)
            with store.read(access=AS_STAFF) as snapshot:
                key = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
                before = snapshot.sentence_vectors(key)
            reused = replace(chunk, vector=vector, sentence_vectors=sentences)
            writer.fill_vectors("default", "a", {1: [reused]})
        with store.read(access=AS_STAFF) as snapshot:
            key = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
            after = snapshot.sentence_vectors(key)
        assert before[0].shape == (2, DIMENSIONS)
        assert np.array_equal(before[0], after[0])

    def test_token_vectors_are_what_was_stored(self, store: Store) -> None:
        put(store, "a", "bike fee")
        expected = tokens_of("bike fee")
        with store.read(access=AS_STAFF) as snapshot:
            keys = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
            (stored,) = snapshot.token_vectors(keys)
        assert stored is not None
        assert stored.spans == expected.spans
        np.testing.assert_allclose(stored.vectors, expected.vectors, atol=0.01)

    def test_token_vectors_from_the_cache_are_stored_as_they_were(self, store: Store) -> None:
        document = put(store, "a", "bike fee", "lock")
        with store.write() as writer:
            cached = writer.cached_tokens(["toy:bike fee", "toy:none", ""])
            assert list(cached) == ["toy:bike fee"]
            again = [replace(make_chunks(document)[0], tokens=cached["toy:bike fee"])]
            writer.replace_document(make_document("b", ["bike fee"], STAFF), {1: again})
        with store.read(access=AS_STAFF) as snapshot:
            keys = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
            first, second = snapshot.token_vectors(keys)
        assert first is not None
        assert second is not None
        assert first.spans == second.spans
        assert first.vectors.tobytes() == second.vectors.tobytes()

    def test_a_chunk_without_token_vectors_has_none(self, store: Store) -> None:
        document = make_document("a", ["bike"], STAFF)
        with store.write() as writer:
            writer.replace_document(document, {1: make_chunks(document, None)})
        with store.read(access=AS_STAFF) as snapshot:
            keys = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
            assert snapshot.token_vectors(keys) == [None]

    def test_token_vectors_of_another_length_are_refused(self, store: Store) -> None:
        document = make_document("a", ["bike"], STAFF)
        wrong = replace(make_chunks(document)[0], tokens=tokens_of("bike", DIMENSIONS))
        with store.write() as writer, pytest.raises(IndexMismatchError):
            writer.replace_document(document, {1: [wrong]})
        assert texts(store, "a") == []

    def test_a_chunk_whose_token_vectors_are_missing_is_found_by_the_check(
        self, store: Store
    ) -> None:
        document = make_document("a", ["bike"], STAFF)
        lacking = replace(make_chunks(document)[0], tokens=None)
        with store.write() as writer:
            writer.replace_document(document, {1: [lacking]})
        assert any("token vectors are missing" in line for line in store.check())

    def test_a_chunk_without_sentences_has_none(self, store: Store) -> None:
        document = make_document("a", ["bike"], STAFF)
        with store.write() as writer:
            writer.replace_document(document, {1: make_chunks(document, None)})
        with store.read(access=AS_STAFF) as snapshot:
            keys = snapshot.search(StoreQuery((("bike",),), None)).keys.tolist()
            assert [vectors.shape for vectors in snapshot.sentence_vectors(keys)] == [
                (0, SPEC.dimensions)
            ]
