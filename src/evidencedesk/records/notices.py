"""What leaves in a notice: ids, and of the content only what the operator lets out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from evidencedesk.model import Reason
from evidencedesk.model.feedback import Feedback
from evidencedesk.model.notice import (
    MOST_LAPSED,
    LapsedCitation,
    Message,
    Notice,
    NoticeEvent,
)
from evidencedesk.model.receipt import Receipt, utc_text
from evidencedesk.records.gaps import PASSING
from evidencedesk.records.recheck import Lapsed

Content = Literal["question", "answer", "quotes", "note"]

_SUBJECTS = {
    NoticeEvent.ABSTAINED: "A question was not answered",
    NoticeEvent.FEEDBACK: "A reader is not content with an answer",
    NoticeEvent.LAPSED: "Stored answers no longer hold",
}
_SHOWN_IN_TEXT = 50


def concerns_documents(reason: Reason) -> bool:
    """Whether an abstention says something of the documents, and not of a service that is down."""
    return reason not in PASSING


def lapsed_citations(lapsed: Sequence[Lapsed]) -> tuple[tuple[LapsedCitation, ...], int]:
    """What a notice lists of them, and how many answers they are."""
    listed = tuple(
        LapsedCitation(each.answer_id, each.citation, each.document_id, each.lapse.value)
        for each in lapsed[:MOST_LAPSED]
    )
    return listed, len({each.answer_id for each in lapsed})


def message_of(
    notice: Notice,
    receipt: Receipt | None,
    feedback: Iterable[Feedback],
    include: Collection[Content],
) -> Message:
    """The notice as it leaves.

    Args:
        notice: what happened.
        receipt: the receipt of its answer as it is now, None when there is none (any more).
        feedback: what readers say of that answer now.
        include: which content may leave; none of it does otherwise.
    """
    payload: dict[str, Any] = {
        "id": notice.id,
        "event": notice.event.value,
        "at": utc_text(notice.at),
        "tenant": notice.tenant,
        **_about(notice),
    }
    if receipt is not None:
        payload |= _content(receipt, include)
    if "note" in include and notice.event is NoticeEvent.FEEDBACK:
        notes = (each.note for each in feedback if each.subject == notice.subject)
        payload["note"] = next(notes, "") or None
    subject = f"EvidenceDesk: {_SUBJECTS[notice.event]}"
    return Message(notice.id, notice.at, _sendable(payload), subject, _text(payload))


def _about(notice: Notice) -> dict[str, Any]:
    if notice.event is NoticeEvent.LAPSED:
        return {
            "answers": notice.answers,
            "lapsed": [
                {
                    "answer_id": each.answer_id,
                    "citation": each.citation,
                    "document_id": each.document_id,
                    "lapse": each.lapse,
                }
                for each in notice.lapsed
            ],
        }
    name = "verdict" if notice.event is NoticeEvent.FEEDBACK else "reason"
    return {"answer_id": notice.answer_id, name: notice.verdict}


def _content(receipt: Receipt, include: Collection[Content]) -> dict[str, Any]:
    """Content of the receipt by name; null where it was not recorded or is erased."""
    content, record = receipt.content, receipt.record
    found: dict[str, Any] = {}
    if "question" in include:
        found["question"] = content.get("question")
    if "answer" in include:
        claims = [content.get(f"claim:{number}") for number in range(len(record["claims"]))]
        whole = content.get("text") if record["abstained"] else " ".join(filter(None, claims))
        found["answer"] = whole or None
    if "quotes" in include:
        quotes = (content.get(f"quote:{number}") for number in range(len(record["citations"])))
        found["quotes"] = [quote for quote in quotes if quote is not None]
    return found


def _text(payload: dict[str, Any]) -> str:
    lines = [_SUBJECTS[NoticeEvent(payload["event"])] + ".", ""]
    for name, value in payload.items():
        if name in {"id", "event", "lapsed", "quotes"} or value is None:
            continue
        lines.append(f"{name.replace('_', ' ')}: {value}")
    lines += [f"quote: {quote}" for quote in payload.get("quotes", ())]
    lapsed = payload.get("lapsed", [])
    for each in lapsed[:_SHOWN_IN_TEXT]:
        lines.append(
            f"  {each['answer_id']}  citation {each['citation'] + 1}  {each['document_id']}  "
            f"{each['lapse']}"
        )
    if len(lapsed) > _SHOWN_IN_TEXT:
        lines.append(f"  and {len(lapsed) - _SHOWN_IN_TEXT} more citations")
    if payload["event"] == NoticeEvent.LAPSED.value:
        lines += ["", "`evidencedesk answers recheck --administrator` lists them all."]
    else:
        shown = payload["answer_id"]
        lines += ["", f"`evidencedesk answers show {shown} --administrator` has the receipt."]
    return _clean("\n".join(lines) + "\n")


def _sendable(value: Any) -> Any:
    """JSON whose texts can be written in UTF-8."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {name: _sendable(each) for name, each in value.items()}
    return [_sendable(each) for each in value] if isinstance(value, list) else value


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
