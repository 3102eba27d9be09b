"""Token vectors of a chunk as they are stored: places, int8 codes and one scale per token."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.quantization import dequantize, quantize
from evidencedesk.errors import IndexMismatchError
from evidencedesk.model import EmbeddingSpec, Span, TokenVectors


def encode_tokens(
    tokens: TokenVectors, embedding: EmbeddingSpec | None
) -> tuple[bytes, bytes, bytes]:
    """Spans, codes and scales.

    Raises:
        IndexMismatchError: ``index_mismatch`` when the vectors are not such as ``embedding`` says,
            or not finite.
    """
    expected = (len(tokens.spans), embedding.token_dimensions if embedding else 0)
    fits = not tokens.spans or tokens.vectors.shape == expected
    if not fits or not np.isfinite(tokens.vectors).all():
        raise IndexMismatchError(
            f"Token vectors of shape {tokens.vectors.shape} were given where {expected} belong, "
            "or some are not finite.",
            hint="Run `evidencedesk models verify`, then `evidencedesk reindex --yes`.",
        )
    codes, scales = quantize(tokens.vectors)
    return _encode_spans(tokens.spans), codes.tobytes(), scales.astype("<f4").tobytes()


def decode_tokens(
    spans: bytes | None, codes: bytes | None, scales: bytes | None
) -> TokenVectors | None:
    """What :func:`encode_tokens` gave, the vectors as their codes say; None where nothing is stored."""
    if spans is None or codes is None or scales is None:
        return None
    return decode_stored(spans, codes, scales)


def decode_stored(spans: bytes, codes: bytes, scales: bytes) -> TokenVectors:
    """What :func:`encode_tokens` gave; encoding it again gives the same bytes."""
    places = _decode_spans(spans)
    dimensions = len(codes) // len(places) if places else 0
    matrix = np.frombuffer(codes, np.int8).reshape(len(places), dimensions)
    return TokenVectors(dequantize(matrix, np.frombuffer(scales, "<f4")), places)


def _encode_spans(spans: Sequence[Span]) -> bytes:
    # Steps from start to start, and lengths, are small numbers that repeat; starts are neither.
    starts = np.array([span.start for span in spans], "<i4")
    lengths = np.array([span.end - span.start for span in spans], "<i4")
    steps: NDArray[np.int32] = np.diff(starts, prepend=np.int32(0)).astype("<i4")
    return zlib.compress(np.concatenate((steps, lengths)).tobytes(), 1)


def _decode_spans(stored: bytes) -> tuple[Span, ...]:
    steps, lengths = np.frombuffer(zlib.decompress(stored), "<i4").reshape(2, -1)
    starts = np.cumsum(steps)
    return tuple(map(Span, starts.tolist(), (starts + lengths).tolist()))
