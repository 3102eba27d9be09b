"""The permission property of the spine, on PostgreSQL: answers, prompts, scores, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import example, settings
from postgres_partitions import opened_far
from postgres_stores import opened
from test_permission_property import SECRET_FOR_A_STUDENT, Case, cases

from evidencedesk.testing.memory import MemoisedEmbedder


@pytest.mark.usefixtures("postgres_url")
@cases
@example(SECRET_FOR_A_STUDENT)
@settings(max_examples=8)
def test_nothing_shown_depends_on_what_may_not_be_seen_on_a_server(
    memoised_minilm: MemoisedEmbedder, tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    shown, without = case.shown(tmp_path_factory, memoised_minilm, opened)
    assert shown == without


@pytest.mark.usefixtures("postgres_together")
@cases
@example(SECRET_FOR_A_STUDENT)
@settings(max_examples=4)
def test_nothing_shown_depends_on_it_on_three_servers(
    memoised_minilm: MemoisedEmbedder, tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    shown, without = case.shown(tmp_path_factory, memoised_minilm, opened_far)
    assert shown == without


@pytest.mark.slow
@pytest.mark.usefixtures("postgres_url")
@cases
@settings(max_examples=200)
def test_nothing_shown_on_a_server_depends_on_it_in_two_hundred_histories(
    memoised_minilm: MemoisedEmbedder, tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    shown, without = case.shown(tmp_path_factory, memoised_minilm, opened)
    assert shown == without
