"""E-mail goes to a real mail server, encrypted and signed in, or waits."""

from __future__ import annotations

import email
import email.policy
from typing import Any

import pytest

from evidencedesk.access import Principal
from evidencedesk.adapters.notifiers.email import EmailConfiguration, EmailNotifier
from evidencedesk.desk import Desk
from evidencedesk.errors import SettingsError

ANNA = Principal(roles=frozenset({"everyone"}), subject="anna")
NONSENSE = "Which comet did the shop photograph?"
MAIL = {
    "email_to": ("care@example.org", "chief@example.org"),
    "email_from": "desk@example.org",
    "smtp_host": "localhost",
    "smtp_user": "desk",
}


def mailing(telling: Any, mailbox: Any, **other: Any) -> Desk:
    desk: Desk = telling(**{**MAIL, "smtp_port": mailbox.port, **other})
    return desk


def test_an_abstention_is_mailed_without_content(telling: Any, mailbox: Any) -> None:
    desk = mailing(telling, mailbox)
    answer = desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    ((sender, recipients, raw),) = mailbox.messages
    assert (sender, recipients) == ("desk@example.org", list(MAIL["email_to"]))
    message = email.message_from_string(raw, policy=email.policy.default)
    assert message["Subject"] == "EvidenceDesk: A question was not answered"
    assert message["Auto-Submitted"] == "auto-generated"
    assert answer.answer_id in message.get_content()
    assert "comet" not in raw
    assert desk.notifying.waiting() == ()


def test_a_question_is_text_in_the_body_whatever_it_holds(telling: Any, mailbox: Any) -> None:
    question = "Which comet?\nBcc: evil@example.org\r\n.\r\nMAIL FROM:<x> ধূমকেতু"
    desk = mailing(telling, mailbox, include=("question",))
    desk.ask(question, principal=ANNA)
    desk.close()
    ((_, recipients, raw),) = mailbox.messages
    assert recipients == list(MAIL["email_to"])
    message = email.message_from_string(raw, policy=email.policy.default)
    assert message["Bcc"] is None
    assert "ধূমকেতু" in message.get_content()
    assert "MAIL FROM:<x>" in message.get_content()


def test_a_mail_server_that_refuses_or_is_away_is_tried_again(telling: Any, mailbox: Any) -> None:
    mailbox.refuse = "451 try later"
    desk = mailing(telling, mailbox)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    (waiting,) = desk.notifying.waiting()
    assert waiting.failure == "The mail server answered 451."
    mailbox.refuse = ""
    assert desk.notifying.send() == (1, 0)
    assert len(mailbox.messages) == 1


@pytest.mark.parametrize(
    ("changed", "failure"),
    [
        ({"smtp_port": 1}, "ConnectionRefusedError"),
        ({"smtp_user": "somebody"}, "answered 535"),
        ({"ca_file": None}, "SSLCertVerificationError"),
        ({"smtp_security": "none", "smtp_user": None}, "answered 530"),
        ({"smtp_security": "tls"}, "SSLError"),
    ],
)
def test_nothing_is_mailed_in_a_way_that_was_not_agreed(
    telling: Any, mailbox: Any, changed: dict[str, Any], failure: str
) -> None:
    desk = mailing(telling, mailbox, **changed)
    assert desk.ask(NONSENSE, principal=ANNA).abstained
    desk.close()
    assert failure in desk.notifying.waiting()[0].failure
    assert mailbox.messages == []


def test_both_ways_are_independent(telling: Any, mailbox: Any, webhook: Any) -> None:
    webhook.status = 500
    desk = mailing(telling, mailbox, webhook_url=webhook.url)
    desk.ask(NONSENSE, principal=ANNA)
    desk.close()
    assert len(mailbox.messages) == len(webhook.requests) == 1
    assert [each.channel for each in desk.notifying.waiting()] == ["webhook"]


def test_a_test_message_says_which_way_works(telling: Any, mailbox: Any, webhook: Any) -> None:
    webhook.status = 403
    desk = mailing(telling, mailbox, webhook_url=webhook.url)
    outcomes = dict(desk.notifying.test())
    assert outcomes["email"] == ""
    assert "403" in outcomes["webhook"]


@pytest.mark.parametrize(
    "changed",
    [
        {"sender": "a@example.org\nBcc: b@example.org"},
        {"recipients": ("a@example.org\r\nX: y",)},
        {"user": "desk", "security": "none"},
        {"ca_file": "/nonexistent.pem"},
    ],
)
def test_mail_settings_that_cannot_be_meant_are_refused(changed: dict[str, Any]) -> None:
    usual = {"host": "localhost", "sender": "a@example.org", "recipients": ("b@example.org",)}
    with pytest.raises(SettingsError) as caught:
        EmailNotifier(EmailConfiguration(**{**usual, **changed}))
    assert caught.value.code == "bad_email"
