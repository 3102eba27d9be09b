"""Cached answers: given again to nobody who would not get them anew, and never after a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records_library import ANNA, BEN, CHIEF, GIFT, RETURN, SALARY, OpenDesk

from evidencedesk.access import AccessFilter, Principal, Status
from evidencedesk.desk import Desk
from evidencedesk.model import Reply, StopReason
from evidencedesk.records import AnswerCache, CacheKey
from evidencedesk.testing.recorded import RecordedGenerator


def cache_of(desk: Desk) -> AnswerCache[object]:
    cache = desk._recording.cache
    assert cache is not None
    return cache


@pytest.fixture
def caching(open_desk: OpenDesk) -> Desk:
    return open_desk(generation={"cached_answers": 8})


def test_nothing_is_cached_unless_it_is_asked_for(desk: Desk) -> None:
    assert desk._recording.cache is None


def test_an_answer_is_given_again_with_a_receipt_of_its_own(caching: Desk) -> None:
    first = caching.ask(RETURN, principal=ANNA)
    second = caching.ask(f" {RETURN} ", principal=replace(ANNA, subject="carl"))
    assert (cache_of(caching).hits, cache_of(caching).misses) == (1, 1)
    assert second.answer_id != first.answer_id
    same = replace(
        second,
        answer_id=first.answer_id,
        attempts=first.attempts,
        timing_ms=first.timing_ms,
    )
    assert same == first
    receipt = caching.answers.show(second.answer_id, principal=CHIEF)
    assert (receipt["asked_by"], receipt["cached_from"]) == ("carl", first.answer_id)
    assert caching.answers.show(first.answer_id, principal=CHIEF)["cached_from"] is None


def test_other_rights_statuses_tenants_and_thresholds_have_answers_of_their_own(
    caching: Desk,
) -> None:
    caching.ask(SALARY, principal=BEN)
    assert caching.ask(SALARY, principal=ANNA).abstained
    assert caching.ask(SALARY, principal=replace(BEN, tenant="other")).abstained
    caching.ask(SALARY, principal=BEN, statuses=set(Status))
    caching.ask(SALARY, principal=BEN, threshold=0.1)
    caching.ask(SALARY, principal=replace(BEN, administrator=True))
    assert cache_of(caching).hits == 0


def test_no_change_of_a_document_or_a_right_can_serve_an_old_answer(
    caching: Desk, library: Path
) -> None:
    changes: tuple[Callable[[], object], ...] = (
        lambda: rewritten(library / "salaries.md", "last", "first"),
        lambda: rewritten(library / "salaries.md", "roles: [staff]", "roles: [board]"),
        lambda: rewritten(library / "salaries.md", "roles: [board]", "roles: [staff]"),
    )
    before = caching.ask(SALARY, principal=BEN)
    for change in changes:
        change()
        caching.ingest(library)
        after = caching.ask(SALARY, principal=BEN)
        assert after.text != before.text
        before = after
    caching.set_status("salaries", "archived")
    assert caching.ask(SALARY, principal=BEN).abstained
    caching.set_status("salaries", "current")
    assert not caching.ask(SALARY, principal=BEN).abstained
    caching.remove("salaries")
    assert caching.ask(SALARY, principal=BEN).abstained
    assert cache_of(caching).hits == 0
    assert "working day" not in repr(vars(cache_of(caching)))


def test_another_process_s_change_counts_too(caching: Desk, open_desk: OpenDesk) -> None:
    caching.ask(SALARY, principal=BEN)
    other = open_desk(ingest=False)
    other.remove("salaries")
    assert caching.ask(SALARY, principal=BEN).abstained


def test_a_failure_that_may_pass_is_not_kept(open_desk: OpenDesk) -> None:
    failed = RecordedGenerator({GIFT: Reply("", stop_reason=StopReason.TIMEOUT)})
    desk = open_desk(generation={"cached_answers": 8}, generator=failed)
    for _ in range(2):
        assert desk.ask(GIFT, principal=ANNA).reason.value == "timeout"
    assert (cache_of(desk).hits, len(cache_of(desk))) == (0, 0)


def rewritten(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


keys = st.builds(
    CacheKey,
    question=st.sampled_from(("a", "b")),
    access=st.builds(AccessFilter, roles=st.frozensets(st.sampled_from(("r", "s")))),
    revision=st.tuples(st.integers(1, 4), st.just(1)),
    settings=st.sampled_from(("x", "y")),
    model=st.just("m"),
)


@given(asked=st.lists(keys, max_size=30), size=st.integers(1, 3))
@settings(max_examples=50)
def test_a_cache_gives_what_was_put_under_the_very_key_and_no_more_than_its_size(
    asked: list[CacheKey], size: int
) -> None:
    cache: AnswerCache[CacheKey] = AnswerCache(size)
    for key in asked:
        found = cache.get(key)
        assert found in (None, key)
        assert all(kept.revision >= key.revision for kept in cache._kept)
        cache.put(key, key)
        assert len(cache) <= size
    assert cache.hits + cache.misses == len(asked)


def test_principals_differ_in_the_cache_only_by_rights() -> None:
    first, second = (AccessFilter.for_principal(Principal(subject=name)) for name in ("a", "b"))
    assert first == second
