"""A question's way to an answer: authorise, retrieve, assemble, generate, verify, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from evidencedesk.access import DEFAULT_STATUSES, AccessFilter, Principal, Status
from evidencedesk.answering import OnFailure
from evidencedesk.generation.repair import Problem, is_repairable, repair_request
from evidencedesk.model import Check, Reason, Reply, Retrieval, Usage
from evidencedesk.pipeline.asking import (
    Answering,
    Asking,
    Explanation,
    Judged,
    Prompted,
    begin,
    check_question,
    find,
)
from evidencedesk.protocols import Judge


def answer_question(
    question: str,
    answering: Answering,
    *,
    principal: Principal,
    statuses: Iterable[Status] = DEFAULT_STATUSES,
    cancelled: Callable[[], bool] | None = None,
) -> Explanation:
    """Answer from what ``principal`` may see, or abstain with the reason.

    The index is read twice: once for evidence, and again after generation, so that a source that
    was changed, removed or closed meanwhile is not cited.

    Args:
        question: the question.
        answering: what answers it.
        principal: who asks.
        statuses: statuses of documents looked at.
        cancelled: asked again and again while a model is called; true stops the call.

    Raises:
        QuestionError: ``empty_question`` or ``question_too_long``.
        IndexingError: the index cannot be read; there is never an answer without it.
        CallCancelledError: ``cancelled`` said so.
    """
    asking = begin(question, answering, principal=principal, statuses=statuses, cancelled=cancelled)
    if asking.prompted is None:
        return asking.abstained()
    reply = answering.generator.generate(asking.prompted.request)
    return settle(asking, asking.prompted, reply, answering.judge)


def settle(asking: Asking, prompted: Prompted, reply: Reply, judge: Judge | None) -> Explanation:
    """What comes of a reply, and of the one repair that ``on_failure`` may allow."""
    asking.watch.lap("generate")
    judged = asking.judged(reply, prompted, judge)
    if asking.answering.on_failure is OnFailure.REPAIR and is_repairable(judged.reason):
        judged = _repaired(asking, prompted, judged, judge)
    return asking.concluded(judged, prompted)


def _repaired(asking: Asking, prompted: Prompted, first: Judged, judge: Judge | None) -> Judged:
    """The second reply, judged; it carries the attempts, tokens and cost of both."""
    request = repair_request(prompted.request, first.reply, _problems(first))
    reply = asking.answering.generator.generate(request)
    asking.watch.lap("repair")
    second = asking.judged(reply, prompted, judge)
    passed = second.reason is Reason.OK
    check = Check("repair", None, passed, f"asked once more, because of {first.reason.value}")
    return replace(second, reply=_both(first.reply, reply), checks=(check, *second.checks))


def _problems(judged: Judged) -> list[Problem]:
    if judged.verdict is None or not judged.verdict.claims:
        return [Problem(None, judged.reason)]
    return [
        Problem(number, claim.reason)
        for number, claim in enumerate(judged.verdict.claims, start=1)
        if claim.reason is not Reason.OK
    ]


def _both(first: Reply, second: Reply) -> Reply:
    return replace(
        second,
        attempts=first.attempts + second.attempts,
        usage=Usage(
            first.usage.input_tokens + second.usage.input_tokens,
            first.usage.output_tokens + second.usage.output_tokens,
            first.usage.cost_usd + second.usage.cost_usd,
        ),
    )


def search(
    query: str,
    answering: Answering,
    *,
    principal: Principal,
    statuses: Iterable[Status] = DEFAULT_STATUSES,
    k: int | None = None,
) -> Retrieval:
    """Retrieval alone: floors apply, the threshold does not.

    Raises:
        QuestionError: ``empty_question`` or ``question_too_long``.
        IndexingError: the index cannot be read.
    """
    text = check_question(query, answering.max_question_chars)
    access = AccessFilter.for_principal(principal, statuses)
    with answering.store.read(access=access) as snapshot:
        return find(text, snapshot, answering, k=k)
