"""Streams: nothing unverified is shown, and the last word is the one that would be said anyway."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evidencedesk import Desk, Principal
from evidencedesk.errors import CallCancelledError
from evidencedesk.generation.fallback import FallbackChain
from evidencedesk.model import (
    Answer,
    Reason,
    Reply,
    Request,
    StopReason,
    StreamBreak,
    StreamItem,
    Usage,
)
from evidencedesk.pipeline import AnswerEvent, ClaimEvent, RetrievedEvent, StreamEvent
from evidencedesk.pipeline.stream import BROKEN_OFF
from evidencedesk.settings import Settings
from evidencedesk.settings.table import EmbeddingTable, VerificationTable
from evidencedesk.testing.clock import SteppingClock

POLICY = """# Returns

New bikes can be returned within 30 days of delivery. Opened helmets cannot be returned.

Accessories can be returned within 14 days if unopened. The delivery fee is not refunded.
"""
QUESTION = "Within how many days can bikes be returned?"
STAFF = Principal(roles=frozenset({"staff"}))

GOOD_1 = ("New bikes can be returned within 30 days.", "New bikes can be returned within 30 days")
GOOD_2 = ("Opened helmets cannot be returned.", "Opened helmets cannot be returned.")
WRONG_NUMBER = (
    "New bikes can be returned within 60 days.",
    "be returned within 30 days of delivery",
)
INVENTED = ("Returns are free.", "all returns are free of charge")
MARKUP = (
    "See ![x](http://evil.example/?q) for returns.",
    "New bikes can be returned within 30 days",
)


def reply(*claims: tuple[str, str], source: str = "S1", **more: Any) -> str:
    listed = [
        {"text": text, "citations": [{"source": source, "quote": quote}]} for text, quote in claims
    ]
    return json.dumps({"insufficient": False, "claims": listed, **more})


class Scripted:
    """Says each script in turn, the last one for ever: whole, or a character at a time."""

    name = "scripted"

    def __init__(self, *scripts: str | Reply, breaks_after: int | None = None) -> None:
        self.scripts = [one if isinstance(one, Reply) else Reply(one) for one in scripts]
        self.requests: list[Request] = []
        self.open = 0
        self._breaks_after = breaks_after

    def _next(self, request: Request) -> Reply:
        script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
        self.requests.append(request)
        return Reply(script.text, script.stop_reason, self.name, "m", Usage(10, 5, 0.5))

    def generate(self, request: Request) -> Reply:
        return self._next(request)

    def stream(self, request: Request) -> Iterator[StreamItem]:
        whole = self._next(request)
        self.open += 1
        try:
            for index, character in enumerate(whole.text):
                if request.cancelled is not None and request.cancelled():
                    raise CallCancelledError("gone")
                if index == self._breaks_after:
                    yield Reply(
                        whole.text[:index], StopReason.ERROR, self.name, detail="it broke off"
                    )
                    return
                yield character
            yield whole
        finally:
            self.open -= 1


Open = Callable[..., Desk]


def settings(on_failure: str = "abstain") -> Settings:
    return Settings(
        embedding=EmbeddingTable(model="none"),
        verification=VerificationTable(on_failure=on_failure),  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stream")
    (folder / "returns.md").write_text(POLICY, "utf-8")
    with Desk.open(folder / "index", settings=settings(), clock=SteppingClock()) as desk:
        desk.ingest(folder / "returns.md", roles={"staff"})
    return folder / "index"


@pytest.fixture
def open_desk(index: Path) -> Iterator[Open]:
    made: list[Desk] = []

    def make(generator: object, on_failure: str = "abstain", path: Path = index) -> Desk:
        desk = Desk.open(
            path,
            settings=settings(on_failure),
            clock=SteppingClock(),
            generator=generator,  # type: ignore[arg-type]
        )
        made.append(desk)
        return desk

    yield make
    for desk in made:
        desk.close()


def streamed(desk: Desk) -> list[StreamEvent]:
    return list(desk.ask_stream(QUESTION, principal=STAFF, threshold=0.0))


def asked(desk: Desk) -> Answer:
    return desk.ask(QUESTION, principal=STAFF, threshold=0.0)


def comparable(answer: Answer) -> dict[str, Any]:
    shown = answer.to_json()
    del shown["answer_id"], shown["timing_ms"]
    return shown


REPLIES = {
    "good": reply(GOOD_1, GOOD_2),
    "one bad": reply(GOOD_1, WRONG_NUMBER),
    "bad first": reply(INVENTED, GOOD_1),
    "all bad": reply(INVENTED, WRONG_NUMBER),
    "unknown source": reply(GOOD_1, source="S9"),
    "markup": reply(GOOD_1, MARKUP),
    "insufficient": '{"insufficient": true, "claims": []}',
    "insufficient, yet claims": json.dumps(json.loads(reply(GOOD_1)) | {"insufficient": True}),
    "says so at the end": '{"claims": [], "insufficient": true}',
    "no claims": reply(),
    "no JSON": f"Sure! {reply(GOOD_1)}",
    "ends badly": reply(GOOD_1) + "]",
    "cut": reply(GOOD_1, GOOD_2)[:-20],
    "more keys": reply(GOOD_1, sure=True),
    "empty": "",
}


@pytest.mark.parametrize("on_failure", ["abstain", "trim", "repair"])
@pytest.mark.parametrize("text", REPLIES.values(), ids=REPLIES.keys())
@pytest.mark.parametrize("stop", [StopReason.END, StopReason.LENGTH, StopReason.REFUSED])
def test_the_last_event_is_the_answer_that_is_given_without_streaming(
    open_desk: Open, text: str, stop: StopReason, on_failure: str
) -> None:
    whole = Reply(text, stop)
    *_, last = streamed(open_desk(Scripted(whole), on_failure))
    assert isinstance(last, AnswerEvent)
    assert not last.broken_off
    assert comparable(last.answer) == comparable(asked(open_desk(Scripted(whole), on_failure)))


@pytest.mark.parametrize("text", REPLIES.values(), ids=REPLIES.keys())
def test_every_claim_that_is_shown_was_verified(open_desk: Open, text: str) -> None:
    first, *claims, _ = streamed(open_desk(Scripted(text)))
    assert isinstance(first, RetrievedEvent)
    assert first.retrieved
    for event in claims:
        assert isinstance(event, ClaimEvent)
        assert event.claim.text in {GOOD_1[0], GOOD_2[0]}
        assert [citation.document_id for citation in event.citations] == ["returns"]
        assert all(citation.quote in POLICY for citation in event.citations)
        assert event.to_json()["citations"]


def test_claims_come_before_the_reply_is_complete(open_desk: Open) -> None:
    generator = Scripted(reply(GOOD_1, GOOD_2))
    events = open_desk(generator).ask_stream(QUESTION, principal=STAFF, threshold=0.0)
    assert isinstance(next(events), RetrievedEvent)
    assert isinstance(next(events), ClaimEvent)
    assert generator.open == 1
    assert [type(event) for event in events] == [ClaimEvent, AnswerEvent]
    assert generator.open == 0


def test_a_stream_that_breaks_off_shows_what_was_verified_and_says_so(open_desk: Open) -> None:
    text = reply(GOOD_1, GOOD_2)
    desk = open_desk(Scripted(text, breaks_after=len(text) - 10))
    *before, last = streamed(desk)
    assert isinstance(last, AnswerEvent)
    assert [type(event) for event in before] == [RetrievedEvent, ClaimEvent]
    assert last.broken_off
    assert last.to_json()["broken_off"] is True
    answer = last.answer
    assert [claim.text for claim in answer.claims] == [GOOD_1[0]]
    assert answer.citations
    assert BROKEN_OFF in answer.note
    failed = [check for check in answer.checks if not check.passed]
    assert [(check.check, check.detail) for check in failed] == [("reply", "it broke off")]


def test_a_stream_that_breaks_off_before_anything_was_shown_is_an_abstention(
    open_desk: Open,
) -> None:
    *before, last = streamed(open_desk(Scripted(reply(GOOD_1), breaks_after=30)))
    assert isinstance(last, AnswerEvent)
    assert [type(event) for event in before] == [RetrievedEvent]
    assert (last.answer.abstained, last.answer.reason) == (True, Reason.MODEL_ERROR)
    assert not last.broken_off


def test_nothing_shown_yet_a_fallback_answers_and_is_named(open_desk: Open) -> None:
    chain = FallbackChain([Scripted(reply(GOOD_1), breaks_after=30), Scripted(reply(GOOD_2))])
    *before, last = streamed(open_desk(chain))
    assert isinstance(last, AnswerEvent)
    assert [type(event) for event in before] == [RetrievedEvent, ClaimEvent]
    assert last.answer.fallback_from == ("scripted",)
    assert [claim.text for claim in last.answer.claims] == [GOOD_2[0]]


def test_once_something_was_shown_no_other_generator_is_asked(open_desk: Open) -> None:
    text = reply(GOOD_1, GOOD_2)
    second = Scripted(reply(GOOD_2))
    chain = FallbackChain([Scripted(text, breaks_after=len(text) - 10), second])
    *_, last = streamed(open_desk(chain))
    assert isinstance(last, AnswerEvent)
    assert last.broken_off
    assert not second.requests
    assert [claim.text for claim in last.answer.claims] == [GOOD_1[0]]


def test_closing_the_events_ends_the_call(open_desk: Open) -> None:
    generator = Scripted(reply(GOOD_1, GOOD_2))
    events = open_desk(generator).ask_stream(QUESTION, principal=STAFF, threshold=0.0)
    assert isinstance(next(events), RetrievedEvent)
    assert isinstance(next(events), ClaimEvent)
    events.close()  # type: ignore[attr-defined]
    assert generator.open == 0


def test_an_asker_who_has_gone_ends_the_call(open_desk: Open) -> None:
    gone: list[bool] = []
    events = open_desk(Scripted(reply(GOOD_1, GOOD_2))).ask_stream(
        QUESTION, principal=STAFF, threshold=0.0, cancelled=lambda: bool(gone)
    )
    next(events)
    next(events)
    gone.append(True)
    with pytest.raises(CallCancelledError):
        next(events)


def test_whoever_may_see_nothing_is_told_nothing(open_desk: Open) -> None:
    generator = Scripted(reply(GOOD_1))
    nobody = Principal(roles=frozenset({"nobody"}))
    first, last = open_desk(generator).ask_stream(QUESTION, principal=nobody, threshold=0.0)
    assert isinstance(first, RetrievedEvent)
    assert isinstance(last, AnswerEvent)
    assert first.to_json() == {"retrieved": [], "confidence": 0.0}
    assert last.answer.reason is Reason.NO_EVIDENCE
    assert not generator.requests


def test_a_source_that_goes_while_a_reply_comes_is_not_shown(
    open_desk: Open, index: Path, tmp_path: Path
) -> None:
    path = shutil.copytree(index, tmp_path / "index")
    desk = open_desk(Scripted(reply(GOOD_1, GOOD_2)), path=path)
    events = desk.ask_stream(QUESTION, principal=STAFF, threshold=0.0)
    assert isinstance(next(events), RetrievedEvent)
    assert isinstance(next(events), ClaimEvent)
    desk.remove("returns")
    (last,) = events
    assert isinstance(last, AnswerEvent)
    assert last.answer.reason is Reason.SOURCE_CHANGED


def test_a_repair_is_asked_for_once_and_told_what_failed(open_desk: Open) -> None:
    generator = Scripted(reply(GOOD_1, WRONG_NUMBER), reply(GOOD_1))
    answer = asked(open_desk(generator, "repair"))
    assert [claim.text for claim in answer.claims] == [GOOD_1[0]]
    _, second = generator.requests
    assert "Claim 2: a number, date or unit" in second.prompt
    assert "Claim 1" not in second.prompt
    assert (answer.attempts, answer.usage) == (2, Usage(20, 10, 1.0))
    assert answer.checks[0].check == "repair"
    assert answer.checks[0].passed


def test_a_repair_that_fails_is_an_abstention(open_desk: Open) -> None:
    generator = Scripted("no JSON", reply(INVENTED))
    answer = asked(open_desk(generator, "repair"))
    assert (answer.abstained, answer.reason) == (True, Reason.QUOTE_NOT_FOUND)
    assert len(generator.requests) == 2
    assert not answer.checks[0].passed


@pytest.mark.parametrize("on_failure", ["abstain", "trim"])
def test_without_repair_a_model_is_asked_once(open_desk: Open, on_failure: str) -> None:
    generator = Scripted(reply(INVENTED))
    asked(open_desk(generator, on_failure))
    assert len(generator.requests) == 1


@pytest.mark.parametrize(
    "first", [reply(MARKUP), Reply("", StopReason.REFUSED), Reply("", StopReason.LENGTH)]
)
def test_what_a_repair_cannot_mend_is_not_asked_for(open_desk: Open, first: str | Reply) -> None:
    generator = Scripted(first)
    assert asked(open_desk(generator, "repair")).abstained
    assert len(generator.requests) == 1


class Restarting(Scripted):
    """Breaks once inside the adapter, as a provider's retry does."""

    def stream(self, request: Request) -> Iterator[StreamItem]:
        text = self._next(request).text
        yield text[:40]
        yield StreamBreak(Reply(text[:40], StopReason.ERROR))
        yield text
        yield Reply(text, generator=self.name)


def test_a_restart_forgets_the_half_that_came(open_desk: Open) -> None:
    *before, last = streamed(open_desk(Restarting(reply(GOOD_1))))
    assert isinstance(last, AnswerEvent)
    assert [type(event) for event in before] == [RetrievedEvent, ClaimEvent]
    assert not last.answer.abstained
