"""What readers say of answers, and what whoever maintains the documents learns from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from evidencedesk import wiring
from evidencedesk.access import DEFAULT_STATUSES, AccessFilter, Principal, Status
from evidencedesk.desk.library import Library
from evidencedesk.desk.notifying import Notifying
from evidencedesk.desk.receipts import ReadableReceipts, not_found
from evidencedesk.desk.telling import ANY_STATUS, can_be_an_id
from evidencedesk.errors import QuestionError, UsageError
from evidencedesk.model import Hit
from evidencedesk.model.feedback import (
    MAX_NOTE_CHARS,
    Feedback,
    FeedbackVerdict,
    Gap,
    Gaps,
    NearDocument,
)
from evidencedesk.model.receipt import AuditEvent, document_hash
from evidencedesk.pipeline import Answering, search
from evidencedesk.records import ANONYMOUS, gaps_of, permission_of, subject_hash

_NEAREST = 3


class Overseen(Library):
    """A library whose answers are read, judged and learnt from."""

    @property
    def _receipts(self) -> ReadableReceipts:
        return ReadableReceipts(self._index)

    @property
    def notifying(self) -> Notifying:
        """Notices to people outside: what waits, and sending it; the operator's."""
        return self._index.notifying

    def feedback(
        self, answer_id: str, verdict: str, *, principal: Principal, note: str = ""
    ) -> Feedback:
        """Keep what ``principal`` says of an answer that he may read; it replaces what he said before.

        Args:
            answer_id: the answer.
            verdict: ``useful``, ``wrong`` or ``missing``.
            principal: who says it.
            note: in his own words; not kept where ``[privacy] record_content`` is off.

        Raises:
            UsageError: ``not_found``; ``bad_verdict``; ``note_too_long``.
            IndexUnavailableError: the index cannot be written.
        """
        said = _verdict(verdict)
        receipt = self._receipts.one(answer_id, principal)
        ledger, tenant = self._receipts.ledger, principal.tenant
        name = principal.subject or ANONYMOUS
        key = ledger.subject_key(tenant, name, wiring.new_subject_key())
        subject = subject_hash(key, tenant, name)
        kept = _note(note) if self._index.settings.privacy.record_content else ""
        now = self._index.clock.now()
        feedback = Feedback(tenant, answer_id, subject, now, said, kept)
        event = AuditEvent(
            tenant,
            now,
            "feedback",
            subject=subject,
            permission=permission_of(principal),
            verdict=said.value,
            answer_id=answer_id,
            digest=receipt.digest,
        )
        if not ledger.add_feedback(event, feedback):
            raise not_found(answer_id)
        self._index.notifying.given(feedback)
        return feedback

    def feedback_on(self, answer_id: str, *, principal: Principal) -> tuple[Feedback, ...]:
        """What was said of an answer: by everybody for who oversees, else by ``principal`` himself.

        Raises:
            UsageError: ``not_found``.
        """
        receipt = self._receipts.one(answer_id, principal)
        said = self._receipts.ledger.feedback(receipt.tenant, answer_id)
        if principal.oversees:
            return said
        own = self._receipts.own_hash(principal)
        return tuple(each for each in said if each.subject == own)

    def gaps(
        self,
        *,
        principal: Principal,
        limit: int = 50,
        newest: int = 5000,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> Gaps:
        """Questions that ended in an abstention or in bad feedback, grouped, the most asked first.

        Empty unless ``principal`` is an administrator or an auditor. The documents that come near
        are those that he may see.

        Args:
            principal: who looks.
            limit: how many groups.
            newest: how many of the newest answers are looked at.
            statuses: statuses of the documents that may come near.

        Raises:
            IndexingError: the index cannot be read.
        """
        if not principal.oversees:
            return Gaps()
        ledger, tenant = self._receipts.ledger, principal.tenant
        said: dict[str, list[Feedback]] = {}
        for each in ledger.feedback(tenant):
            said.setdefault(each.answer_id, []).append(each)
        key = ledger.known_key(tenant, ANONYMOUS)
        answering = self._index.answering(None)
        found = gaps_of(
            ledger.receipts(tenant, limit=newest),
            said,
            languages=answering.languages,
            anonymous="" if key is None else subject_hash(key, tenant, ANONYMOUS),
            embed=answering.embedder.embed_query if answering.embedder else None,
        )
        access = frozenset(statuses)
        groups = tuple(_beside(gap, answering, principal, access) for gap in found.groups[:limit])
        return replace(found, groups=groups)

    def activity(self, *, principal: Principal, limit: int = 100) -> tuple[dict[str, Any], ...]:
        """The newest entries of the audit chain, newest first: who did what, without content.

        Empty unless ``principal`` is an administrator or an auditor. Documents are named where he
        may see them; a subject that was erased has no name.
        """
        if not principal.oversees:
            return ()
        tenant = principal.tenant
        names = self._receipts.names(tenant)
        access = AccessFilter.for_principal(principal, ANY_STATUS)
        with self._index.store().read(access=access) as snapshot:
            seen = {document_hash(tenant, each.id): each.id for each in snapshot.documents()}
        entries = tuple(self._receipts.ledger.chain(tenant, newest=limit))
        return tuple(
            {
                "number": entry.number,
                "at": entry.event["at"],
                "action": entry.event["action"],
                "by": names.get(entry.event["subject"]),
                "permission": entry.event["permission"],
                "documents": [seen[name] for name in entry.event["documents"] if name in seen],
                "verdict": entry.event["verdict"],
                "answer_id": entry.event["answer_id"],
            }
            for entry in reversed(entries)
        )


def _verdict(name: str) -> FeedbackVerdict:
    try:
        return FeedbackVerdict(name)
    except ValueError:
        raise UsageError(
            f"{name!r} is not what can be said of an answer.",
            code="bad_verdict",
            hint=f"Say one of: {', '.join(FeedbackVerdict)}.",
        ) from None


def _note(note: str) -> str:
    if len(note) > MAX_NOTE_CHARS:
        raise UsageError(
            f"The note has {len(note):,} characters; {MAX_NOTE_CHARS:,} are kept at most.",
            code="note_too_long",
            hint="Shorten it.",
        )
    return "".join(filter(can_be_an_id, note)).strip()


def _beside(
    gap: Gap, answering: Answering, principal: Principal, statuses: frozenset[Status]
) -> Gap:
    """The gap with the documents that come nearest to its newest question."""
    try:
        hits = search(gap.questions[0], answering, principal=principal, statuses=statuses).hits
    except QuestionError:
        return gap  # asked when longer questions were allowed
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.chunk.document_id, hit)
    return replace(gap, nearest=tuple(map(_near, list(best.values())[:_NEAREST])))


def _near(hit: Hit) -> NearDocument:
    chunk = hit.chunk
    return NearDocument(chunk.document_id, chunk.title, chunk.id, chunk.location.label, hit.score)
