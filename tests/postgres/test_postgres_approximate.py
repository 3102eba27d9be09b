"""The graph: asked only where the operator made one and much is visible; its recall is measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from postgres_stores import open_postgres

from evidencedesk.access import AccessFilter, AccessRule
from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.access_classes import admitted
from evidencedesk.adapters.stores.postgres.connections import Connection, reading
from evidencedesk.adapters.stores.postgres.similarity import nearest
from evidencedesk.adapters.stores.postgres.visible import Visible, read_visible
from evidencedesk.adapters.stores.shared.candidates import RESCORED_LEAST
from evidencedesk.testing.store_case import STAFF, for_all
from evidencedesk.testing.strategies import make_document, vector_of

pytestmark = pytest.mark.usefixtures("postgres_url")

DOCUMENTS = 60
CHUNKS = 50
AS_STAFF = AccessFilter(roles=frozenset({"staff"}))
AS_SALES = AccessFilter(roles=frozenset({"sales"}))
RESCORED = 10 + RESCORED_LEAST
QUESTIONS = [vector_of(f"question {number}") for number in range(40)]


@pytest.fixture(scope="module")
def store(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresStore]:
    folder: Path = tmp_path_factory.mktemp("graph")
    with closing(open_postgres(str(folder / "s.desk"))) as store:
        with store.write() as writer, writer.together():
            for number in range(DOCUMENTS):
                rule = STAFF if number % 10 else AccessRule(roles=frozenset({"staff", "sales"}))
                paragraphs = [f"d{number} p{row}" for row in range(CHUNKS)]
                document = make_document(f"d{number}", paragraphs, rule)
                writer.replace_document(document, for_all(writer, document))
        assert store.make_graph()
        yield store


@contextmanager
def seen(store: PostgresStore, access: AccessFilter) -> Iterator[tuple[Connection, Visible]]:
    with store._pool.connection() as connection, reading(connection, access):
        yield connection, read_visible(connection, 1, admitted(connection, access)[0])


def test_the_graph_finds_nearly_all_and_its_sample_tells_what_all_are_like(
    store: PostgresStore,
) -> None:
    found = 0
    deviations: list[NDArray[np.float64]] = []
    with seen(store, AS_STAFF) as (connection, visible):
        assert visible.vectors == DOCUMENTS * CHUNKS
        for question in QUESTIONS:
            exact = nearest(connection, visible, question, 10)
            graph = nearest(connection, visible, question, RESCORED, least_visible=1)
            found += len(np.intersect1d(exact.slots, graph.slots))
            deviations.append(
                np.array([graph.mean - exact.mean, graph.deviation - exact.deviation])
            )
    recall = found / (10 * len(QUESTIONS))
    sys.stdout.write(f"recall@10 of the graph: {recall:.4f}\n")
    assert recall >= 0.99
    assert np.abs(np.mean(deviations, axis=0)).max() < 0.1
    assert np.abs(deviations).max() > 0.0


def test_the_graph_is_really_asked(store: PostgresStore) -> None:
    with store._pool.connection() as connection:
        plan = connection.execute(
            "EXPLAIN SELECT slot FROM vectors WHERE generation = 1 "
            "ORDER BY codes::halfvec(8) <=> '[1,2,3,4,5,6,7,8]'::halfvec(8) LIMIT 5"
        ).fetchall()
    assert "near_1" in str(plan)


def test_who_sees_little_is_answered_exactly(store: PostgresStore) -> None:
    with seen(store, AS_SALES) as (connection, visible):
        assert visible.vectors == DOCUMENTS * CHUNKS // 10
        for question in QUESTIONS[:5]:
            exact = nearest(connection, visible, question, 10)
            asked = nearest(connection, visible, question, 10, least_visible=1)
            assert (exact.mean, exact.deviation) == (asked.mean, asked.deviation)
            assert np.array_equal(exact.slots, asked.slots)


def test_without_a_graph_everything_is_exact(store: PostgresStore) -> None:
    assert not store.make_graph()
    assert store.drop_graph()
    assert not store.drop_graph()
    with seen(store, AS_STAFF) as (connection, visible):
        exact = nearest(connection, visible, QUESTIONS[0], 10)
        asked = nearest(connection, visible, QUESTIONS[0], 10, least_visible=1)
    assert (exact.mean, exact.deviation) == (asked.mean, asked.deviation)
    assert store.make_graph()
