"""Retrieval that users of comparable products reported as poor; see docs/reported_problems.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evidencedesk import Desk, Principal, Settings

READER = Principal(roles=frozenset({"everyone"}))
TEXTS = {
    "zh": "新自行车可以在三十天内退货。头盔打开后不能退货。",
    "ja": "新しい自転車は三十日以内に返品できます。",
    "ko": "새 자전거는 삼십 일 안에 반품할 수 있습니다.",
    "th": "จักรยานใหม่คืนได้ภายในสามสิบวัน",
    "en": "New bikes can be returned within thirty days.",
}
QUESTIONS = {
    "zh": "自行车多少天内可以退货?",
    "ja": "自転車は何日以内に返品できますか。",
    "ko": "자전거 반품은 며칠 안에 하나요?",
    "th": "คืนจักรยานได้ภายในกี่วัน",
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    folder = tmp_path / "documents"
    folder.mkdir()
    for lang, text in TEXTS.items():
        head = f"---\nid: {lang}\nlang: {lang}\nroles: [everyone]\n---\n"
        (folder / f"{lang}.md").write_text(f"{head}{text}\n", "utf-8")
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(tmp_path / "index", settings=settings) as opened:
        opened.ingest(folder)
        yield opened


@pytest.mark.parametrize("lang", sorted(QUESTIONS))
def test_mem0_4884_text_without_spaces_is_found_by_its_words(desk: Desk, lang: str) -> None:
    hits = desk.search(QUESTIONS[lang], principal=READER)
    assert hits[0].chunk.document_id == lang
    assert all(hit.keyword_score > 0 for hit in hits)


@pytest.mark.parametrize(
    "question", ["船什么时候开?", "배는 언제 떠나요?", "When does the ferry leave?"]
)
def test_mem0_4884_what_shares_nothing_is_no_evidence(desk: Desk, question: str) -> None:
    answer = desk.ask(question, principal=READER, threshold=0.0)
    shown = {citation.document_id for citation in answer.citations}
    assert shown == set()
    assert all(hit.keyword_score > 0 for hit in desk.search(question, principal=READER))
    assert answer.abstained


def test_dify_41488_thresholds_of_nothing_less_and_none_are_three_things(desk: Desk) -> None:
    question = "When does the ferry to the new island leave?"
    by_default = desk.ask(question, principal=READER)
    assert by_default.abstained
    assert by_default.threshold > 0
    assert desk.ask(question, principal=READER, threshold=None).threshold == by_default.threshold
    for open_to_all in (0.0, -0.1):
        answer = desk.ask(question, principal=READER, threshold=open_to_all)
        assert (answer.threshold, answer.abstained) == (open_to_all, False)


def test_dify_35233_the_threshold_acts_on_the_score_that_is_shown(desk: Desk) -> None:
    question = "Within how many days can bikes be returned?"
    answer = desk.ask(question, principal=READER, threshold=0.0)
    assert not answer.abstained
    at, above = answer.confidence, min(1.0, answer.confidence + 1e-6)
    assert not desk.ask(question, principal=READER, threshold=at).abstained
    assert desk.ask(question, principal=READER, threshold=above).abstained
