"""``answers``, ``verify``, ``keys`` and ``doctor --audit`` as a person or a program types them."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

QUESTION = "How long do I have to return a new bike?"
ME = ("--as", "me@example.org")


@pytest.fixture
def answer(ready: Callable) -> str:
    """The id of an answer that is stored for ``me@example.org``."""
    asked = ready("ask", QUESTION, *ME, "--role", "everyone", "--json").json
    return asked["answer_id"]


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_list_shows_ones_own_answers_and_all_to_an_administrator(
    ready: Callable, answer: str
) -> None:
    own = ready("answers", "list", *ME, "--json").json["answers"]
    assert [(row["answer_id"], row["question"], row["reason"]) for row in own] == [
        (answer, QUESTION, "ok")
    ]
    assert ready("answers", "list", "--as", "you@example.org", "--json").json == {"answers": []}
    assert ready("answers", "list", "--administrator", "--json").json["answers"] == own
    shown = ready("answers", "list", *ME)
    assert answer in shown.out
    assert "There is no stored answer" in ready("answers", "list").err


def test_show_prints_the_receipt_and_hides_it_from_others(ready: Callable, answer: str) -> None:
    shown = ready("answers", "show", answer, *ME, "--role", "everyone").out
    for expected in (QUESTION, "within 30 days", "me@example.org", "position", "sha256:"):
        assert expected in shown
    there = ready("answers", "show", answer, "--as", "you@example.org", "--json")
    missing = ready("answers", "show", "x", "--as", "you@example.org", "--json")
    assert (there.code, missing.code) == (2, 2)
    assert there.err.replace(answer, "x") == missing.err
    without_role = ready("answers", "show", answer, *ME, "--role", "guest").out
    assert "source no longer available to you" in without_role
    assert "30 days" not in without_role


def test_recheck_and_replay_after_a_change(desk: Callable, tmp_path: Path) -> None:
    asked = desk("ask", QUESTION, *ME, "--role", "everyone", "--json").json
    answer = asked["answer_id"]
    assert desk("answers", "recheck", "--administrator").code == 0
    assert "Nothing changed." in desk("answers", "replay", answer, *ME, "--role", "everyone").out
    rewrite(tmp_path / "policies" / "returns.md", "30 days", "60 days")
    report = desk("ingest", "policies", "--json").json
    assert [each for each in report["warnings"] if "no longer hold" in each] != []
    ran = desk("answers", "recheck", "--administrator", "--json")
    assert ran.code == 1
    assert {each["lapse"] for each in ran.json["lapsed"]} == {"source_changed"}
    assert {each["document_id"] for each in ran.json["lapsed"]} == {"returns"}
    assert answer in desk("answers", "recheck", answer, *ME, "--role", "everyone").out
    replayed = desk("answers", "replay", answer, *ME, "--role", "everyone", "--json").json
    assert "text" in {each["what"] for each in replayed["differences"]}


def test_an_export_is_verified_offline_with_nothing_but_the_file(
    ready: Callable, answer: str, tmp_path: Path
) -> None:
    exported = ready(
        "answers", "export", answer, "answer.json", *ME, "--role", "everyone", "--json"
    ).json
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    script = (
        "import socket, sys\n"
        "def refused(*_): raise AssertionError('a connection was opened')\n"
        "socket.socket.connect = refused\n"
        "from evidencedesk.cli.app import run\n"
        "sys.exit(run(sys.argv[1:]))"
    )

    def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, "verify", str(tmp_path / "answer.json")]
        return subprocess.run(
            [*command, *arguments], cwd=empty, capture_output=True, text=True, check=False
        )

    plain = verify()
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "within 30 days" in plain.stdout
    assert plain.stdout.endswith("consistent in itself; origin not proven\n")
    proven = verify("--digest", exported["digest"])
    assert proven.stdout.endswith("origin proven by digest\n")
    rewrite(tmp_path / "answer.json", "within 30 days", "within 90 days")
    altered = verify("--json")
    assert altered.returncode == 1
    assert "content quote:0" in {each["where"] for each in json.loads(altered.stdout)["problems"]}


def test_a_signed_export_proves_its_origin(
    ready: Callable, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ready("keys", "init", "key.pem", "--json").json
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert ready("keys", "init", "key.pem", "--json").error["code"] == "key_exists"
    monkeypatch.setenv("EVIDENCEDESK_PRIVACY__SIGNING_KEY", str(tmp_path / "key.pem"))
    exported = ready("answers", "export", answer, "a.json", *ME, "--role", "everyone", "--json")
    assert exported.json["signed"] is True
    for key in (made["public"], made["public_key"]):
        assert "origin proven by public_key" in ready("verify", "a.json", "--public-key", key).out
    stranger = ready("keys", "init", "other.pem", "--json").json["public_key"]
    refused = ready("verify", "a.json", "--public-key", stranger)
    assert (refused.code, refused.out.splitlines()[-1]) == (1, "refused")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("verify", "nowhere.json"), "path_missing"),
        (("verify", "evidencedesk.toml", "--digest", "abc"), "bad_option"),
        (("verify", "evidencedesk.toml", "--public-key", "abc"), "bad_public_key"),
        (("answers", "erase"), "bad_option"),
        (("answers", "erase", "--subject", "a", "--document", "b"), "bad_option"),
        (("answers", "erase", "--subject", "nobody"), "not_found"),
        (("answers", "show", "nothing"), "not_found"),
        (("answers", "replay", "nothing", "--administrator"), "not_found"),
        (("answers", "recheck", "nothing", "--administrator"), "not_found"),
        (("answers", "export", "nothing", "x.json", "--administrator"), "not_found"),
    ],
)
def test_wrong_usage_is_said(ready: Callable, arguments: tuple[str, ...], code: str) -> None:
    ran = ready(*arguments, "--json")
    assert (ran.code, ran.error["code"]) == (2, code)


def test_a_file_that_is_no_export_is_refused(ready: Callable) -> None:
    ran = ready("verify", "evidencedesk.toml")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "refused")


def test_erasing_leaves_a_chain_that_the_doctor_confirms(ready: Callable, answer: str) -> None:
    before = ready("doctor", "--audit", "--json").json["findings"]
    assert [each["ok"] for each in before] == [True]
    noted = before[0]["message"].rpartition(" ")[2]
    assert ready("answers", "erase", "--document", "returns", "--json").json == {"receipts": 1}
    assert ready("answers", "erase", "--subject", ME[1], "--json").json == {"receipts": 1}
    assert ready("answers", "list", *ME, "--json").json == {"answers": []}
    assert ready("answers", "erase", "--older-than", "3").code == 0
    assert ready("doctor", "--audit", "--noted", noted).code == 0
    assert ready("doctor", "--audit", "--noted", "sha256:" + "0" * 64).code == 1
