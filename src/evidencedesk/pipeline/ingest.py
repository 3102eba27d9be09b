"""Bringing an index in line with files: what changed is chunked, embedded and written, or moved."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace

from evidencedesk.chunking import chunk_document
from evidencedesk.errors import ParseError, SourceError
from evidencedesk.indexing import (
    Change,
    IndexingPlan,
    classify,
    embed_chunks,
    embeddable,
    write_document,
)
from evidencedesk.ingestion.expand import Expander, Expansion
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.ingestion.masking import masks_more
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.ingestion.sniff import CONTAINERS, WITHOUT_TEXT
from evidencedesk.model import (
    ChunkingSettings,
    Document,
    DocumentRecord,
    FailedSource,
    Generation,
    IndexedChunk,
)
from evidencedesk.pipeline.documents import Opened, Reading, open_file, read_document
from evidencedesk.pipeline.library import Library
from evidencedesk.pipeline.narrowing import narrow, said_beside
from evidencedesk.protocols import Embedder, Writer
from evidencedesk.text.chunk_terms import TermSource, chunk_terms

READ_AHEAD = 16
BATCH_CHUNKS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Indexing:
    """How documents are put into an index in one run.

    Attributes:
        writer: the index.
        embedder_for: the model of a generation, None where there is none to be had.
    """

    writer: Writer
    embedder_for: Callable[[Generation], Embedder | None]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of one file.

    Attributes:
        source: path below its root.
        document_id: empty when the file could not be read.
        change: what was done.
        embedded: the text is unchanged and vectors were added.
        chunks: chunks written.
        warnings: what a person should know of the document.
        failure: why the file could not be read, or was refused.
        refused: it was refused on purpose.
        partial: some of its content could not be read.
    """

    source: str
    document_id: str = ""
    change: Change = Change.UNCHANGED
    embedded: bool = False
    chunks: int = 0
    warnings: tuple[str, ...] = ()
    failure: FailedSource | None = None
    refused: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A file that was read: its document (None when nothing it is made from changed) and record.

    ``inside`` are the files in it; ``counts`` is False for a file that is nothing but its members.
    """

    source: str
    record: DocumentRecord | None
    document: Document | None = None
    error: SourceError | None = None
    said: DeclaredMetadata | None = None
    inside: Expansion = field(default_factory=Expansion)
    counts: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class _Planned:
    """A document to write, with its chunks per generation, not yet embedded.

    ``forgets`` says that nothing earlier of it may stay.
    """

    read: _Read
    document: Document
    change: Change
    chunks: Mapping[int, Sequence[IndexedChunk]]
    fills: bool = False
    forgets: bool = False


def ingest_document(document: Document, indexing: Indexing) -> Outcome:
    """Put one document into the index: compare, chunk, embed, write in one transaction."""
    record = indexing.writer.record(document.tenant, document.id)
    planned = _plan(_Read(document.source, record, document), indexing)
    return next(_write([planned], indexing))


def ingest_files(
    files: Iterable[SourceFile], reading: Reading, indexing: Indexing
) -> Iterator[Outcome]:
    """Put files into the index; gives an outcome per file, in order, as it is done.

    ``files`` may be fetched while they are asked for.

    Members of archives, mailboxes and messages are files too; they follow a little after the file
    that holds them. An archive as such has no outcome, unless it cannot be opened. Files are read
    ahead in one thread (a child process parses meanwhile), embedded and written in batches of a
    few documents, each of them whole. When it is interrupted, all that was given is in the index
    and the rest is as it was.
    """
    library = Library(indexing.writer.records(reading.defaults.tenant))
    batch: list[_Planned | Outcome] = []
    with closing(_ahead(files, reading, library)) as ahead:
        for read in ahead:
            batch.append(_failed(read, indexing) if read.error else _plan(read, indexing))
            if sum(_size(planned) for planned in batch) >= BATCH_CHUNKS:
                yield from _write(batch, indexing)
                batch = []
        yield from _write(batch, indexing)


def chunk_for_index(document: Document, chunking: ChunkingSettings) -> list[IndexedChunk]:
    """The document's chunks with their keyword terms, without vectors."""
    chunks = chunk_document(document, chunking.strategy, **dict(chunking.options))
    sources = [TermSource(c.title, c.location.heading, c.context, c.text) for c in chunks]
    terms = chunk_terms(sources, document.lang)
    return [
        IndexedChunk(chunk=chunk, terms=each) for chunk, each in zip(chunks, terms, strict=True)
    ]


def _ahead(
    files: Iterable[SourceFile], reading: Reading, library: Library
) -> Generator[_Read, None, None]:
    pending: deque[Future[_Read]] = deque()
    waiting = [iter(files)]
    expander = Expander(reading.parsers)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="read") as pool:
        try:
            while pending or waiting:
                file = next(waiting[-1], None) if waiting else None
                if file is not None:
                    pending.append(pool.submit(_read, file, reading, library, expander))
                elif waiting:
                    waiting.pop()
                if pending and (len(pending) >= READ_AHEAD or not waiting):
                    read = pending.popleft().result()
                    if read.inside.files:
                        waiting.append(iter(read.inside.files))
                    yield from _with_failed_members(read)
        finally:
            if pending:  # interrupted: end the parse that is running instead of waiting for it
                pool.shutdown(wait=False, cancel_futures=True)
                reading.parsers.close()


def _with_failed_members(read: _Read) -> Iterator[_Read]:
    if read.counts:
        yield read
    for failed in read.inside.failed:
        yield _Read(failed.source, None, error=ParseError(failed.message, code=failed.code))


def _read(named: SourceFile, reading: Reading, library: Library, expander: Expander) -> _Read:
    file = library.adopt(named)
    record = library.record_of(file)
    try:
        opened = open_file(file, reading)
        if opened.media_type in WITHOUT_TEXT:
            inside = _opened_container(opened, expander)
            return _Read(file.relative, record, inside=inside, counts=False)
    except SourceError as error:
        return _Read(file.relative, record, error=error, said=said_beside(file, reading))
    read = _read_text(opened, record, reading, library)
    if opened.media_type not in CONTAINERS or file.unchanged is not None:
        return read
    return replace(read, inside=_attachments(opened, expander))


def _opened_container(opened: Opened, expander: Expander) -> Expansion:
    inside = expander.expand(opened.file, opened.content.data, opened.media_type)
    if not inside.files and not inside.failed:
        raise ParseError(f"{opened.file.relative}: there are no files in it.", code="no_text")
    return inside


def _attachments(opened: Opened, expander: Expander) -> Expansion:
    """The attachments of a message; the message itself is read in any case."""
    try:
        return expander.expand(opened.file, opened.content.data, opened.media_type)
    except ParseError as error:
        where = f"{opened.file.relative}!/"
        return Expansion(failed=(FailedSource(where, error.code, str(error)),))


def _read_text(
    opened: Opened, record: DocumentRecord | None, reading: Reading, library: Library
) -> _Read:
    file = opened.file
    if record is not None and record.inputs_hash == opened.inputs_hash:
        return _Read(file.relative, record)
    try:
        document = read_document(
            opened,
            reading,
            taken=lambda name: library.taken(name, file),
            suffixed=lambda name: library.keeps_suffix(name, file),
        )
    except SourceError as error:
        return _Read(file.relative, record, error=error, said=said_beside(file, reading))
    library.claim(document.id, file)
    return _Read(file.relative, record, document)


def _failed(read: _Read, indexing: Indexing) -> Outcome:
    if read.record is not None and read.said is not None:
        narrow(read.record, read.said, indexing.writer)
    error = read.error or SourceError(f"{read.source} could not be read.")
    failure = FailedSource(read.source, error.code, str(error))
    refused = isinstance(error, ParseError) and error.code == "refused"
    return Outcome(read.source, failure=failure, refused=refused)


def _plan(read: _Read, indexing: Indexing) -> _Planned | Outcome:
    record = read.record
    if read.document is None and record is not None and record.vectors >= record.chunks:
        return Outcome(read.source, record.id, warnings=record.warnings, partial=record.partial)
    document = read.document or _stored(read, indexing)
    known = record if record is not None and record.id == document.id else None
    if known is None:
        known = indexing.writer.record(document.tenant, document.id)
    # Earlier texts hold what is masked now; none of them may stay, as history or in receipts.
    forgets = known is not None and masks_more(document, known)
    if forgets:
        known = None
    elif record is not None and record.id != document.id and masks_more(document, record):
        indexing.writer.remove_document(record.tenant, record.id)
        read = replace(read, record=None)
    change = classify(document, known)
    generations = indexing.writer.generations()
    if change in {Change.ADDED, Change.CHANGED}:
        chunks = {each.id: chunk_for_index(document, each.chunking) for each in generations}
        return _Planned(read, document, change, chunks, forgets=forgets)
    lacking = [each for each in generations if known is not None and _lacks(known, each, indexing)]
    chunks = {each.id: chunk_for_index(document, each.chunking) for each in lacking}
    fills = known is not None and _vectors_due(chunks, indexing, generations) > known.vectors
    return _Planned(read, document, change, chunks if fills else {}, fills=fills)


def _stored(read: _Read, indexing: Indexing) -> Document:
    record = read.record
    document = indexing.writer.document(record.tenant, record.id) if record else None
    if document is None:
        raise SourceError(
            f"{read.source} was removed from the index while it was being read.",
            code="removed_meanwhile",
            hint="Run ingest again.",
        )
    return document


def _lacks(record: DocumentRecord, generation: Generation, indexing: Indexing) -> bool:
    return record.vectors < record.chunks and indexing.embedder_for(generation) is not None


def _vectors_due(
    chunks: Mapping[int, Sequence[IndexedChunk]],
    indexing: Indexing,
    generations: Sequence[Generation],
) -> int:
    """The most vectors that a generation's model would give to the chunks."""
    due = [0]
    for generation in generations:
        embedder = indexing.embedder_for(generation) if generation.id in chunks else None
        if embedder is not None:
            spec = embedder.spec
            due.append(sum(embeddable(each.chunk, spec) for each in chunks[generation.id]))
    return max(due)


def _size(planned: _Planned | Outcome) -> int:
    return 1 + (sum(map(len, planned.chunks.values())) if isinstance(planned, _Planned) else 0)


def _write(batch: Sequence[_Planned | Outcome], indexing: Indexing) -> Iterator[Outcome]:
    planned = [each for each in batch if isinstance(each, _Planned)]
    embedded = iter(_embedded(planned, indexing))
    with indexing.writer.together():
        outcomes = [
            each if isinstance(each, Outcome) else _carry_out(each, next(embedded), indexing)
            for each in batch
        ]
    yield from outcomes


def _embedded(
    planned: Sequence[_Planned], indexing: Indexing
) -> list[dict[int, Sequence[IndexedChunk]]]:
    """The chunks of each planned document with vectors, all of a generation embedded together."""
    done: list[dict[int, Sequence[IndexedChunk]]] = [dict(each.chunks) for each in planned]
    for generation in indexing.writer.generations():
        embedder = indexing.embedder_for(generation)
        flat = [chunk for each in planned for chunk in each.chunks.get(generation.id, ())]
        if embedder is None or not flat:
            continue
        writer = indexing.writer
        vectors = iter(embed_chunks(flat, embedder, writer.cached_vectors, writer.cached_tokens))
        for each, chunks in zip(planned, done, strict=True):
            if generation.id in each.chunks:
                chunks[generation.id] = [next(vectors) for _ in each.chunks[generation.id]]
    return done


def _carry_out(
    planned: _Planned, chunks: Mapping[int, Sequence[IndexedChunk]], indexing: Indexing
) -> Outcome:
    document, record = planned.document, planned.read.record
    renamed = record.id if record is not None and record.id != document.id else None
    former = document.id if planned.forgets else renamed
    plan = IndexingPlan(document, planned.change, chunks, planned.fills, replaces=former)
    written = write_document(indexing.writer, plan)
    return Outcome(
        source=planned.read.source,
        document_id=document.id,
        change=planned.change,
        embedded=planned.fills,
        chunks=written,
        warnings=document.warnings,
        partial=document.partial,
    )
