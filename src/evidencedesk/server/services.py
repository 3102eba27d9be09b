"""What every route works with; made once per process and handed to each router."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from evidencedesk.desk import Desk
from evidencedesk.model import Answer
from evidencedesk.protocols import Clock
from evidencedesk.server.auth import Authenticator
from evidencedesk.server.identity import Identity
from evidencedesk.server.limits import Allowance, Turns
from evidencedesk.server.logs import Log, Pseudonyms
from evidencedesk.server.metrics import Metrics
from evidencedesk.server.oidc.provider import Provider
from evidencedesk.server.originals import Originals
from evidencedesk.server.state.store import ServerState
from evidencedesk.server.traces import NoTraces, Traces
from evidencedesk.settings import Settings
from evidencedesk.verification import INJECTION_SIGNALS


@dataclass(frozen=True, slots=True, eq=False)
class Services:
    """The parts of a running server.

    Attributes:
        settings: effective settings.
        desk: the desk; each of its methods is given the caller's principal.
        clock: where time comes from.
        new_secret: makes a random string that nobody can guess, of 256 bits.
        state: keys, sessions and uploads, shared by all worker processes.
        authenticator: every way in.
        requests: what each caller may ask for.
        tokens: what answers to each caller may cost.
        turns: how many answers are made side by side.
        searches: how many searches; they do not wait for a model.
        metrics: figures for Prometheus.
        log: where the server tells of itself.
        pseudonyms: names for callers in the log.
        originals: uploaded bytes.
        provider: who signs people in; None where nobody signs in.
        traces: where requests and answers leave their traces.
        job_arrived: set when an upload was taken.
        stopping: set when the process is about to end.
    """

    settings: Settings
    desk: Desk
    clock: Clock
    new_secret: Callable[[], str]
    state: ServerState
    authenticator: Authenticator
    requests: Allowance
    tokens: Allowance
    turns: Turns
    searches: Turns
    metrics: Metrics
    log: Log
    pseudonyms: Pseudonyms
    originals: Originals
    provider: Provider | None = None
    traces: Traces = field(default_factory=NoTraces)
    job_arrived: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    def observe_answer(self, answer: Answer, caller: Identity) -> None:
        """Count an answer, and charge its tokens to whoever asked.

        A reply that cites what it was not given, repeats the mark of its instructions or holds what
        is never shown may follow orders from a document; the security log tells of it.
        """
        self.metrics.answer(answer)
        self.traces.answer(answer)
        signals = {check.check for check in answer.checks if not check.passed} & INJECTION_SIGNALS
        if signals:
            self.log.warning(
                "injection_signal",
                checks=sorted(signals),
                answer=answer.answer_id,
                caller=self.pseudonyms.of(_name_of(caller)),
            )
        self.tokens.charge(
            caller.credential, answer.usage.input_tokens + answer.usage.output_tokens
        )

    def denied(self, code: str, route: str, caller: Identity | None) -> None:
        """Count and log a request that was refused at the door, without content."""
        self.metrics.denied(code)
        name = "" if caller is None else _name_of(caller)
        self.log.warning("denied", code=code, route=route, caller=self.pseudonyms.of(name))

    def close(self) -> None:
        """Release the desk and the server's own database."""
        if self.provider is not None:
            self.provider.close()
        self.traces.close()
        self.desk.close()
        self.state.close()


def _name_of(caller: Identity) -> str:
    return caller.principal.subject or caller.credential
