"""Documents that readers bring, change and remove, each within the rights that he has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from evidencedesk import wiring
from evidencedesk.access import AccessFilter, Principal, check_known_roles, parse_status
from evidencedesk.desk.overseeing import Overseen
from evidencedesk.desk.telling import ANY_STATUS, can_be_an_id
from evidencedesk.desk.versions import found_or_raise
from evidencedesk.errors import AccessRuleError
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.model import Document, DocumentRecord, IngestReport
from evidencedesk.pipeline import remove_document, run_upload
from evidencedesk.protocols import Writer
from evidencedesk.records import rule_of


@dataclass(frozen=True, slots=True)
class Upload:
    """One file that somebody brings.

    Attributes:
        key: made at random; the ids of its documents end in it. The same key, root and name again
            is a new version.
        name: file name, shown as the source; no path.
        root: folder that keeps the file, its own and nobody else's.
        data: its bytes.
    """

    key: str
    name: str
    root: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says of the documents that he brings or changes; None where he says nothing."""

    roles: frozenset[str] | None = None
    deny: frozenset[str] | None = None
    status: str | None = None
    lang: str | None = None
    owner: str | None = None
    version: str | None = None


class Keeping(Overseen):
    """A library that readers who may write bring documents to.

    That somebody may write at all is decided by whoever calls; what he may do to whom is decided
    here. He changes what he can see. Unless he is an administrator he gives documents only roles that
    he has, takes only such from them, and never lets in whom a document denies.
    """

    def upload(self, upload: Upload, said: Said, *, principal: Principal) -> IngestReport:
        """Put a file, and the files inside it, into the index, for the roles of ``said``.

        Its own front matter can only narrow that. Where ``said`` names no roles, those of
        ``[access] default_roles``. For a new version see ``replacing``.

        Raises:
            UsageError: ``not_found``, the earlier version is not to be seen any more.
            AccessRuleError: ``role_not_held``, ``deny_kept``; a malformed or unknown role or status.
            IndexingError: the index cannot be written.
        """
        settings, clock = self._index.settings, self._index.clock
        self._check_upload(upload, said, principal)
        request = wiring.declared(
            settings,
            roles=settings.access.default_roles if said.roles is None else said.roles,
            deny=said.deny,
            status=said.status,
            lang=said.lang,
            owner=said.owner,
        )
        file = SourceFile(
            upload.root / upload.name, upload.root, upload.name, data=upload.data, upload=upload.key
        )
        with self._index.ingesting() as (indexing, parsers, warnings):
            reading = wiring.reading(settings, parsers, clock, request, principal.tenant)
            return run_upload(file, reading, indexing, warnings=warnings)

    def check_said(self, said: Said, *, principal: Principal) -> None:
        """Whether ``principal`` may bring documents with what he says of them.

        Raises:
            AccessRuleError: ``role_not_held``; a malformed or unknown role or status.
        """
        known = self._index.settings.access.known_roles
        for names in (said.roles, said.deny):
            check_known_roles(names or (), known)
        if said.status is not None:
            parse_status(said.status)
        _check_held(said.roles or (), principal)

    def replacing(
        self, document_id: str, said: Said, *, principal: Principal
    ) -> tuple[DocumentRecord, Said]:
        """The document that a new version is to replace, and what holds of the new version.

        It keeps rights, status, language and owner where ``said`` is silent. Raises what ``update``
        raises.
        """
        with self._index.writing() as writer:
            record = self._own(writer, document_id, principal)
            self._check_change(record, said, principal)
        return record, Said(
            roles=record.roles if said.roles is None else said.roles,
            deny=record.deny if said.deny is None else said.deny,
            status=record.status if said.status is None else said.status,
            lang=record.lang if said.lang is None else said.lang,
            owner=record.owner if said.owner is None else said.owner,
        )

    def update(self, document_id: str, said: Said, *, principal: Principal) -> DocumentRecord:
        """Change what is said of a document, at once and without reading it again.

        A document of the operator's own files gets its own metadata back when its file changes.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
            AccessRuleError: ``role_not_held``, ``deny_kept``; a malformed or unknown role or status.
        """
        with self._index.writing() as writer:
            record = self._own(writer, document_id, principal)
            stored = found_or_raise(
                writer.document(record.tenant, document_id), "document", document_id
            )
            self._check_change(stored, said, principal)
            writer.update_document(_changed(stored, said))
            return found_or_raise(
                writer.record(record.tenant, document_id), "document", document_id
            )

    def delete(self, document_id: str, *, principal: Principal) -> DocumentRecord:
        """Remove a document with chunks, vectors, postings, history, and its quotes in receipts.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
        """
        with self._index.writing() as writer:
            record = self._own(writer, document_id, principal)
            by = "a reader who may write"
            remove_document(writer, record, self._index.clock, f"removed by {by}")
            return record

    def brought_from(self, root: str, *, tenant: str) -> tuple[str, ...]:
        """Ids of the documents of a tenant that came from the folder ``root``; for housekeeping."""
        with self._index.writing() as writer:
            return tuple(each.id for each in writer.records(tenant) if each.root == root)

    def _check_upload(self, upload: Upload, said: Said, principal: Principal) -> None:
        """A first version may have the rights that are said; a later one is a change of rights."""
        place = (str(upload.root.resolve()), upload.name)
        with self._index.writing(create=True) as writer:
            records = writer.records(principal.tenant)
            known = next((each for each in records if (each.root, each.source) == place), None)
            if known is None:
                self.check_said(said, principal=principal)
            else:
                self._check_change(self._own(writer, known.id, principal), said, principal)

    def _own(self, writer: Writer, document_id: str, principal: Principal) -> DocumentRecord:
        named = can_be_an_id(document_id)
        record = writer.record(principal.tenant, document_id) if named else None
        seen = AccessFilter.for_principal(principal, ANY_STATUS)
        visible = record if record is not None and seen.admits(rule_of(record)) else None
        return found_or_raise(visible, "document", document_id)

    def _check_change(
        self, stored: Document | DocumentRecord, said: Said, principal: Principal
    ) -> None:
        known = self._index.settings.access.known_roles
        for names in (said.roles, said.deny):
            check_known_roles(names or (), known)
        if said.roles is not None:
            _check_held(said.roles ^ stored.roles, principal)
        if said.deny is not None and stored.deny - said.deny and not principal.administrator:
            raise AccessRuleError(
                "Only an administrator lets in whom a document denies.",
                code="deny_kept",
                hint=f"Keep {sorted(stored.deny)}.",
            )


def _check_held(names: Iterable[str], principal: Principal) -> None:
    others = sorted(frozenset(names) - principal.roles)
    if others and not principal.administrator:
        raise AccessRuleError(
            f"You do not have the role {others[0]!r}, so you neither open nor close documents to it.",
            code="role_not_held",
            hint="Name roles that you have, or ask an administrator.",
        )


def _changed(stored: Document, said: Said) -> Document:
    return replace(
        stored,
        roles=stored.roles if said.roles is None else said.roles,
        deny=stored.deny if said.deny is None else said.deny,
        status=stored.status if said.status is None else parse_status(said.status).value,
        owner=stored.owner if said.owner is None else said.owner,
        version=stored.version if said.version is None else said.version,
    )
