"""Rights withdrawn from a document whose file cannot be read now.

The last good version stays, but a folder manifest or a command that takes a right away must not wait
for the file to be mended. Only narrowing is applied: nobody is let in on the strength of a file that
nobody could read.
"""

from __future__ import annotations

from dataclasses import replace

from evidencedesk.access import Status
from evidencedesk.errors import MetadataError
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.model import DocumentRecord
from evidencedesk.pipeline.documents import Reading
from evidencedesk.protocols import Writer


def said_beside(file: SourceFile, reading: Reading) -> DeclaredMetadata:
    """What the caller and the folder say of a file; only the caller where the manifest is broken."""
    try:
        return reading.request.over(reading.manifests.entry_for(file))
    except MetadataError:
        return reading.request


def narrow(record: DocumentRecord, said: DeclaredMetadata, writer: Writer) -> bool:
    """Take from the stored document what ``said`` withholds; whether anything was taken.

    Roles are those of both, denials those of either, and a document that is to be no longer current
    is not. Everything is decided anew when the file can be read again.
    """
    roles = record.roles if said.roles is None else record.roles & said.roles
    deny = record.deny | (said.deny or frozenset())
    withdrawn = record.status == Status.CURRENT and said.status is not None
    status = str(said.status) if withdrawn else record.status
    if (roles, deny, status) == (record.roles, record.deny, record.status):
        return False
    document = writer.document(record.tenant, record.id)
    if document is None:
        return False
    writer.update_document(replace(document, roles=roles, deny=deny, status=status, inputs_hash=""))
    return True
