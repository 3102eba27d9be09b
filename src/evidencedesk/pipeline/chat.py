"""A turn of a conversation: the question made to stand alone, then asked like any other.

Nothing of earlier turns is evidence: not their answers, not their sources. Only what the reader asked
before is looked at, to fill in what the new question leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from evidencedesk.access import DEFAULT_STATUSES, AccessFilter, Principal, Status
from evidencedesk.generation.rewriting import standalone
from evidencedesk.generation.rewriting_request import read_rewriting, rewriting_request
from evidencedesk.model import Answer, Citation, Claim, Usage
from evidencedesk.model.conversation import RewrittenBy, Turn
from evidencedesk.pipeline.asking import Answering, check_question
from evidencedesk.protocols import Generator, Snapshot, Store
from evidencedesk.text.folding import fold_text

WITHHELD = "A source of this answer has changed or is no longer available to you."


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question as it is asked without its conversation.

    Attributes:
        text: the question.
        by: who filled in what was left out.
        usage: what a model's rewriting took.
    """

    text: str
    by: RewrittenBy
    usage: Usage = field(default_factory=Usage)


def stand_alone(
    question: str,
    earlier: Sequence[str],
    answering: Answering,
    *,
    rewriter: Generator | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Standalone:
    """``question`` as it would be asked without the conversation.

    Args:
        question: what was asked last.
        earlier: what was asked before, oldest first, as typed.
        answering: its limits hold here, too.
        rewriter: a model that is asked first; rules do it without one, or when its reply will not do.
        cancelled: asked again and again while a model is called; true stops the call.

    Raises:
        QuestionError: ``empty_question`` or ``question_too_long``.
        CallCancelledError: ``cancelled`` said so.
    """
    text = check_question(question, answering.max_question_chars)
    if not earlier:
        return Standalone(text, "nobody")
    usage = Usage()
    if rewriter is not None:
        canary = answering.new_canary()
        request = rewriting_request(text, earlier, canary=canary)
        reply = rewriter.generate(replace(request, cancelled=cancelled))
        usage = reply.usage
        rewritten = read_rewriting(
            reply, text, earlier, canary=canary, max_chars=answering.max_question_chars
        )
        if rewritten is not None:
            return Standalone(rewritten, "nobody" if rewritten == text else "model", usage)
    asked = standalone(text, earlier, answering.max_question_chars)
    return Standalone(asked, "nobody" if asked == text else "rules", usage)


def turn_of(question: str, asked: Standalone, answer: Answer) -> Turn:
    """The turn in which ``question`` was asked as ``asked``; the answer carries what both took."""
    usage = Usage(
        asked.usage.input_tokens + answer.usage.input_tokens,
        asked.usage.output_tokens + answer.usage.output_tokens,
        asked.usage.cost_usd + answer.usage.cost_usd,
    )
    return Turn(question.strip(), asked.text, asked.by, replace(answer, usage=usage))


def recall(
    turns: Sequence[Turn],
    store: Store,
    *,
    principal: Principal,
    statuses: Iterable[Status] = DEFAULT_STATUSES,
) -> tuple[Turn, ...]:
    """Earlier turns as this reader may see them now.

    A statement is shown again only while every one of its quotes stands where it stood, in a source
    that the reader may still see. An answer that lost statements says so.

    Raises:
        IndexingError: the index cannot be read.
    """
    with store.read(access=AccessFilter.for_principal(principal, statuses)) as snapshot:
        return tuple(replace(turn, answer=_as_of_now(turn.answer, snapshot)) for turn in turns)


def _as_of_now(answer: Answer, snapshot: Snapshot) -> Answer:
    stands = {index for index, one in enumerate(answer.citations) if _still_stands(one, snapshot)}
    claims = [claim for claim in answer.claims if stands.issuperset(claim.citations)]
    used = sorted({index for claim in claims for index in claim.citations})
    places = {index: place for place, index in enumerate(used)}
    shown = replace(
        answer,
        claims=tuple(_moved(claim, places) for claim in claims),
        citations=tuple(_visible(answer.citations[index], snapshot) for index in used),
        retrieved=tuple(one for one in answer.retrieved if snapshot.chunk(one.chunk_id)),
        dropped_claims=(),
        checks=(),
    )
    if len(claims) == len(answer.claims):
        return shown
    return replace(shown, text=" ".join(claim.text for claim in claims), note=WITHHELD)


def _still_stands(citation: Citation, snapshot: Snapshot) -> bool:
    chunk = snapshot.chunk(citation.chunk_id)
    return (
        chunk is not None
        and chunk.content_hash == citation.content_hash
        and fold_text(citation.quote) in fold_text(chunk.text)
    )


def _visible(citation: Citation, snapshot: Snapshot) -> Citation:
    """The citation without the other documents that the reader may not see any more."""
    also_in = (other for other in citation.also_in if snapshot.document(other) is not None)
    return replace(citation, also_in=tuple(also_in))


def _moved(claim: Claim, places: dict[int, int]) -> Claim:
    return replace(claim, citations=tuple(places[index] for index in claim.citations))
