"""Grouping loses no question and puts none into two groups, whatever is asked."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.model.receipt import Receipt
from evidencedesk.records import gaps_of

WORDS = ["return", "returns", "bike", "helmet", "fee", "how", "long", "স্কুল", "退货", "?"]
QUESTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


def abstention(number: int, question: str) -> Receipt:
    at = f"2026-01-01T00:00:{number % 60:02}"
    record = {"abstained": True, "at": at}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Receipt("t", str(number), "s", now, "no_evidence", record, {"question": question})


@given(st.lists(QUESTIONS, max_size=25))
def test_every_question_is_in_one_group(questions: list[str]) -> None:
    receipts = [abstention(number, question) for number, question in enumerate(questions)]
    found = gaps_of(receipts, {}, languages=["en"]).groups
    assert sorted(name for gap in found for name in gap.answers) == sorted(
        map(str, range(len(questions)))
    )
    shown = [question for gap in found for question in gap.questions]
    assert sorted(shown) == sorted(set(questions))
    assert [gap.count for gap in found] == sorted((gap.count for gap in found), reverse=True)


def test_thousands_of_questions_are_grouped_in_seconds() -> None:
    receipts = [abstention(n, f"What about item{n} of shelf{n % 40}?") for n in range(3000)]
    started = time.process_time()
    assert len(gaps_of(receipts, {}, languages=["en"]).groups) > 1000
    assert time.process_time() - started < 10
