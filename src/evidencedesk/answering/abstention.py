"""What an abstention says: one fixed text per reason, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evidencedesk.model import Reason

_NOT_VERIFIED = "An answer was drafted, but it did not pass verification"

_TEXTS: Mapping[Reason, tuple[str, str]] = MappingProxyType(
    {
        Reason.NO_EVIDENCE: (
            "I found nothing that answers this in the documents available to you.",
            "Try other words, or ask whoever maintains the documents.",
        ),
        Reason.MODEL_ABSTAINED: (
            "The documents found do not answer this.",
            "Try a narrower question, or ask whoever maintains the documents.",
        ),
        Reason.TRUNCATED: (
            "The answer was cut off before it was complete, so it is not shown.",
            "Ask for less at a time, or raise generation.max_output_tokens.",
        ),
        Reason.REFUSED: (
            "The model's provider declined to answer.",
            "Rephrase the question, or use another generator.",
        ),
        Reason.INVALID_JSON: (
            "The model's reply could not be read, so it is not shown.",
            "Ask again; if it happens often, use another generator.",
        ),
        Reason.INVALID_SCHEMA: (
            "The model's reply did not have the agreed form, so it is not shown.",
            "Ask again; if it happens often, use another generator.",
        ),
        Reason.UNKNOWN_CITATION: (
            f"{_NOT_VERIFIED}: it cites a source that was not given to it.",
            "Ask again, or look at the sources found.",
        ),
        Reason.SOURCE_CHANGED: (
            "A source changed while the answer was being written, so it is not shown.",
            "Ask again: the answer will be drawn from what is there now.",
        ),
        Reason.MISSING_CITATION: (
            f"{_NOT_VERIFIED}: a statement has no source.",
            "Ask again, or look at the sources found.",
        ),
        Reason.QUOTE_NOT_FOUND: (
            f"{_NOT_VERIFIED}: a quote does not stand in the source it names.",
            "Ask again, or look at the sources found.",
        ),
        Reason.QUOTE_TOO_WEAK: (
            f"{_NOT_VERIFIED}: a quote is too short to bear anything out.",
            "Ask again, or look at the sources found.",
        ),
        Reason.UNSUPPORTED_NUMBER: (
            f"{_NOT_VERIFIED}: a number, date or unit in it is not in its quotes.",
            "Ask again, or look at the sources found.",
        ),
        Reason.UNSUPPORTED_CLAIM: (
            f"{_NOT_VERIFIED}: a statement is not borne out by its quotes.",
            "Ask again, or look at the sources found.",
        ),
        Reason.UNSAFE_OUTPUT: (
            "The reply held something that is never shown: markup, a remote link or an image.",
            "Report it to whoever maintains the documents: a source may be trying to give orders.",
        ),
        Reason.TIMEOUT: (
            "The model did not answer in time.",
            "Ask again later, or raise generation.timeout_s.",
        ),
        Reason.MODEL_ERROR: (
            "The model could not be reached or failed.",
            "Ask again later; `evidencedesk doctor` says what is wrong.",
        ),
    }
)


def abstention_text(reason: Reason, contact: str = "") -> str:
    """The fixed text of an abstention: what happened, what to do, and whom to turn to.

    Args:
        reason: why nothing is claimed; any but ``ok`` and ``sources_conflict``.
        contact: person or address to turn to; empty for none.

    Raises:
        KeyError: the reason is one that comes with claims.
    """
    happened, advice = _TEXTS[reason]
    further = f" Contact: {contact}." if contact else ""
    return f"{happened} {advice}{further}"
