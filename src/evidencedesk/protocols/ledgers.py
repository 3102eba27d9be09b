"""What is kept of answers, and who is told: receipts, notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from evidencedesk.model.feedback import Feedback
from evidencedesk.model.notice import Message, Notice, WaitingNotice
from evidencedesk.model.receipt import AuditEntry, AuditEvent, Receipt


class Ledger(Protocol):
    """Receipts, the keys of subjects, and one append-only audit chain per tenant.

    It trusts its caller: who may read a receipt is decided in :mod:`evidencedesk.records`. Every
    method that changes something is one transaction that holds its entry in the chain.
    """

    @property
    def writable(self) -> bool:
        """Whether receipts can be written here."""

    def revision(self) -> int:
        """Grows with every change to documents, rights or generations, and with nothing else."""

    def subject_key(self, tenant: str, subject: str, fresh: bytes) -> bytes:
        """The subject's key of 32 bytes; ``fresh`` becomes it when there is none."""

    def known_key(self, tenant: str, subject: str) -> bytes | None:
        """The subject's key, None when there is none (any more)."""

    def subjects(self, tenant: str) -> Mapping[str, bytes]:
        """Subjects that have keys, with their keys."""

    def append(
        self, event: AuditEvent, receipt: Receipt | None = None, *, key: bytes = b""
    ) -> AuditEntry:
        """Append to the chain of the event's tenant, and keep the receipt at that position.

        What was erased while the answer was written is not kept: pieces that may repeat a document
        that has gone, and all content once ``key``, its subject's, is nobody's any more.

        Raises:
            IndexUnavailableError: ``index_busy``, ``index_read_only`` or ``disk_full``.
        """

    def receipt(self, tenant: str, answer_id: str) -> Receipt | None:
        """The receipt of an answer, or None."""

    def receipts(
        self, tenant: str, *, subject: str | None = None, limit: int | None = None
    ) -> tuple[Receipt, ...]:
        """Receipts, newest first; of one subject (his keyed hash) when one is given."""

    def receipts_citing(self, tenant: str, documents: Sequence[str]) -> tuple[Receipt, ...]:
        """Receipts that cite any of the documents, newest first."""

    def erase_subject(self, event: AuditEvent, subject: str, subject_hash: str) -> int:
        """Delete the subject's key and the content of his receipts; how many receipts there were."""

    def erase_document(self, event: AuditEvent, document_id: str) -> int:
        """Delete what receipts quote of a document; how many did. ``remove_document`` does it too."""

    def expire(self, event: AuditEvent, before: datetime) -> int:
        """Delete receipts older than ``before``; nothing is appended when there are none."""

    def add_feedback(self, event: AuditEvent, feedback: Feedback) -> bool:
        """Keep what a reader says of an answer instead of what he said before.

        False, and nothing is appended, when there is no such receipt. Notes go with the content of
        the receipt, and with their writer's key.
        """

    def feedback(self, tenant: str, answer_id: str | None = None) -> tuple[Feedback, ...]:
        """What readers said of one answer, or of all; the newest first."""

    def entry(self, tenant: str, number: int) -> AuditEntry | None:
        """One entry of the chain."""

    def chain(self, tenant: str, *, newest: int | None = None) -> Iterator[AuditEntry]:
        """The chain of a tenant in order: all of it, or the last ``newest`` entries."""

    def tenants(self) -> tuple[str, ...]:
        """Tenants that have a chain, sorted."""


class Outbox(Protocol):
    """Notices that wait to be sent. Safe for threads and processes, and for several that send."""

    @property
    def writable(self) -> bool:
        """Whether notices can be put here."""

    def put(self, notice: Notice, channels: Iterable[str], due: datetime) -> None:
        """Keep the notice for each channel.

        Raises:
            IndexUnavailableError: ``index_busy``, ``index_read_only`` or ``disk_full``.
        """

    def waiting(self) -> tuple[WaitingNotice, ...]:
        """The thousand that are due first, those given up last."""

    def lease(self, waiting: WaitingNotice, until: datetime) -> bool:
        """Take it to be sent, so that nobody else does before ``until``; False when somebody did."""

    def sent(self, number: int) -> None:
        """Forget it."""

    def failed(self, number: int, due: datetime, failure: str) -> None:
        """Keep it for another attempt at ``due``."""


class Notifier(Protocol):
    """A way out to a person."""

    name: str

    def deliver(self, message: Message) -> None:
        """Hand the message over, once, in bounded time.

        Raises:
            NotificationError: it was not taken.
        """
