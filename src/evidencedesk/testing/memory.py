"""An embedder that computes each text once, so that properties can afford the real model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import EmbeddingSpec, TokenVectors
from evidencedesk.protocols import Embedder


class MemoisedEmbedder:
    """The ``Embedder`` port over another embedder whose vectors it remembers."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages: dict[str, NDArray[np.float32]] = {}
        self._queries: dict[str, NDArray[np.float32]] = {}
        self._tokens: dict[tuple[str, bool], TokenVectors] = {}

    @property
    def spec(self) -> EmbeddingSpec:
        """What the model is."""
        return self._embedder.spec

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts, shape (len(texts), dimensions)."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._passages]
        vectors = self._embedder.embed_passages(missing)
        self._passages.update(zip(missing, vectors, strict=True))
        if not texts:
            return vectors
        return np.stack([self._passages[text] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector of the question, shape (dimensions,)."""
        if text not in self._queries:
            self._queries[text] = self._embedder.embed_query(text)
        return self._queries[text]

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """Token vectors of each text, as encoded inside it."""
        for text in texts:
            if (text, query) not in self._tokens:
                self._tokens[text, query] = self._embedder.token_vectors([text], query=query)[0]
        return [self._tokens[text, query] for text in texts]

    def stored_tokens(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """Token vectors of each text as an index keeps them; not remembered."""
        return self._embedder.stored_tokens(texts, query=query)
