"""A parsed file and its decided metadata make a document."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from datetime import datetime
from pathlib import PurePosixPath

from evidencedesk.ingestion.load import SourceFile
from evidencedesk.ingestion.metadata import LanguageDetector, ResolvedMetadata
from evidencedesk.model import BlockKind, Document, ParsedDocument

_MAX_SLUG = 120


def build_document(
    parsed: ParsedDocument,
    *,
    source: str,
    root: str,
    document_id: str,
    metadata: ResolvedMetadata,
    file_hash: str,
    ingested_at: datetime,
    detect_language: LanguageDetector,
    inputs_hash: str = "",
) -> Document:
    """The document that ``parsed`` is, ready to be chunked.

    Title: declared, else the parser's, else the first heading, else the file's name without its
    extension. Language: declared, else the parser's, else detected in the text.

    Args:
        parsed: what the parser made of the file.
        source: path or URL that a person can open.
        root: the PATH given to ``ingest``.
        document_id: declared, or from :func:`document_id_for`.
        metadata: see :func:`evidencedesk.ingestion.metadata.resolve_metadata`.
        file_hash: of the raw bytes.
        ingested_at: the clock's time.
        detect_language: canonical text to a BCP 47 tag, ``und`` when it cannot tell.
        inputs_hash: see :func:`evidencedesk.ingestion.metadata.inputs_hash_of`.
    """
    access = metadata.access
    return Document(
        id=document_id,
        text=parsed.text,
        title=metadata.title or _title_of(parsed, source),
        source=source,
        version=metadata.version or "",
        status=access.status.value,
        lang=metadata.lang or parsed.lang or detect_language(parsed.text),
        owner=metadata.owner or "",
        tenant=access.tenant,
        roles=access.roles,
        deny=access.deny,
        blocks=parsed.blocks,
        media_type=parsed.media_type,
        parser=parsed.parser,
        parser_version=parsed.parser_version,
        first_line=parsed.first_line,
        pages=parsed.pages,
        page_boxes=parsed.page_boxes,
        ingested_at=ingested_at,
        file_hash=file_hash,
        root=root,
        supersedes=metadata.supersedes or "",
        warnings=parsed.warnings,
        partial=parsed.partial,
        inputs_hash=inputs_hash,
        masks=parsed.masks,
    )


def _title_of(parsed: ParsedDocument, source: str) -> str:
    if parsed.title and parsed.title.strip():
        return " ".join(parsed.title.split())
    headings = (block.heading[-1] for block in parsed.blocks if block.kind is BlockKind.HEADING)
    return next((heading for heading in headings if heading), PurePosixPath(source).stem)


def document_id_for(file: SourceFile, *, taken: Callable[[str], bool]) -> str:
    """The id of a document that declares none: the slug of its path below the PATH given.

    The extension is left out, folders are joined by ``-``. An id that belongs to another source
    already (in another root, or ``a.md`` beside ``a.pdf``) gets ``~`` and six hex digits of the
    hash of its root and path, so the same file always gets the same one. That of an upload always ends
    in the upload's own name, so that it tells nobody which other documents there are.

    Args:
        file: the file.
        taken: whether an id belongs to another source than this file.
    """
    path = PurePosixPath(file.relative.partition("://")[2] if file.origin else file.relative)
    has_extension = len(path.parts) > 1 or not file.origin
    slug = slug_of(str(path.with_suffix("")) if path.stem and has_extension else str(path))
    if file.upload:
        slug = f"{slug}~{file.upload}"
    if not taken(slug):
        return slug
    root = file.origin or file.root.resolve().as_posix()
    where = f"{root}\0{file.relative}"
    return f"{slug}~{hashlib.sha256(where.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def slug_of(name: str) -> str:
    """Lower-case letters and digits of any script joined by ``-``; combining marks are kept.

    A name of more than 120 characters is cut and ends in six hex digits of its hash.
    """
    folded = unicodedata.normalize("NFKC", name).lower()
    kept = (char if _belongs(char) else " " for char in folded)
    slug = "-".join("".join(kept).split()) or "document"
    if len(slug) <= _MAX_SLUG:
        return slug
    digest = hashlib.sha256(slug.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{slug[: _MAX_SLUG - 7]}-{digest}"


def _belongs(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")
