"""How long a question takes at 100,000 chunks: plain fusion, our ranking, and the whole way.

Run ``python -m benchmarks.latency ../shared/data/scifact``. The abstracts are cut as the product cuts
them, and taken over and over under new ids until there are so many chunks; vectors of chunks and
sentences are drawn uniformly from the unit sphere. Questions are the set's own; the semantic model is
real, so its time is in every row. ``plain fusion`` is z-scored BM25 and cosine, ``ranking`` adds
sentence vectors and smoothing, ``retrieve`` adds the reading of the three best chunks, ``ask`` is the
whole of ``Desk.ask`` with the extractive reader, nothing thresholded, its receipt written.
``--cache DIR`` keeps the index. With ``--token-vectors`` it holds token vectors, too, drawn at random
for pieces of words of up to five letters.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import READER, SystemClock, load, open_model
from evidencedesk.access import AccessFilter, Principal
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.chunking import chunk_document, chunking_settings
from evidencedesk.desk import Desk
from evidencedesk.model import (
    Candidates,
    Chunk,
    Document,
    IndexedChunk,
    Query,
    Span,
    StoreQuery,
    TokenVectors,
)
from evidencedesk.protocols import Embedder, Snapshot
from evidencedesk.retrieval import retrieve
from evidencedesk.retrieval.fusion import fuse, ranking, without_sentences
from evidencedesk.retrieval.retrieve import READ_CANDIDATES
from evidencedesk.settings import Settings
from evidencedesk.text.analysis import NORMALISATION, document_terms, query_groups
from evidencedesk.text.sentences import sentences

CANDIDATES = 100
HITS = 8
_PIECES = re.compile(r"\w{1,5}|[^\w\s]")


def main() -> None:
    """Build the index and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="corpus.jsonl, queries.jsonl, qrels.tsv")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--cache", type=Path, help="folder in which the index is kept")
    parser.add_argument("--token-vectors", action="store_true", help="keep and use token vectors")
    options = parser.parse_args()
    model, corpus = open_model(keep_tokens=options.token_vectors), load(options.folder)
    asked = [corpus.questions[name] for name in corpus.relevance][: options.questions]
    with tempfile.TemporaryDirectory() as scratch:
        path = (options.cache or Path(scratch)) / (
            f"latency-{options.chunks}{'-tokens' * options.token_vectors}.desk"
        )
        if not path.exists():
            build(path, options.chunks, corpus.documents, model)
        measure(path, asked, model)


def build(path: Path, chunks: int, documents: Sequence[Document], model: Embedder) -> None:
    """Write about so many chunks."""
    random = np.random.default_rng(11)
    store = SQLiteStore.open(
        path,
        create=True,
        clock=SystemClock(),
        embedding=model.spec,
        chunking=chunking_settings(),
        normalisation=NORMALISATION,
    )
    cut = {document.id: _terms_of(document) for document in documents}
    written = copy = 0
    with store.write() as writer:
        while written < chunks:
            with writer.together():
                for document in documents[: max(1, (chunks - written) // 2)]:
                    renamed = replace(document, id=f"{document.id}-{copy}")
                    indexed = [
                        _indexed(renamed.id, chunk, terms, random, model)
                        for chunk, terms in cut[document.id]
                    ]
                    writer.replace_document(renamed, {1: indexed})
                    written += len(indexed)
            copy += 1
    store.compact()
    store.close()


def _terms_of(document: Document) -> list[tuple[Chunk, dict[str, int]]]:
    return [
        (chunk, document_terms(chunk.title, (), "", chunk.text, chunk.lang))
        for chunk in chunk_document(document)
    ]


def _indexed(
    name: str, chunk: Chunk, terms: dict[str, int], random: np.random.Generator, model: Embedder
) -> IndexedChunk:
    return IndexedChunk(
        chunk=replace(chunk, id=f"{name}:c{chunk.ordinal}", document_id=name),
        terms=terms,
        vector=_unit(random, 1, model)[0],
        sentence_vectors=_unit(random, len(sentences(chunk.text)), model),
        embedding_key=f"{name}:{chunk.ordinal}",
        tokens=_tokens(random, chunk.text, model.spec.token_dimensions),
    )


def _tokens(random: np.random.Generator, text: str, dimensions: int) -> TokenVectors | None:
    if not dimensions:
        return None
    spans = tuple(Span(*piece.span()) for piece in _PIECES.finditer(text))
    return TokenVectors(_drawn(random, len(spans), dimensions), spans)


def measure(path: Path, asked: list[str], model: Embedder) -> None:
    """Print a row per way of answering."""
    keeps = model.spec.token_dimensions > 0
    settings = Settings.model_validate(
        {"retrieval": {"threshold": 0.0}, "embedding": {"token_vectors": keeps}}
    )
    reader = Principal(roles=frozenset({READER}))
    store = SQLiteStore.open(path, clock=SystemClock())
    print(f"{store.info().chunks[1]:,} chunks; milliseconds")
    print(f"{'':<16}{'p50':>8}{'p95':>8}")

    def in_snapshot(action: Callable[[str, Snapshot, Embedder], object]) -> list[float]:
        with store.read(access=AccessFilter.for_principal(reader)) as snapshot:
            return [_timed(lambda q=question: action(q, snapshot, model)) for question in asked]

    plain = in_snapshot(plain_fusion)
    ours = in_snapshot(our_ranking)
    _row("plain fusion", plain)
    _row("ranking", ours)
    _row("retrieve", in_snapshot(lambda q, snapshot, m: retrieve(Query(q, ("en",)), snapshot, m)))
    store.close()
    with Desk.open(path, settings=settings) as desk:
        whole = [_timed(lambda q=question: desk.ask(q, principal=reader)) for question in asked]
    _row("ask", whole)
    ratio = float(np.median(ours) / np.median(plain))
    print(f"ranking over plain fusion: {ratio:.2f} (bar 2.5)")
    print(f"ask, p95: {np.percentile(whole, 95):.0f} ms (bar {60 if keeps else 100})")


def plain_fusion(question: str, snapshot: Snapshot, model: Embedder) -> object:
    """The best chunks by z-scored BM25 and cosine."""
    found, vector = _found(question, snapshot, model)
    best = ranking(without_sentences(found, vector))[:HITS]
    return snapshot.chunks(found.keys[best].tolist())


def our_ranking(question: str, snapshot: Snapshot, model: Embedder) -> object:
    """The best chunks as the product ranks them."""
    found, vector = _found(question, snapshot, model)
    read = [np.zeros((0, len(vector)), np.float32)] * len(found.keys)
    rows = ranking(without_sentences(found, vector))[:READ_CANDIDATES]
    vectors = snapshot.sentence_vectors(found.keys[rows].tolist())
    for row, sentence_vectors in zip(rows, vectors, strict=True):
        read[row] = sentence_vectors
    best = ranking(fuse(found, read, vector))[:HITS]
    return snapshot.chunks(found.keys[best].tolist())


def _found(
    question: str, snapshot: Snapshot, model: Embedder
) -> tuple[Candidates, NDArray[np.float32]]:
    vector = model.embed_query(question)
    groups = query_groups(question, ("en",))
    return snapshot.search(StoreQuery(groups, vector, CANDIDATES)), vector


def _unit(random: np.random.Generator, count: int, model: Embedder) -> NDArray[np.float32]:
    return _drawn(random, count, model.spec.dimensions)


def _drawn(random: np.random.Generator, count: int, dimensions: int) -> NDArray[np.float32]:
    drawn = random.standard_normal((count, dimensions), np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - started)


def _row(name: str, times: list[float]) -> None:
    print(f"{name:<16}{np.percentile(times, 50):>8.1f}{np.percentile(times, 95):>8.1f}", flush=True)


if __name__ == "__main__":
    main()
