"""The golden set of the sample corpora, end to end: the gate is open, and four faults shut it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sample_desk import (
    CORPORA,
    SAMPLES,
    Composed,
    Embellisher,
    OpenStore,
    Unverified,
    golden_samples,
    lossy_store,
)

from evidencedesk import wiring
from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.desk import Desk
from evidencedesk.evaluation.corpus import Asker
from evidencedesk.evaluation.gate import GateResult, judge
from evidencedesk.evaluation.run import Measuring, evaluate
from evidencedesk.evaluation.summary import summarise
from evidencedesk.pipeline import Answering
from evidencedesk.protocols import Embedder, Generator, Store
from evidencedesk.settings import Settings
from evidencedesk.wiring import SystemClock

SETTINGS = Settings()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, minilm_directory: Path) -> Iterator[Desk]:
    with Desk.open(tmp_path_factory.mktemp("samples") / "samples.desk") as made:
        report = made.ingest(*(SAMPLES / name for name in CORPORA))
        assert not report.failed
        yield made


@pytest.fixture(scope="module")
def store(desk: Desk) -> Iterator[SQLiteStore]:
    opened = SQLiteStore.open(desk.path, clock=SystemClock())
    yield opened
    opened.close()


def parts(
    store: Store,
    embedder: Embedder,
    *,
    generator: Generator | None = None,
    threshold: float | None = None,
) -> Answering:
    return wiring.answering_of(
        SETTINGS,
        store,
        SystemClock(),
        embedder,
        generator=generator or ExtractiveReader(),
        threshold=threshold,
    )


def gate(desk: Desk, asker: Asker | None = None) -> GateResult:
    run = evaluate(desk, golden_samples(), Measuring(SystemClock()), asker=asker)
    assert not run.stale
    return judge(run, summarise(run, np.random.default_rng(1)), SETTINGS.evaluation.gate)


def shut_by(result: GateResult) -> set[str]:
    return {check.name for check in result.checks if not check.passed}


def test_the_gate_is_open(desk: Desk) -> None:
    assert len(golden_samples().questions) >= 60
    result = gate(desk)
    assert shut_by(result) == set()
    assert {"leaks", "fact_coverage", "quote_validity"} <= {c.name for c in result.checks}


def test_a_broken_access_filter_shuts_it(
    desk: Desk, store: SQLiteStore, memoised_minilm: Embedder
) -> None:
    assert "leaks" in shut_by(gate(desk, Composed(parts(OpenStore(store), memoised_minilm))))


def test_a_broken_threshold_shuts_it(
    desk: Desk, store: SQLiteStore, memoised_minilm: Embedder
) -> None:
    shut = shut_by(gate(desk, Composed(parts(store, memoised_minilm, threshold=0.0))))
    assert {"wrong_shown", "abstention_recall"} <= shut


def test_a_lying_generator_alone_does_not_shut_it(
    desk: Desk, store: SQLiteStore, memoised_minilm: Embedder
) -> None:
    liar = parts(store, memoised_minilm, generator=Embellisher())
    assert shut_by(gate(desk, Composed(liar))) == set()


def test_a_broken_verifier_behind_a_lying_generator_shuts_it(
    desk: Desk, store: SQLiteStore, memoised_minilm: Embedder
) -> None:
    liar = parts(store, memoised_minilm, generator=Embellisher())
    assert "quote_validity" in shut_by(gate(desk, Unverified(liar)))


def test_a_broken_chunker_shuts_it(
    desk: Desk, store: SQLiteStore, memoised_minilm: Embedder, tmp_path: Path
) -> None:
    lossy = lossy_store(tmp_path / "lossy.desk", store, memoised_minilm)
    try:
        shut = shut_by(gate(desk, Composed(parts(lossy, memoised_minilm))))
    finally:
        lossy.close()
    assert {"hit_place", "fact_coverage"} <= shut
