"""The sample corpora in both stores: the same questions get the same answers, labels and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from postgres_partitions import far_url_of, opened_far
from postgres_stores import url_of
from sample_corpora import (
    ADMIN_ROLE,
    CUSTOMER,
    OPERATOR,
    PARIS,
    SAMPLES,
    STAFF,
    STUDENT,
    questions_of,
)

from evidencedesk import Desk, Principal, Status
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.postgres_server import PostgresServer

READERS = (STUDENT, ADMIN_ROLE, CUSTOMER, STAFF, OPERATOR, Principal(tenant="other"))
DIFFERS = {"answer_id", "timing_ms"}

Pair = tuple[Desk, Desk]


def asked() -> list[tuple[str, Principal]]:
    """Every golden question, each of another reader in turn, and one that nothing answers."""
    questions = [
        str(each["question"]) for name in ("kestrel", "academy") for each in questions_of(name)
    ]
    return [
        (question, READERS[number % len(READERS)])
        for number, question in enumerate((*questions, PARIS))
    ]


@pytest.fixture(scope="module", params=["one server", "three servers"])
def pair(
    request: pytest.FixtureRequest,
    postgres_url: str,
    postgres_together: list[PostgresServer],
    minilm_directory: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("same")
    url = url_of(str(folder))
    if request.param == "three servers":
        url = far_url_of(str(folder))
        Desk.open(url, clock=SteppingClock(), create=True).close()
        opened_far(folder, clock=SteppingClock()).close()
    desks = tuple(
        Desk.open(where, clock=SteppingClock(), create=True)
        for where in (folder / "same.desk", url)
    )
    for desk in desks:
        report = desk.ingest(SAMPLES / "kestrel", SAMPLES / "academy", roles=None)
        assert report.failed == ()
    yield desks[0], desks[1]
    for desk in desks:
        desk.close()


def answer_of(desk: Desk, question: str, reader: Principal) -> dict[str, Any]:
    explained = desk.explain(question, principal=reader)
    answer = explained.answer.to_json()
    return {name: value for name, value in answer.items() if name not in DIFFERS} | {
        "prompt": explained.request.prompt if explained.request else None
    }


def test_both_hold_the_same_documents(pair: Pair) -> None:
    embedded, server = (
        [
            asdict(record) | {"ingested_at": None}
            for record in desk.documents(principal=OPERATOR, statuses=Status)
        ]
        for desk in pair
    )
    assert len(embedded) > 20
    assert embedded == server


def test_the_same_questions_get_the_same_answers_labels_and_reasons(pair: Pair) -> None:
    embedded, server = (
        [answer_of(desk, question, reader) for question, reader in asked()] for desk in pair
    )
    assert embedded == server
    reasons = {answer["reason"] for answer in embedded}
    assert {"ok", "no_evidence"} <= reasons


def test_the_same_searches_get_the_same_scores_to_the_bit(pair: Pair) -> None:
    for question, reader in asked()[::3]:
        embedded, server = (
            [asdict(hit) for hit in desk.search(question, principal=reader)] for desk in pair
        )
        assert embedded == server


def test_they_agree_after_rights_changed_and_documents_went(pair: Pair) -> None:
    for desk in pair:
        desk.set_status("kc-returns-v3", "archived")
        desk.remove("ac-refunds")
    questions = asked()[::4]
    embedded, server = (
        [answer_of(desk, question, reader) for question, reader in questions] for desk in pair
    )
    assert embedded == server
