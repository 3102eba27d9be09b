"""Terms of chunks as they are stored: 64-bit hashes and frequencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from evidencedesk.text.chunk_terms import HashedTerms
from evidencedesk.text.hashing import counted, hash_of


def encode_terms(
    chunks: Sequence[Mapping[str, int]], hashed: Callable[[str], int] = hash_of
) -> list[tuple[bytes, bytes]]:
    """Of each chunk the hashes (uint64, ascending) and frequencies (uint32) of its terms, as bytes.

    Two terms of one chunk with the same hash are one.
    """
    plain = [terms for terms in chunks if not isinstance(terms, HashedTerms)]
    sizes = [len(terms) for terms in plain]
    numbers = np.fromiter(map(hashed, chain.from_iterable(plain)), "<u8", sum(sizes))
    counts = chain.from_iterable(terms.values() for terms in plain)
    weights = np.fromiter(counts, "<u4", sum(sizes))
    others = iter(counted(numbers, sizes, weights))
    each = [terms.counted if isinstance(terms, HashedTerms) else next(others) for terms in chunks]
    return [(held.tobytes(), often.tobytes()) for held, often in each]


def length_of(terms: Mapping[str, int]) -> int:
    """The length of a chunk for BM25: the sum of its frequencies."""
    return int(terms.counted[1].sum()) if isinstance(terms, HashedTerms) else sum(terms.values())


def decode_terms(
    terms: Sequence[bytes], counts: Sequence[bytes]
) -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.uint32]]:
    """Term, row and frequency of every entry of chunks stored by :func:`encode_terms`."""
    sizes = np.fromiter((len(blob) // 8 for blob in terms), np.int64, len(terms))
    rows = np.repeat(np.arange(len(terms), dtype=np.uint16), sizes)
    return np.frombuffer(b"".join(terms), "<u8"), rows, np.frombuffer(b"".join(counts), "<u4")
