"""From a file to a document: read, sniff, parse in a child process, decide metadata and rights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from evidencedesk.chunking import DEFAULT_STRATEGY, chunk_corpus
from evidencedesk.errors import MetadataError, SourceError
from evidencedesk.ingestion.document import build_document, document_id_for
from evidencedesk.ingestion.expand import Expander
from evidencedesk.ingestion.load import (
    SourceBytes,
    SourceFile,
    discover,
    file_hash_of,
    read_source,
)
from evidencedesk.ingestion.manifest import Manifests
from evidencedesk.ingestion.masking_policy import Masking, Policy
from evidencedesk.ingestion.metadata import (
    AccessDefaults,
    DeclaredMetadata,
    front_matter_metadata,
    inputs_hash_of,
    resolve_metadata,
)
from evidencedesk.ingestion.sandbox import ParserPool
from evidencedesk.ingestion.sniff import CONTAINERS, WITHOUT_TEXT, sniff
from evidencedesk.model import Chunk, Document, ParsedDocument
from evidencedesk.model.document import NO_TEXT
from evidencedesk.protocols import Clock
from evidencedesk.text.language import detect


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """How files are read in one run.

    Attributes:
        parsers: where parsing happens.
        parser_version: media type to the name and version of its parser.
        clock: tells when a document was read.
        request: what the caller says of every document of the run.
        defaults: what the settings say of rights.
        max_bytes: larger files are refused.
        manifests: folder manifests read so far.
        masking: what masking policies mean.
    """

    parsers: ParserPool
    parser_version: Callable[[str], tuple[str, str]]
    clock: Clock
    request: DeclaredMetadata = field(default_factory=DeclaredMetadata)
    defaults: AccessDefaults = field(default_factory=AccessDefaults)
    max_bytes: int = 100 * 1024 * 1024
    manifests: Manifests = field(default_factory=Manifests)
    masking: Masking = field(default_factory=Masking)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A file's bytes with what is known before parsing.

    Attributes:
        file: the file.
        content: its bytes and their hash.
        media_type: by content, then by extension.
        inputs_hash: of everything the document is made from; equal means nothing to do.
    """

    file: SourceFile
    content: SourceBytes
    media_type: str
    inputs_hash: str


def open_file(file: SourceFile, reading: Reading) -> Opened:
    """The bytes of ``file``, what they are, and the hash of all that the document is made from.

    Raises:
        SourceError: unreadable, too large, of no known type, or with a broken manifest above it.
    """
    if file.unchanged is not None:
        file_hash, media_type = file.unchanged
        inputs = inputs_hash(file, file_hash, media_type, reading)
        return Opened(file, SourceBytes(b"", file_hash), media_type, inputs)
    content = _content_of(file, reading)
    media_type = sniff(content.data, file.named or file.relative)
    inputs = inputs_hash(file, content.file_hash, media_type, reading)
    return Opened(file, content, media_type, inputs)


def inputs_hash(file: SourceFile, file_hash: str, media_type: str, reading: Reading) -> str:
    """Of everything that the document of ``file`` is made from when its bytes have ``file_hash``."""
    policy = masking_policy(file, reading)
    return inputs_hash_of(
        file_hash=file_hash,
        parser=reading.parser_version(media_type),
        manifest=reading.manifests.entry_for(file),
        request=reading.request,
        defaults=reading.defaults,
        trusted=file.trusted,
        others=(root_of(file), file.relative, *([policy.fingerprint] if policy else [])),
    )


def _content_of(file: SourceFile, reading: Reading) -> SourceBytes:
    if file.data is None:
        return read_source(file.path, max_bytes=reading.max_bytes)
    return SourceBytes(file.data, file_hash_of(file.data))


def read_document(
    opened: Opened,
    reading: Reading,
    *,
    taken: Callable[[str], bool],
    suffixed: Callable[[str], bool] = lambda _: False,
) -> Document:
    """The document that the file holds, with its rights decided.

    Args:
        opened: the file's bytes.
        reading: how files are read.
        taken: whether an id belongs to another source.
        suffixed: whether the file's own document is stored under this id with a suffix.

    Raises:
        SourceError: with the reason why this file cannot be read or may not be taken.
    """
    file = opened.file
    parsed = _parsed(opened, reading)
    metadata = resolve_metadata(
        document=front_matter_metadata(parsed, file.relative),
        manifest=reading.manifests.entry_for(file),
        request=reading.request,
        defaults=reading.defaults,
        trusted=file.trusted,
    )
    if metadata.id is not None and taken(metadata.id):
        raise MetadataError(
            f"{file.relative}: the id {metadata.id!r} belongs to another document.",
            code="duplicate_id",
            hint="Give one of the two another id.",
        )
    return build_document(
        parsed,
        source=file.relative,
        root=root_of(file),
        document_id=metadata.id
        or document_id_for(file, taken=lambda name: taken(name) or suffixed(name)),
        metadata=metadata,
        file_hash=opened.content.file_hash,
        ingested_at=reading.clock.now(),
        detect_language=detect,
        inputs_hash=opened.inputs_hash,
    )


def masking_policy(file: SourceFile, reading: Reading) -> Policy | None:
    """What the caller, else the file's folder, else the settings say of masking.

    Raises:
        MetadataError: ``bad_mask``.
    """
    said = reading.request.over(reading.manifests.entry_for(file))
    return reading.masking.policy(said.mask, said.origin)


def _parsed(opened: Opened, reading: Reading) -> ParsedDocument:
    """The parsed file, masked where its folder or, failing that, its front matter wants it."""
    file = opened.file
    policy = masking_policy(file, reading)
    try:
        parsed = reading.parsers.parse(opened.content.data, file.relative, opened.media_type)
    except SourceError as error:
        if policy is None:
            raise
        raise type(error)(policy.hide(error.message), code=error.code, hint=error.hint) from None
    if policy is None:
        wish = front_matter_metadata(parsed, file.relative).mask
        said = reading.request.over(reading.manifests.entry_for(file))
        policy = reading.masking.policy(wish, file.relative) if said.mask is None else None
    return _said_empty(parsed if policy is None else _masked(parsed, policy, file))


def _said_empty(parsed: ParsedDocument) -> ParsedDocument:
    """``parsed``, with a warning when no chunk can come of it: an empty file, or headings alone."""
    if parsed.text.strip() and (not parsed.blocks or any(b.kind.in_chunks for b in parsed.blocks)):
        return parsed
    return replace(parsed, partial=True, warnings=(*parsed.warnings, NO_TEXT))


def _masked(parsed: ParsedDocument, policy: Policy, file: SourceFile) -> ParsedDocument:
    masked = policy.apply(parsed, file.relative)
    if masked.metadata.get("id") != parsed.metadata.get("id"):
        raise MetadataError(
            f"{file.relative}: its id holds what is to be masked.",
            code="bad_id",
            hint="Give it an id that says nothing of persons.",
        )
    if not policy.finds(file.relative):
        return masked
    warning = "its file name holds what is masked elsewhere, and stays; rename it"
    title = masked.title or policy.hide(PurePosixPath(file.relative).stem)
    return replace(masked, title=title, warnings=(*masked.warnings, warning))


def root_of(file: SourceFile) -> str:
    """The root recorded with a document: the folder its source is relative to, absolute.

    Of what was fetched it is the root of its source.
    """
    if file.origin:
        return file.origin
    root = file.root.parent if file.path == file.root else file.root
    return str(root.resolve())


def chunk_folder(
    folder: Path,
    reading: Reading,
    strategy: str = DEFAULT_STRATEGY,
    options: Mapping[str, int] | None = None,
) -> tuple[Chunk, ...]:
    """The chunks of every file under ``folder``, without an index.

    Raises:
        SourceError: the first file that cannot be read.
    """
    files = discover([folder]).files
    documents = _documents(files, reading, Expander(reading.parsers))
    return chunk_corpus(documents, strategy, **(options or {}))


def _documents(
    files: Iterable[SourceFile], reading: Reading, expander: Expander
) -> Iterable[Document]:
    for file in files:
        opened = open_file(file, reading)
        if opened.media_type not in WITHOUT_TEXT:
            yield read_document(opened, reading, taken=lambda _: False)
        if opened.media_type in CONTAINERS:
            inside = expander.expand(file, opened.content.data, opened.media_type)
            yield from _documents(inside.files, reading, expander)
