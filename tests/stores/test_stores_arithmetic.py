from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evidencedesk.adapters.stores.shared.cosines import exact_cosines
from evidencedesk.adapters.stores.shared.moments import moments
from evidencedesk.adapters.stores.shared.quantization import LARGEST, dequantize, quantize
from evidencedesk.adapters.stores.shared.selection import best
from evidencedesk.adapters.stores.shared.terms import decode_terms, encode_terms
from evidencedesk.adapters.stores.sqlite.postings import invert
from evidencedesk.adapters.stores.sqlite.similarity import (
    fastest_products,
    numkong_products,
    numpy_products,
)
from evidencedesk.adapters.stores.sqlite.spreading import LEAST_ROWS, SpreadProducts
from evidencedesk.text.hashing import hash_of

floats = st.just(0.0) | st.floats(1e-100, 1e6) | st.floats(-1e6, -1e-100)
vectors = st.integers(1, 40).flatmap(
    lambda d: arrays(
        np.float32, st.tuples(st.integers(1, 6), st.just(d)), elements=st.floats(-2, 2, width=32)
    )
)


@given(vectors)
def test_quantising_what_was_dequantised_changes_nothing(matrix: np.ndarray) -> None:
    codes, scales = quantize(matrix)
    again, same = quantize(dequantize(codes, scales))
    assert np.array_equal(codes, again)
    assert np.array_equal(scales, same)


@given(vectors)
def test_quantising_is_off_by_half_a_step_at_most(matrix: np.ndarray) -> None:
    codes, scales = quantize(matrix)
    assert (scales > 0).all()
    off = np.abs(dequantize(codes, scales).astype(np.float64) - matrix)
    assert (off <= 0.5001 * scales[:, None]).all()


@given(vectors)
def test_a_row_is_quantised_alike_in_any_company(matrix: np.ndarray) -> None:
    codes, scales = quantize(matrix)
    for row in range(len(matrix)):
        alone, scale = quantize(matrix[row : row + 1])
        assert np.array_equal(alone[0], codes[row])
        assert scale[0] == scales[row]


@pytest.mark.parametrize("dimensions", [1, 8, 383, 384, 1024, 1040, 1041, 1536])
def test_both_kernels_give_exact_integers(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    codes = rng.integers(-127, 128, (5000, dimensions), np.int8)
    codes[:3] = [[127], [-127], [0]]
    query = codes[0]
    exact = codes.astype(np.int64) @ query.astype(np.int64)
    for products in (numpy_products, numkong_products):
        found = np.full(len(codes), np.nan)
        products(codes, query, found)
        assert np.array_equal(found, exact)
    assert fastest_products() is numkong_products


@pytest.mark.parametrize("cores", [1, 2, 3])
@pytest.mark.parametrize("rows", [0, 1, LEAST_ROWS, 2 * LEAST_ROWS, 3 * LEAST_ROWS + 5])
def test_products_spread_over_cores_are_the_same(cores: int, rows: int) -> None:
    random = np.random.default_rng(rows)
    codes = random.integers(-LARGEST, LARGEST + 1, (rows, 24), np.int8)
    out, expected = np.full(rows, np.nan), np.full(rows, np.nan)
    query = random.integers(-LARGEST, LARGEST + 1, 24, np.int8)
    numpy_products(codes, query, expected)
    spread = SpreadProducts(numpy_products, cores)
    spread(codes, query, out)
    spread.close()
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("dimensions", [1, 3, 8, 100, 384, 1024])
def test_an_exact_cosine_does_not_depend_on_the_other_rows(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    matrix = rng.standard_normal((600, dimensions)).astype(np.float32)
    query = rng.standard_normal(dimensions).astype(np.float32)
    alone = np.concatenate([exact_cosines(matrix[row : row + 1], query) for row in range(600)])
    for size in (*range(1, 40), 127, 128, 129, 511, 600):
        for start in (0, 1, 600 - size):
            rows = slice(start, start + size)
            assert np.array_equal(exact_cosines(matrix[rows], query), alone[rows])
    np.testing.assert_allclose(
        alone, matrix.astype(np.float64) @ query.astype(np.float64), rtol=0, atol=1e-12
    )


@given(st.lists(floats, max_size=50), st.integers(0, 50), st.randoms())
def test_moments_do_not_depend_on_order(values: list[float], zeros: int, random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    count = len(values) + zeros
    first = moments(np.array(values), count)
    assert first == moments(np.array(shuffled), count)
    full = [*values, *[0.0] * zeros]
    size = max((abs(value) for value in values), default=0.0)
    mean = math.fsum(full) / count if count else 0.0
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in full) / count) if count else 0.0
    assert first == pytest.approx((mean, deviation), rel=1e-6, abs=1e-6 * size)


@given(st.integers(1, 100), st.floats(1e-300, 1e300))
def test_equal_values_have_no_deviation(count: int, value: float) -> None:
    mean, deviation = moments(np.full(count, value), count)
    assert deviation == 0.0
    assert mean == pytest.approx(value, rel=1e-6)


def test_moments_of_a_million_values_are_exact_enough() -> None:
    values = np.random.default_rng(0).standard_normal(1_000_000)
    mean, deviation = moments(values, len(values))
    assert mean == pytest.approx(values.mean(), abs=1e-6)
    assert deviation == pytest.approx(values.std(), rel=1e-6)


@given(st.lists(st.sampled_from((0.0, 0.5, 1.0, 2.0)), max_size=30), st.integers(0, 35))
@example([1.0, 1.0, 1.0], 2)
def test_the_best_are_the_largest_and_first(scores: list[float], limit: int) -> None:
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    assert best(np.array(scores), limit).tolist() == sorted(order[:limit])


chunk_terms = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 70_000), max_size=6)


@given(st.lists(chunk_terms, min_size=1, max_size=12))
def test_postings_hold_what_chunks_hold(chunks: list[dict[str, int]]) -> None:
    blobs = encode_terms(chunks)
    postings = invert(*decode_terms([b[0] for b in blobs], [b[1] for b in blobs]))
    for term in "abcdefghx":
        rows, counts = postings.of(hash_of(term))
        found = list(zip(rows.tolist(), counts.tolist(), strict=True))
        assert found == [(row, t[term]) for row, t in enumerate(chunks) if term in t]
    assert (np.diff(postings.terms.astype(object)) > 0).all()


@given(st.lists(chunk_terms, max_size=12))
def test_terms_with_the_same_hash_are_counted_as_one(chunks: list[dict[str, int]]) -> None:
    blobs = encode_terms(chunks, lambda term: ord(term) // 3)
    for terms, (held, often) in zip(chunks, blobs, strict=True):
        expected: dict[int, int] = {}
        for term, count in terms.items():
            expected[ord(term) // 3] = expected.get(ord(term) // 3, 0) + count
        found = zip(np.frombuffer(held, "<u8"), np.frombuffer(often, "<u4"), strict=True)
        assert [(int(number), int(count)) for number, count in found] == sorted(expected.items())
