"""Stored answers: reading, replaying, rechecking, exporting and erasing receipts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from evidencedesk.access import AccessFilter, Principal, Status
from evidencedesk.desk.index import OpenIndex
from evidencedesk.desk.receipts import ReadableReceipts, not_found
from evidencedesk.desk.recording import Recording
from evidencedesk.desk.telling import (
    ANY_STATUS,
    chain_finding,
    everything,
    lapse_warnings,
    row_of,
    signer_of,
    slices_of,
    told,
    visible_documents,
)
from evidencedesk.errors import UsageError
from evidencedesk.model import Finding, IngestReport
from evidencedesk.model.receipt import AuditEvent, Receipt, document_hash
from evidencedesk.pipeline import Explanation
from evidencedesk.protocols import Ledger
from evidencedesk.records import (
    Difference,
    Lapsed,
    Sources,
    check_chain,
    differences,
    exported,
    permission_of,
    readable,
    recheck,
    subject_hash,
)


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """A question asked again.

    Attributes:
        before: the receipt as its reader may read it.
        explanation: the answer of now.
        differences: what is not as it was.
    """

    before: dict[str, Any]
    explanation: Explanation
    differences: tuple[Difference, ...]


class StoredAnswers:
    """The receipts of an index. A receipt is for its subject, administrators and auditors.

    To anybody else there is no such receipt: ``not_found``, whether it is there or not.
    """

    def __init__(self, index: OpenIndex, recording: Recording) -> None:
        self._index = index
        self._recording = recording
        self._receipts = ReadableReceipts(index)

    def list(self, *, principal: Principal, limit: int = 100) -> tuple[dict[str, Any], ...]:
        """Answers that ``principal`` may read about, newest first, one row each."""
        receipts = self._receipts.all(principal, limit)
        names = self._receipts.names(principal.tenant)
        return tuple(row_of(each, names.get(each.subject)) for each in receipts)

    def show(self, answer_id: str, *, principal: Principal) -> dict[str, Any]:
        """The receipt of one answer; what ``principal`` may not see *now* is left out.

        Raises:
            UsageError: ``not_found``.
        """
        receipt = self._receipts.one(answer_id, principal)
        with self._index.reading(principal, ANY_STATUS) as snapshot:
            visible = visible_documents(snapshot, receipt)
        return readable(
            receipt,
            visible,
            administrator=principal.administrator,
            subject=self._receipts.names(principal.tenant).get(receipt.subject),
        )

    def replay(self, answer_id: str, *, principal: Principal) -> Replay:
        """Ask the question again, as ``principal`` and of the same statuses, and compare.

        Raises:
            UsageError: ``not_found``; ``not_recorded`` when the question was not kept.
            IndexingError: the index cannot be read.
        """
        before = self.show(answer_id, principal=principal)
        if before["question"] is None:
            raise UsageError(
                f"The question of answer {answer_id!r} is not kept: {before['content']}.",
                code="not_recorded",
                hint="Only answers given with [privacy] record_content can be replayed.",
            )
        statuses = frozenset(map(Status, before["statuses"]))
        asked = self._recording.begin(before["question"], principal, statuses, None)
        explanation = self._recording.explain(
            before["question"], principal=principal, statuses=statuses, threshold=None
        )
        changed = differences(
            before,
            explanation.answer,
            settings=self._recording.settings(asked.answering),
            prompt_version=explanation.request.prompt_version if explanation.request else "",
        )
        return Replay(before, explanation, changed)

    def recheck(self, *, principal: Principal, answer_id: str | None = None) -> tuple[Lapsed, ...]:
        """Citations of stored answers that no longer hold; of one answer when it is named.

        A reader's own answers are judged by the rights he has now; who oversees the
        tenant judges each by the rights with which it was asked. What ``principal`` may not see is ``source_gone``
        and has no name, whether it is gone or closed.

        Raises:
            UsageError: ``not_found``.
        """
        receipts: Sequence[Receipt] = (
            self._receipts.all(principal, None)
            if answer_id is None
            else (self._receipts.one(answer_id, principal),)
        )
        rights = None if principal.oversees else AccessFilter.for_principal(principal)
        with self._index.store().read(access=everything(principal.tenant)) as snapshot:
            records = {record.id: record for record in snapshot.documents()}
            sources = Sources(records.get, snapshot.document, snapshot.historic_text)
            lapsed = tuple(recheck(receipts, sources, rights=rights))
        seen = AccessFilter.for_principal(principal, ANY_STATUS)
        return tuple(
            each
            if principal.administrator and each.document_id not in records
            else told(each, records.get(each.document_id), seen)
            for each in lapsed
        )

    def warnings_after(self, report: IngestReport, tenant: str) -> tuple[str, ...]:
        """What an ingestion should say of stored answers that cite what it touched; tells of them too."""
        touched = [*report.changed, *report.metadata, *report.removed]
        receipts = self._ledger().receipts_citing(tenant, touched) if touched else ()
        if not receipts:
            return ()
        with (
            self._index.writing() as writer,
            self._index.store().read(access=everything(tenant)) as snapshot,
        ):
            sources = Sources(
                lambda name: writer.record(tenant, name), snapshot.document, snapshot.historic_text
            )
            lapsed = [each for each in recheck(receipts, sources) if each.document_id in touched]
        self._index.notifying.lapsed(tenant, lapsed)
        return lapse_warnings(lapsed)

    def export(
        self, answer_id: str, *, principal: Principal, signing_key: Path | None = None
    ) -> dict[str, Any]:
        """One answer as a file for ``verify``: record, content, sources' slices, place in the chain.

        Raises:
            UsageError: ``not_found``.
            SettingsError: ``signing_key_unreadable``.
            IndexDamagedError: ``receipt_altered``.
        """
        receipt = self._receipts.one(answer_id, principal)
        entry = self._ledger().entry(receipt.tenant, receipt.position)
        if entry is None:
            raise not_found(answer_id)
        with self._index.reading(principal, ANY_STATUS) as snapshot:
            visible, slices = visible_documents(snapshot, receipt), slices_of(snapshot, receipt)
        self._note_export(receipt, principal)
        return exported(
            receipt,
            entry,
            key=self._receipts.keys(receipt.tenant).get(receipt.subject),
            visible=visible,
            slices=slices,
            administrator=principal.administrator,
            signer=None if signing_key is None else signer_of(signing_key),
        )

    def erase_subject(self, subject: str, *, tenant: str) -> int:
        """Erase the content of a subject's receipts and his key; how many receipts he has.

        Raises:
            UsageError: ``not_found`` when nothing is kept of this subject.
        """
        ledger = self._ledger()
        key = ledger.known_key(tenant, subject)
        if key is None:
            raise UsageError(
                f"Nothing is kept of a subject {subject!r}.",
                code="not_found",
                hint="Names are compared letter by letter; the tenant counts too.",
            )
        name = subject_hash(key, tenant, subject)
        event = self._event(tenant, "erase_subject", subject=name)
        return ledger.erase_subject(event, subject, name)

    def erase_document(self, document_id: str, *, tenant: str) -> int:
        """Erase what receipts quote of a document; how many did. Hashes stay."""
        named = (document_hash(tenant, document_id),)
        event = self._event(tenant, "erase_document", documents=named)
        return self._ledger().erase_document(event, document_id)

    def erase_older(self, days: int, *, tenant: str) -> int:
        """Delete receipts older than ``days`` days; how many there were."""
        before = self._index.clock.now() - timedelta(days=days)
        return self._ledger().expire(self._event(tenant, "expire"), before)

    def audit(self, noted: Iterable[str] = ()) -> tuple[Finding, ...]:
        """Whether every chain and every receipt is as it was written.

        Args:
            noted: hashes of entries noted before; one that is gone shows that a chain was cut.
        """
        ledger = self._ledger()
        wanted = {hash_.removeprefix("sha256:") for hash_ in noted}
        findings = []
        for tenant in ledger.tenants():
            entries = list(ledger.chain(tenant))
            wanted -= {entry.hash.removeprefix("sha256:") for entry in entries}
            problems = check_chain(entries, ledger.receipts(tenant))
            findings.append(chain_finding(tenant, len(entries), entries[-1].hash, problems))
        findings += [
            Finding("audit", ok=False, message=f"no chain holds {each} any more: it was cut off")
            for each in sorted(wanted)
        ]
        return tuple(findings) or (Finding("audit", ok=True, message="nothing was recorded yet"),)

    def _ledger(self) -> Ledger:
        return self._receipts.ledger

    def _note_export(self, receipt: Receipt, principal: Principal) -> None:
        """An export leaves the index, so the chain says so wherever it can be written."""
        ledger = self._ledger()
        if ledger.writable:
            event = AuditEvent(
                tenant=receipt.tenant,
                at=self._index.clock.now(),
                action="export",
                subject=self._receipts.own_hash(principal) or "",
                permission=permission_of(principal),
                answer_id=receipt.answer_id,
                digest=receipt.digest,
            )
            ledger.append(event)

    def _event(
        self, tenant: str, action: str, *, subject: str = "", documents: tuple[str, ...] = ()
    ) -> AuditEvent:
        now = self._index.clock.now()
        return AuditEvent(
            tenant, now, action, subject=subject, permission="operator", documents=documents
        )
