"""Public corpora in BEIR form, indexed by the product's own parts."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.cache import cache_directory, locate
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.chunking import chunk_document
from evidencedesk.indexing import embed_chunks
from evidencedesk.model import Chunk, Document, IndexedChunk, Location
from evidencedesk.protocols import Embedder
from evidencedesk.text.analysis import NORMALISATION, document_terms

READER = "reader"
BATCH = 100


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Now, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()


@dataclass(frozen=True)
class Corpus:
    """Documents, questions by id, and for each question the gain of each relevant document."""

    documents: tuple[Document, ...]
    questions: Mapping[str, str]
    relevance: Mapping[str, Mapping[str, float]]


def load(folder: Path, lang: str = "en", extra_roles: Mapping[str, str] | None = None) -> Corpus:
    """Read ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``.

    ``extra_roles`` gives a document a role beside ``reader``.
    """
    roles = extra_roles or {}
    documents = tuple(
        Document(
            id=row["_id"],
            title=row["title"].replace("_", " "),
            text=row["text"],
            lang=lang,
            roles=frozenset({READER, roles.get(row["_id"], READER)}),
        )
        for row in json_lines(folder / "corpus.jsonl")
    )
    questions = {row["_id"]: row["text"] for row in json_lines(folder / "queries.jsonl")}
    relevance: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, gain = line.split("\t")
        relevance.setdefault(question, {})[document] = float(gain)
    return Corpus(documents, questions, relevance)


def json_lines(path: Path) -> Iterator[dict[str, str]]:
    """The objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def open_model(name: str = "minilm", *, keep_tokens: bool = False) -> Embedder:
    """A pulled model, or one in a folder."""
    directory, precision = locate(name, cache_directory())
    return OnnxEmbedder(directory, precision=precision, keep_tokens=keep_tokens)


def whole(document: Document) -> tuple[Chunk, ...]:
    """The document as one chunk."""
    return (
        Chunk(
            id=f"{document.id}:c0",
            document_id=document.id,
            ordinal=0,
            text=document.text,
            location=Location(end=len(document.text)),
            title=document.title,
            lang=document.lang,
            roles=document.roles,
        ),
    )


def by_structure(document: Document) -> tuple[Chunk, ...]:
    """The document cut as the product cuts it by default."""
    return tuple(chunk_document(document, "structure"))


@contextmanager
def indexed(
    documents: Sequence[Document],
    embedder: Embedder | None,
    *,
    name: str,
    cut: str = "structure",
    cache: Path | None = None,
) -> Iterator[SQLiteStore]:
    """A store with the documents; kept in ``cache`` and found there again, else thrown away."""
    with tempfile.TemporaryDirectory() as scratch:
        model = embedder.spec.revision[7:19] if embedder else "none"
        if embedder and embedder.spec.token_dimensions:
            model += f"-tokens-{embedder.spec.token_projection[7:19]}"
        path = (cache or Path(scratch)) / f"{name}-{cut}-{model}.desk"
        store = SQLiteStore.open(
            path,
            create=True,
            clock=SystemClock(),
            embedding=embedder.spec if embedder else None,
            normalisation=NORMALISATION,
        )
        try:
            if store.info().documents != len(documents):
                _fill(store, documents, embedder, cut)
            yield store
        finally:
            store.close()


def _fill(
    store: SQLiteStore, documents: Sequence[Document], embedder: Embedder | None, cut: str
) -> None:
    cutter = whole if cut == "whole" else by_structure
    started = time.monotonic()
    written = 0
    with store.write() as writer:
        generation = writer.generations()[0].id
        for first in range(0, len(documents), BATCH):
            batch = documents[first : first + BATCH]
            chunks = [_plain(chunk) for document in batch for chunk in cutter(document)]
            if embedder is not None:
                chunks = embed_chunks(chunks, embedder, writer.cached_vectors, writer.cached_tokens)
            for document in batch:
                own = [one for one in chunks if one.chunk.document_id == document.id]
                writer.replace_document(document, {generation: own})
            written += len(chunks)
    seconds = time.monotonic() - started
    print(f"indexed {len(documents)} documents, {written} chunks in {seconds:.0f} s")


def _plain(chunk: Chunk) -> IndexedChunk:
    heading = chunk.location.heading
    return IndexedChunk(
        chunk, document_terms(chunk.title, heading, chunk.context, chunk.text, chunk.lang)
    )


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean; 0.0 of nothing."""
    held = list(values)
    return sum(held) / len(held) if held else 0.0
