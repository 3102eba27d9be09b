"""Sentences are as like the question by stored token vectors as by vectors that are made now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from exact_snapshot import SPEC, HashedEmbedder, chunk
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.indexing import embed_chunks
from evidencedesk.model import IndexedChunk, TokenVectors
from evidencedesk.retrieval.sentences import scored_chunks
from evidencedesk.retrieval.similarity import stored_similarity, token_similarity

QUESTION = "how long may a bike be kept"


class KeepingEmbedder(HashedEmbedder):
    """Keeps token vectors as they are."""

    spec = replace(SPEC, token_dimensions=SPEC.dimensions)

    def stored_tokens(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        return self.token_vectors(texts, query=query)


def texts() -> st.SearchStrategy[str]:
    """Sentences of a few words, now and then more of them than a window holds."""
    word = st.sampled_from(("bike", "kept", "long", "days", "fee", "rain"))
    sentence = st.lists(word, min_size=1, max_size=40).map(
        lambda held: " ".join(held).title() + "."
    )
    return st.lists(sentence, min_size=1, max_size=12).map("  ".join)


@given(st.lists(texts(), min_size=1, max_size=3, unique=True))
def test_stored_and_fresh_token_vectors_say_the_same(held: list[str]):
    embedder = KeepingEmbedder()
    chunks = [chunk(text, ordinal=place) for place, text in enumerate(held)]
    embedded = embed_chunks([IndexedChunk(one, {}) for one in chunks], embedder, lambda _: {})
    stored = [one.tokens for one in embedded if one.tokens is not None]
    assert len(stored) == len(chunks)
    for one, tokens in zip(chunks, stored, strict=True):
        assert [one.text[span.start : span.end] for span in tokens.spans] == one.text.split()
    scored = scored_chunks(chunks, [1.0] * len(chunks))
    asked = embedder.stored_tokens([QUESTION], query=True)[0]
    np.testing.assert_allclose(
        stored_similarity(asked, scored, stored),
        token_similarity(QUESTION, scored, embedder),
        atol=1e-6,
    )


def test_tokens_from_the_cache_are_not_encoded_again():
    embedder = KeepingEmbedder()
    plain = [IndexedChunk(chunk("A bike is kept."), {})]
    (first,) = embed_chunks(plain, embedder, lambda _: {})
    assert first.vector is not None
    assert first.sentence_vectors is not None
    assert first.tokens is not None
    vectors = {first.embedding_key: (first.vector, first.sentence_vectors)}
    away = KeepingEmbedder(frozenset({"tokens"}))
    known = {first.embedding_key: first.tokens}
    (second,) = embed_chunks(plain, away, lambda _: vectors, lambda _: known)
    assert second.tokens is first.tokens


def test_a_model_that_keeps_no_tokens_leaves_chunks_without():
    (embedded,) = embed_chunks([IndexedChunk(chunk("A bike."), {})], HashedEmbedder(), lambda _: {})
    assert embedded.vector is not None
    assert embedded.tokens is None
