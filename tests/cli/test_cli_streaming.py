"""On a terminal an answer is printed while it is written, by a real process behind a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evidencedesk.testing.provider import Behaviour, MisbehavingProvider, misbehaving_provider

QUESTION = "How long do I have to return a new bike?"
FIRST = "You can return a new bike within 30 days of delivery for a full refund."
SECOND = "The bike must be in its original box."
INVENTED = "The bike must be in its original box for 99 years."


def reply(*claims: tuple[str, str]) -> str:
    return json.dumps(
        {
            "insufficient": False,
            "claims": [
                {"text": text, "citations": [{"source": "S1", "quote": quote}]}
                for text, quote in claims
            ],
        }
    )


@pytest.fixture
def provider() -> Iterator[MisbehavingProvider]:
    with misbehaving_provider() as running:
        yield running


class Watched:
    """A command behind a terminal: what it printed so far, and when each text was first there."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
        ours, theirs = pty.openpty()
        self._ours = ours
        self.process = subprocess.Popen(
            [sys.executable, "-m", "evidencedesk", *arguments],
            cwd=folder,
            env={**environment, "TERM": "dumb", "COLUMNS": "200"},
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=subprocess.PIPE,
        )
        os.close(theirs)
        self.text = ""
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._ours, 4096)
            except OSError:
                return
            if not piece:
                return
            self.text += re.sub(r"\x1b\[[0-9;]*m", "", piece.decode("utf-8")).replace("\r\n", "\n")

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 20
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            time.sleep(0.005)

    def end(self) -> str:
        _, errors = self.process.communicate(timeout=30)
        self._thread.join(10)
        os.close(self._ours)
        assert self.process.returncode == 0, errors
        return self.text


@pytest.fixture
def watched(
    ready: Callable, tmp_path: Path, environment: dict[str, str], provider: MisbehavingProvider
) -> Callable[..., Watched]:
    model = {
        "EVIDENCEDESK_GENERATION__GENERATOR": "openai",
        "EVIDENCEDESK_GENERATION__MODEL": "tiny",
        "EVIDENCEDESK_GENERATION__BASE_URL": provider.openai_url,
        "EVIDENCEDESK_GENERATION__REWRITING": "rules",
    }

    def call(*arguments: str) -> Watched:
        return Watched(list(arguments), tmp_path, environment | model)

    return call


def test_a_claim_is_seen_before_the_reply_is_whole(
    watched: Callable[..., Watched], provider: MisbehavingProvider
) -> None:
    provider.then(Behaviour(text=reply((FIRST, FIRST), (SECOND, SECOND)), pause_s=0.08))
    asked = watched("ask", QUESTION)
    asked.wait_for(f"{FIRST} [1]\n")
    seen = time.monotonic()
    assert SECOND not in asked.text
    text = asked.end()
    assert time.monotonic() - seen > 0.3, "the first claim came with the whole reply"
    assert text.index(f"{SECOND} [2]") < text.index("[1] Returns policy")
    assert text.count(FIRST) == 2, "once as the claim, once as its quote"
    assert "taken back" not in text


def test_what_does_not_hold_in_the_end_is_taken_back(
    watched: Callable[..., Watched], provider: MisbehavingProvider
) -> None:
    provider.then(Behaviour(text=reply((FIRST, FIRST), (INVENTED, SECOND))))
    text = watched("ask", QUESTION).end()
    assert INVENTED not in text
    assert text.index(f"{FIRST} [1]") < text.index("What is above is taken back.")
    assert "unsupported_number" in text


def test_a_conversation_is_streamed_too(
    watched: Callable[..., Watched], provider: MisbehavingProvider
) -> None:
    helmets = "Opened helmets cannot be returned."
    provider.then(Behaviour(text=reply((FIRST, FIRST))), Behaviour(text=reply((helmets, helmets))))
    chat = watched("chat")
    assert chat.process.stdin is not None
    chat.process.stdin.write(f"{QUESTION}\n".encode())
    chat.process.stdin.flush()
    chat.wait_for(f"{FIRST} [1]")
    chat.process.stdin.write(b"And opened helmets?\n")
    text = chat.end()
    assert text.index("Asked as: How long do I have to return opened helmets?") < text.index(
        f"{helmets} [1]"
    )


def test_what_is_piped_is_printed_as_a_whole(
    watched: Callable[..., Watched], provider: MisbehavingProvider, process: Callable
) -> None:
    provider.then(Behaviour(text=reply((FIRST, FIRST), (INVENTED, SECOND))))
    ran = process(
        "ask",
        QUESTION,
        EVIDENCEDESK_GENERATION__GENERATOR="openai",
        EVIDENCEDESK_GENERATION__MODEL="tiny",
        EVIDENCEDESK_GENERATION__BASE_URL=provider.openai_url,
    )
    assert ran.code == 0
    assert FIRST not in ran.out
