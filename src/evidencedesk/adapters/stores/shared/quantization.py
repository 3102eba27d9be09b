"""Vectors as int8 codes with one scale each, exactly repeatable.

A scale keeps 16 bits of its significand, so that ``127 * scale`` and every other product of a code
and a scale is exact in float32. Then quantising what was dequantised gives the same codes and the
same scale, and a passage whose vectors come from the cache is stored bit for bit like one that was
embedded: whether somebody else's document held the same sentence leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LARGEST = 127
_KEPT_BITS = 16
_NOTHING = 1e-30


def quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Codes of shape (n, d) and scales of shape (n,), above 0 also for a vector of zeros.

    A vector whose components are all below 1e-30 counts as zeros.
    """
    wide = vectors.astype(np.float64)
    peaks = np.abs(wide).max(axis=1, initial=0.0)
    significands, exponents = np.frexp(peaks / LARGEST)
    kept = np.ceil(np.ldexp(significands, _KEPT_BITS))
    scales = np.ldexp(kept, exponents - _KEPT_BITS)
    scales[peaks < _NOTHING] = 1.0
    codes = np.rint(wide / scales[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def dequantize(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors that ``codes`` stand for, shape (n, d)."""
    return np.multiply(codes, scales[:, None], dtype=np.float32)


def unit_vectors(
    coded: Sequence[tuple[bytes, bytes]], dimensions: int
) -> list[NDArray[np.float32]]:
    """The matrices that pairs of codes and scales stand for, each row scaled to unit length.

    All at once, since calling numpy takes longer than a few sentences do. No codes: (0, dimensions).
    """
    if not coded:
        return []
    scales = np.frombuffer(b"".join(each for _, each in coded), "<f4")
    codes = np.frombuffer(b"".join(each for each, _ in coded), np.int8)
    vectors = dequantize(codes.reshape(len(scales), -1 if len(scales) else dimensions), scales)
    lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1, keepdims=True))
    unit = np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)
    return np.split(unit, np.cumsum([len(each) // scales.itemsize for _, each in coded])[:-1])


def decode_vectors(
    vector: bytes, codes: bytes | None, scales: bytes | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A stored vector, shape (d,), and those of its sentences, shape (n, d); n is 0 without codes."""
    whole = np.frombuffer(vector, "<f4").astype(np.float32)
    matrix = np.frombuffer(codes or b"", np.int8).reshape(-1, len(whole))
    return whole, dequantize(matrix, np.frombuffer(scales or b"", "<f4"))
