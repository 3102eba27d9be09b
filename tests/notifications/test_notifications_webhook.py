"""A webhook is signed, goes where it is allowed to, and never holds an answer up."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evidencedesk.access import Principal
from evidencedesk.adapters.notifiers.addresses import addresses_of
from evidencedesk.adapters.notifiers.webhook import WebhookConfiguration, WebhookNotifier
from evidencedesk.desk import Desk
from evidencedesk.errors import NotificationError, SettingsError
from evidencedesk.testing.clock import SteppingClock

ANNA = Principal(roles=frozenset({"everyone"}), subject="anna")
CHIEF = Principal(subject="chief", administrator=True)
NONSENSE = "Which comet did the shop photograph?"
RETURN = "How long do I have to return a new bike?"
SECRET = "a shared secret"


def sent(webhook: Any, desk: Desk) -> list[dict[str, Any]]:
    """What the webhook was posted, once the desk has sent what it has to."""
    desk.close()
    return [json.loads(body) for _, _, body in webhook.requests]


def test_an_abstention_is_posted_with_ids_only_and_signed(telling: Any, webhook: Any) -> None:
    desk = telling(webhook_url=webhook.url)
    answer = desk.ask(NONSENSE, principal=ANNA)
    (body,) = sent(webhook, desk)
    assert body == {
        "id": body["id"],
        "event": "abstained",
        "at": "2026-03-02T09:00:00.000000+00:00",
        "tenant": "default",
        "answer_id": answer.answer_id,
        "reason": "no_evidence",
    }
    ((path, headers, raw),) = webhook.requests
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + raw
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(expected).decode()
    assert headers["webhook-timestamp"] == "1772442000"
    assert (path, headers["webhook-id"]) == ("/hook?desk=1", body["id"])
    assert desk.doctor()[-1].ok


def test_what_is_answered_and_a_service_that_is_down_tell_nobody(
    telling: Any, webhook: Any
) -> None:
    desk = telling(webhook_url=webhook.url)
    assert not desk.ask(RETURN, principal=ANNA).abstained
    assert sent(webhook, desk) == []


def test_content_leaves_only_where_it_is_switched_on(telling: Any, webhook: Any) -> None:
    include = ("question", "answer", "quotes", "note")
    desk = telling(webhook_url=webhook.url, include=include)
    answer = desk.ask(RETURN, principal=ANNA)
    desk.feedback(answer.answer_id, "wrong", principal=ANNA, note="It says 14 days on the slip.")
    desk.feedback(answer.answer_id, "useful", principal=CHIEF, note="not to be told")
    (body,) = sent(webhook, desk)
    assert (body["event"], body["verdict"]) == ("feedback", "wrong")
    assert (body["question"], body["answer"]) == (RETURN, answer.text)
    assert body["quotes"] == [citation.quote for citation in answer.citations]
    assert body["note"] == "It says 14 days on the slip."


def test_what_is_not_recorded_or_erased_does_not_leave(telling: Any, webhook: Any) -> None:
    include = ("question", "answer", "quotes", "note")
    desk = telling(webhook_url=webhook.url, include=include, privacy={"record_content": False})
    answer = desk.ask(RETURN, principal=ANNA)
    desk.feedback(answer.answer_id, "wrong", principal=ANNA, note="a note")
    (body,) = sent(webhook, desk)
    assert (body["question"], body["answer"], body["quotes"]) == (None, None, [])
    assert "note" not in body or body["note"] is None


def test_answers_that_no_longer_hold_are_listed_after_an_ingestion(
    telling: Any, webhook: Any, tmp_path: Path
) -> None:
    desk = telling(webhook_url=webhook.url)
    answer = desk.ask(RETURN, principal=ANNA)
    policy = tmp_path / "policies" / "returns.md"
    policy.write_text(policy.read_text("utf-8").replace("30 days", "60 days"), "utf-8")
    assert any("no longer holds" in warning for warning in desk.ingest(policy).warnings)
    (body,) = sent(webhook, desk)
    assert (body["event"], body["answers"]) == ("lapsed", 1)
    assert body["lapsed"] == [
        {
            "answer_id": answer.answer_id,
            "citation": 0,
            "document_id": "returns",
            "lapse": "source_changed",
        }
    ]


def test_an_abstention_names_whom_to_turn_to(telling: Any) -> None:
    desk = telling(contact="care@example.org")
    assert "Contact: care@example.org." in desk.ask(NONSENSE, principal=ANNA).text
    *_, last = desk.ask_stream(NONSENSE, principal=ANNA)
    assert "Contact: care@example.org." in last.answer.text
    assert "care@example.org" not in desk.ask(RETURN, principal=ANNA).text


def test_what_is_only_tried_out_tells_nobody_and_a_stream_does(telling: Any, webhook: Any) -> None:
    desk = telling(webhook_url=webhook.url)
    desk.unrecorded().ask(NONSENSE, principal=ANNA)
    *_, last = desk.ask_stream(NONSENSE, principal=ANNA)
    (body,) = sent(webhook, desk)
    assert body["answer_id"] == last.answer.answer_id


def test_an_erased_question_does_not_leave_with_a_notice_that_waited(
    telling: Any, webhook: Any
) -> None:
    webhook.status = 500
    desk = telling(webhook_url=webhook.url, include=("question",))
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    desk.answers.erase_subject("anna", tenant="default")
    webhook.status = 200
    assert desk.notifying.send() == (1, 0)
    first, second = (json.loads(body) for _, _, body in webhook.requests)
    assert (first["question"], second["question"]) == (NONSENSE, None)


def test_events_that_are_not_wanted_are_not_told(telling: Any, webhook: Any) -> None:
    desk = telling(webhook_url=webhook.url, events=("feedback",))
    desk.ask(NONSENSE, principal=ANNA)
    assert sent(webhook, desk) == []


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_notice_that_is_not_taken_is_kept_tried_again_and_listed(
    telling: Any, webhook: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    webhook.status, webhook.location = status, "https://127.0.0.1:1/elsewhere"
    desk = telling(webhook_url=webhook.url, include=("question",))
    with caplog.at_level(logging.WARNING, "evidencedesk.notifications"):
        assert desk.ask(NONSENSE, principal=ANNA).abstained
        desk.close()
    (waiting,) = desk.notifying.waiting()
    assert waiting.failure == f"The webhook answered {status}."
    assert (waiting.attempts, waiting.due - desk._clock.now()) == (1, timedelta(minutes=1))
    assert len(webhook.requests) == 1
    assert f"answered {status}" in caplog.text
    assert NONSENSE not in caplog.text
    assert "1 notice could not be sent (0 given up)" in str(desk.doctor())
    webhook.status = 204
    assert desk.notifying.send() == (1, 0)
    assert desk.notifying.waiting() == ()
    first, second = webhook.requests
    assert first[1]["webhook-id"] == second[1]["webhook-id"]


def test_attempts_wait_longer_each_time_and_end(telling: Any, webhook: Any) -> None:
    webhook.status = 500
    desk = telling(webhook_url=webhook.url, max_attempts=3)
    assert isinstance(desk._clock, SteppingClock)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    courier = desk.notifying._made()
    waits = []
    for _ in range(2):
        (waiting,) = desk.notifying.waiting()
        waits.append(waiting.due - desk._clock.now())
        assert courier.send() == (0, 0)
        desk._clock.move(waits[-1])
        assert courier.send() == (0, 1)
    assert waits == [timedelta(minutes=1), timedelta(minutes=4)]
    desk._clock.move(timedelta(days=3650))
    assert courier.send() == (0, 0)
    assert "(1 given up)" in str(desk.doctor())
    webhook.status = 200
    assert desk.notifying.send() == (1, 0)


def test_a_receiver_that_never_answers_holds_no_answer_up(telling: Any, webhook: Any) -> None:
    webhook.hold = threading.Event()
    desk = telling(webhook_url=webhook.url, timeout_s=1.0)
    desk.ask(RETURN, principal=ANNA)
    started = time.perf_counter()
    desk.ask(NONSENSE, principal=ANNA)
    assert webhook.arrived.wait(5)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    assert time.perf_counter() - started < 8, "the receiver would hold for ten seconds"
    waiting = desk.notifying.waiting()
    assert len(waiting) == 2
    assert "The webhook failed: TimeoutError." in {each.failure for each in waiting}


def test_a_process_that_lasts_sends_what_another_left(telling: Any, webhook: Any) -> None:
    webhook.status = 500
    desk = telling(webhook_url=webhook.url)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    webhook.status = 200
    desk._clock.move(timedelta(minutes=1))
    desk.notifying.start()
    desk.close()
    assert desk.notifying.waiting() == ()
    assert len(webhook.requests) == 2


def test_two_processes_do_not_send_the_same_notice(telling: Any, webhook: Any) -> None:
    webhook.status = 500
    desk = telling(webhook_url=webhook.url)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    (waiting,) = desk.notifying.waiting()
    outbox = desk._index.store().outbox()
    assert outbox.lease(waiting, desk._clock.now())
    assert not outbox.lease(waiting, desk._clock.now())


def test_an_answer_comes_although_nobody_can_be_told(telling: Any, monkeypatch: Any) -> None:
    desk = telling(webhook_url="https://localhost:1/", webhook_secret_env="NOT_SET")
    assert desk.ask(NONSENSE, principal=ANNA).abstained
    assert "NOT_SET" in str(desk.doctor())


PRIVATE = ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1"]
EMBEDDED = ["fe80::1", "fc00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::a00:1", "ff02::1"]


@pytest.mark.parametrize("address", [*PRIVATE, *EMBEDDED])
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    with pytest.raises(NotificationError) as caught:
        addresses_of(address, 443, allow_private=False)
    assert caught.value.code == "address_private"
    assert addresses_of(address, 443, allow_private=True) == (address,)


def test_a_public_address_is_taken_as_it_is() -> None:
    assert addresses_of("1.1.1.1", 443, allow_private=False) == ("1.1.1.1",)


def test_no_connection_is_made_to_a_private_address_unless_allowed(
    telling: Any, webhook: Any
) -> None:
    desk = telling(webhook_url=webhook.url, allow_private=False)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    (waiting,) = desk.notifying.waiting()
    assert "not public" in waiting.failure
    assert webhook.requests == []


@pytest.mark.parametrize("name", ["localhost", "127.1", "0x7f000001", "2130706433", "[::1]"])
def test_other_spellings_of_loopback_are_found_out(name: str) -> None:
    with pytest.raises(NotificationError) as caught:
        addresses_of(name.strip("[]"), 443, allow_private=False)
    assert caught.value.code in {"address_private", "address_unknown"}


def made(url: str = "https://example.org/", **other: Any) -> WebhookNotifier:
    configuration = WebhookConfiguration(**{"url": url, "secret": SECRET, **other})
    return WebhookNotifier(configuration, SteppingClock())


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("http://example.org/", {}),
        ("ftp://example.org/", {"allow_private": True}),
        ("https://name:word@example.org/", {}),
        ("https://example.org/a b", {}),
        ("https://example.org/\r\nHost: evil", {}),
        ("https://", {}),
        ("https://example.org:99999/", {}),
        ("https://[::1/", {}),
        ("https://example.org/", {"secret": "whsec_not base64!"}),
        ("https://example.org/", {"secret": ""}),
    ],
)
def test_a_webhook_that_cannot_be_meant_is_refused(url: str, other: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        made(url, **other)
    assert caught.value.code == "bad_webhook"


def test_the_secret_is_in_no_representation() -> None:
    configuration = WebhookConfiguration("https://example.org/", SECRET)
    assert SECRET not in repr(configuration)


def test_a_certificate_for_somebody_else_is_refused(telling: Any, webhook: Any) -> None:
    desk = telling(webhook_url=webhook.url, ca_file=None)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    assert "SSLCertVerificationError" in desk.notifying.waiting()[0].failure
    assert webhook.requests == []


def test_a_receiver_that_does_not_speak_http_or_drips_is_given_up_in_time(telling: Any) -> None:
    def drip(connection: socket.socket) -> None:
        for _ in range(40):
            try:
                connection.sendall(b"x")
            except OSError:
                return
            time.sleep(0.05)

    def talk(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"220 mail.example.org ESMTP\r\n")

    for behaviour, failure in ((drip, "TimeoutError"), (talk, "not HTTP")):
        with listening(behaviour) as port:
            notifier = made(f"http://127.0.0.1:{port}/", allow_private=True, timeout_s=0.4)
            started = time.perf_counter()
            with pytest.raises(NotificationError, match=failure):
                notifier._post(b"{}", {})
            assert time.perf_counter() - started < 1.5


class listening:  # noqa: N801 - a context manager
    """One connection on loopback, treated by ``behaviour``."""

    def __init__(self, behaviour: Callable[[socket.socket], None]) -> None:
        self._behaviour = behaviour
        self._server = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._take)

    def __enter__(self) -> int:
        self._thread.start()
        return int(self._server.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._server.close()

    def _take(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            self._behaviour(connection)
