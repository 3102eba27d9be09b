"""Conformance of stores: scores, statistics and candidates against the plainest computation."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.errors import IndexingError
from evidencedesk.model import Candidates, Document, IndexedChunk, StoreQuery
from evidencedesk.protocols import Store
from evidencedesk.testing import store_reference as reference
from evidencedesk.testing.store_case import (
    AS_STAFF,
    SHARED_BY_SUBCLASSES,
    STAFF,
    StoreCase,
    for_all,
    put,
)
from evidencedesk.testing.strategies import (
    Step,
    filters,
    make_chunks,
    make_document,
    steps,
    term_groups,
    vector_of,
)

VECTOR_TOLERANCE = 0.02
"""Vector statistics may come from quantised vectors; toy vectors of 8 numbers quantise coarsely."""


def _rule(document: Document) -> AccessRule:
    return AccessRule(document.tenant, document.roles, document.deny, Status(document.status))


class SearchContract(StoreCase):
    """BM25 and cosines over exactly what is visible."""

    @given(
        history=steps(),
        access=filters(),
        groups=term_groups(),
        word=st.sampled_from(("rain", "bike fee", "x")),
    )
    @hypothesis_settings(max_examples=25, suppress_health_check=SHARED_BY_SUBCLASSES)
    def test_scores_are_those_of_the_reference(
        self,
        history: list[Step],
        access: AccessFilter,
        groups: tuple[tuple[str, ...], ...],
        word: str,
    ) -> None:
        with tempfile.TemporaryDirectory() as folder, self.opened(Path(folder) / "s.desk") as store:
            stored = self.apply(store, history)
            visible = _visible(stored, history, access)
            with store.read(access=access) as snapshot:
                result = snapshot.search(StoreQuery(groups, vector_of(word), 1000))
                texts = [chunk.text for chunk in snapshot.chunks(result.keys.tolist())]
        scores = reference.bm25(visible, groups)
        cosines = reference.cosines(visible, vector_of(word))
        wanted = [
            row for row in range(len(visible)) if scores[row] > 0 or not math.isnan(cosines[row])
        ]
        assert texts == [visible[row].chunk.text for row in wanted]
        np.testing.assert_allclose(
            result.keyword_scores, [scores[row] for row in wanted], rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            result.vector_scores, [cosines[row] for row in wanted], rtol=0, atol=1e-6
        )
        assert result.group_frequencies.tolist() == reference.frequencies(visible, groups)
        statistics = result.statistics
        present = [cosine for cosine in cosines if not math.isnan(cosine)]
        assert (statistics.chunks, statistics.vectors) == (len(visible), len(present))
        assert (statistics.keyword_mean, statistics.keyword_deviation) == pytest.approx(
            reference.mean_and_deviation(scores), rel=1e-6, abs=1e-6
        )
        assert (statistics.vector_mean, statistics.vector_deviation) == pytest.approx(
            reference.mean_and_deviation(present), abs=VECTOR_TOLERANCE
        )

    def test_only_the_best_are_candidates_and_ties_go_to_the_earlier(self, store: Store) -> None:
        put(store, "a", *["bike"] * 5, "bike bike", "rain")
        with store.read(access=AS_STAFF) as snapshot:
            result = snapshot.search(StoreQuery((("bike",),), None, 3))
            ordinals = [chunk.ordinal for chunk in snapshot.chunks(result.keys.tolist())]
            assert ordinals == [0, 1, 5]
            assert result.vectors.shape == (3, 0)
            assert np.isnan(result.vector_scores).all()
            assert snapshot.search(StoreQuery((("bike",),), None, 0)).keys.tolist() == []

    def test_candidates_of_both_kinds_carry_both_scores(self, store: Store) -> None:
        put(store, "a", "bike", "rain", "gear", "lock noise")
        with store.read(access=AS_STAFF) as snapshot:
            result = snapshot.search(StoreQuery((("bike",),), vector_of("rain"), 1))
            texts = [chunk.text for chunk in snapshot.chunks(result.keys.tolist())]
        assert texts == ["bike", "rain"]
        assert result.keyword_scores[0] > 0.0
        assert result.keyword_scores[1] == 0.0
        expected = float(vector_of("bike") @ vector_of("rain"))
        assert result.vector_scores.tolist() == pytest.approx([expected, 1.0], abs=1e-6)
        assert np.array_equal(result.vectors, [vector_of("bike"), vector_of("rain")])

    def test_nothing_visible_gives_nothing(self, store: Store) -> None:
        put(store, "a", "bike")
        with store.read(access=AccessFilter()) as snapshot:
            result = snapshot.search(StoreQuery((("bike",), ("rain",)), vector_of("rain"), 5))
        assert len(result.keys) == 0
        assert result.group_frequencies.tolist() == [0, 0]
        assert result.statistics.chunks == result.statistics.vectors == 0

    def test_a_vector_of_another_model_is_refused(self, store: Store) -> None:
        put(store, "a", "bike")
        with store.read(access=AS_STAFF) as snapshot, pytest.raises(IndexingError) as refused:
            snapshot.search(StoreQuery((), vector_of("rain", 9), 5))
        assert refused.value.code == "index_mismatch"

    def test_five_thousand_tiny_documents(self, store: Store) -> None:
        best, result = self.search_five_thousand_tiny_documents(store)
        assert best == "d4321"
        assert result.group_frequencies.tolist() == [2500, 1]
        assert result.statistics.chunks == 5000

    def search_five_thousand_tiny_documents(self, store: Store) -> tuple[str, Candidates]:
        """The document that is best by keywords and by vector alike, and all that was found."""
        with store.write() as writer:
            for number in range(5000):
                text = f"bike w{number}" if number % 2 else f"rain w{number}"
                document = make_document(f"d{number:04}", [text], STAFF)
                writer.replace_document(document, for_all(writer, document))
        with store.read(access=AS_STAFF) as snapshot:
            query = StoreQuery((("bike",), ("w4321",)), vector_of("bike w4321"), 10)
            result = snapshot.search(query)
            best = result.keys[np.argmax(result.keyword_scores)]
            assert result.keys[np.nanargmax(result.vector_scores)] == best
            assert len(list(snapshot.documents())) == 5000
            return snapshot.chunks([best])[0].document_id, result

    def test_one_document_of_very_many_chunks(self, store: Store) -> None:
        put(store, "a", *(f"bike w{number}" for number in range(3000)))
        put(store, "a", *(f"rain w{number}" for number in range(2900)))
        with store.read(access=AS_STAFF) as snapshot:
            assert len(snapshot.document_chunks("a")) == 2900
            result = snapshot.search(StoreQuery((("rain",), ("bike",)), None, 5000))
            assert result.group_frequencies.tolist() == [2900, 0]
            assert len(result.keys) == 2900


def _visible(
    stored: dict[tuple[str, str], Document], history: list[Step], access: AccessFilter
) -> list[IndexedChunk]:
    every = {
        (step.rule.tenant, step.document_id): step.every
        for step in history
        if step.kind in {"replace", "fill"}
    }
    return [
        chunk
        for key, document in stored.items()
        if access.admits(_rule(document))
        for chunk in make_chunks(document, every=every[key])
    ]
