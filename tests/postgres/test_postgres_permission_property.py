"""The permission property of the spine, on PostgreSQL: answers, prompts, scores, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import example, settings
from postgres_partitions import opened_far
from postgres_stores import opened
from test_permission_property import PUBLIC, STAFF_SECRET, Step, cases, shown_with_and_without

from evidencedesk.access import Principal, Status
from evidencedesk.testing.memory import MemoisedEmbedder


@pytest.mark.usefixtures("postgres_url")
@cases
@example([STAFF_SECRET, PUBLIC], Principal(roles={"student"}), frozenset({Status.CURRENT}), 0.0)
@settings(max_examples=8)
def test_nothing_shown_depends_on_what_may_not_be_seen_on_a_server(
    memoised_minilm: MemoisedEmbedder,
    tmp_path_factory: pytest.TempPathFactory,
    history: list[Step],
    principal: Principal,
    seen: frozenset[Status],
    threshold: float,
) -> None:
    folder = tmp_path_factory.mktemp("trace")
    shown, without = shown_with_and_without(
        folder, memoised_minilm, history, principal, seen, threshold, opened
    )
    assert shown == without


@pytest.mark.usefixtures("postgres_together")
@cases
@example([STAFF_SECRET, PUBLIC], Principal(roles={"student"}), frozenset({Status.CURRENT}), 0.0)
@settings(max_examples=4)
def test_nothing_shown_depends_on_it_on_three_servers(
    memoised_minilm: MemoisedEmbedder,
    tmp_path_factory: pytest.TempPathFactory,
    history: list[Step],
    principal: Principal,
    seen: frozenset[Status],
    threshold: float,
) -> None:
    folder = tmp_path_factory.mktemp("trace")
    shown, without = shown_with_and_without(
        folder, memoised_minilm, history, principal, seen, threshold, opened_far
    )
    assert shown == without


@pytest.mark.slow
@pytest.mark.usefixtures("postgres_url")
@cases
@settings(max_examples=200)
def test_nothing_shown_on_a_server_depends_on_it_in_two_hundred_histories(
    memoised_minilm: MemoisedEmbedder,
    tmp_path_factory: pytest.TempPathFactory,
    history: list[Step],
    principal: Principal,
    seen: frozenset[Status],
    threshold: float,
) -> None:
    folder = tmp_path_factory.mktemp("trace")
    shown, without = shown_with_and_without(
        folder, memoised_minilm, history, principal, seen, threshold, opened
    )
    assert shown == without
