"""How like the question each sentence is: by token vectors, by sentence vectors, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Span, TokenVectors
from evidencedesk.protocols import Embedder
from evidencedesk.retrieval.sentences import ScoredChunk
from evidencedesk.text.windows import sentence_windows


def token_similarity(
    question: str, chunks: Sequence[ScoredChunk], embedder: Embedder
) -> NDArray[np.float64]:
    """For each sentence and question token the best cosine among the sentence's tokens.

    Tokens are encoded inside their surroundings (windows of whole sentences, up to 150 words), so
    that a pronoun carries what it stands for. The mean of a row is the sentence's MaxSim (Khattab
    and Zaharia, ColBERT, 2020).

    Returns:
        Array (sentences of all chunks in order, question tokens); zeros for a sentence that the
        model has cut off.

    Raises:
        ModelError: the model fails.
    """
    windows = [
        (scored.chunk.text, window)
        for scored in chunks
        for window in sentence_windows(scored.chunk.text, scored.spans)
    ]
    asked = embedder.token_vectors([question], query=True)[0].vectors
    encoded = embedder.token_vectors([text[w[0].start : w[-1].end] for text, w in windows])
    rows = [
        row
        for (_, window), tokens in zip(windows, encoded, strict=True)
        for row in _best_cosines(asked, tokens, window, offset=window[0].start)
    ]
    return _stacked(rows, asked)


def stored_similarity(
    question: TokenVectors, chunks: Sequence[ScoredChunk], tokens: Sequence[TokenVectors]
) -> NDArray[np.float64]:
    """The same as :func:`token_similarity`, from the stored token vectors of each chunk."""
    rows = [
        row
        for scored, held in zip(chunks, tokens, strict=True)
        for row in _best_cosines(question.vectors, held, scored.spans)
    ]
    return _stacked(rows, question.vectors)


def sentence_cosines(
    question: NDArray[np.float32],
    chunks: Sequence[ScoredChunk],
    sentence_vectors: Sequence[NDArray[np.float32]],
) -> NDArray[np.float64]:
    """Cosine of each sentence with the question, (sentences of all chunks in order,).

    Zeros where a chunk was indexed without sentence vectors, or with another number of sentences.
    """
    rows = [
        vectors.astype(np.float64) @ question.astype(np.float64)
        if len(vectors) == len(scored.spans)
        else np.zeros(len(scored.spans))
        for scored, vectors in zip(chunks, sentence_vectors, strict=True)
    ]
    return np.concatenate(rows) if rows else np.zeros(0)


def _stacked(
    rows: Sequence[NDArray[np.float64]], question: NDArray[np.float32]
) -> NDArray[np.float64]:
    return np.stack(rows) if rows else np.zeros((0, max(1, len(question))))


def _best_cosines(
    question: NDArray[np.float32],
    tokens: TokenVectors,
    sentences: Sequence[Span],
    *,
    offset: int = 0,
) -> Iterator[NDArray[np.float64]]:
    """For each sentence its best cosine per question token; ``offset`` is where tokens count from."""
    # Not by BLAS: on a busy machine its threads wait longer for one another than this takes.
    products = np.einsum("td,qd->tq", tokens.vectors, question)
    cosines = np.maximum(products, 0.0).astype(np.float64)
    starts = np.array([span.start for span in tokens.spans], np.int64) + offset
    ends = np.array([span.end for span in tokens.spans], np.int64) + offset
    for sentence in sentences:
        inside = (starts < sentence.end) & (ends > sentence.start)
        yield cosines[inside].max(axis=0, initial=0.0)
