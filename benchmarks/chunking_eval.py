"""What a context of 1,000 tokens holds of the gold spans, for every chunking strategy.

Run ``python -m benchmarks.chunking_eval ../shared/data/chunking_eval``. The best chunks are taken in
order while they fit the budget (our own token counter). ``recall`` is the share of the gold spans'
characters, white space aside, that the context holds; ``whole`` the share of gold spans held in
full; ``in one`` the share that stands whole in a single chunk of the context.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpora import READER, SystemClock, open_model
from evidencedesk.access import AccessFilter, Principal
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.chunking import chunk_document
from evidencedesk.evaluation.intervals import Estimate, mean_of
from evidencedesk.indexing import embed_chunks
from evidencedesk.model import Chunk, Document, IndexedChunk, Query, Span
from evidencedesk.protocols import Embedder, Store
from evidencedesk.retrieval import retrieve
from evidencedesk.text.analysis import NORMALISATION, document_terms
from evidencedesk.text.tokens import count_tokens

BUDGET = 1000
CHOICES: tuple[tuple[str, dict[str, int]], ...] = (
    ("structure", {}),
    ("structure", {"max_tokens": 100}),
    ("structure", {"max_tokens": 200}),
    ("structure", {"max_tokens": 150, "overlap_sentences": 1}),
    ("sentence", {"max_chars": 600}),
    ("sentence", {"max_chars": 900, "overlap_sentences": 1}),
    ("paragraph", {}),
    ("fixed", {"size": 600, "overlap": 100}),
    ("fixed", {"size": 800, "overlap": 0}),
)


@dataclass(frozen=True)
class Question:
    """A question with its gold spans in one text."""

    text: str
    document: str
    spans: tuple[Span, ...]


def main() -> None:
    """Print one row per strategy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="qa.jsonl and corpora/*.md")
    folder = parser.parse_args().folder
    documents = [_document(path) for path in sorted((folder / "corpora").glob("*.md"))]
    questions = _questions(folder / "qa.jsonl", {d.id: d for d in documents})
    model = open_model()
    print(f"{len(documents)} texts, {len(questions)} questions, {BUDGET} tokens")
    print(f"{'strategy':<46}{'chunks':>7}  {'recall':<22}{'whole':<22}{'in one':<22}{'s':>5}")
    for strategy, options in CHOICES:
        started = time.monotonic()
        chunks = [c for d in documents for c in chunk_document(d, strategy, **options)]
        with _indexed(documents, chunks, model) as store:
            recall, whole, single = _measured(questions, documents, store, model)
        name = f"{strategy} {' '.join(f'{k}={v}' for k, v in options.items())}"
        spent = time.monotonic() - started
        print(
            f"{name:<46}{len(chunks):>7}  {_shown(recall):<22}{_shown(whole):<22}"
            f"{_shown(single):<22}{spent:>5.0f}",
            flush=True,
        )


def _measured(
    questions: Sequence[Question], documents: Sequence[Document], store: Store, model: Embedder
) -> tuple[Estimate, Estimate, Estimate]:
    texts = {document.id: document.text for document in documents}
    recalls, wholes, singles = [], [], []
    access = AccessFilter.for_principal(Principal(roles=frozenset({READER})))
    with store.read(access=access) as snapshot:
        for question in questions:
            hits = retrieve(Query(question.text), snapshot, model, k=60).hits
            context = list(_within([hit.chunk for hit in hits]))
            own = [chunk.span for chunk in context if chunk.document_id == question.document]
            text = texts[question.document]
            shares = [_share(text, span, own) for span in question.spans]
            recalls.append(float(np.mean(shares)))
            wholes.append(float(np.mean([share == 1 for share in shares])))
            singles.append(float(np.mean([_share_of_best(text, s, own) for s in question.spans])))
    random = np.random.default_rng(1)
    return mean_of(recalls, random), mean_of(wholes, random), mean_of(singles, random)


def _within(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    left = BUDGET
    for chunk in chunks:
        left -= count_tokens(chunk.text)
        if left < 0:
            return
        yield chunk


def _share(text: str, span: Span, held: Sequence[Span]) -> float:
    inked = [i for i in range(*span) if not text[i].isspace()]
    covered = sum(any(one.start <= i < one.end for one in held) for i in inked)
    return covered / len(inked)


def _share_of_best(text: str, span: Span, held: Sequence[Span]) -> bool:
    return any(_share(text, span, [one]) == 1 for one in held)


@contextmanager
def _indexed(
    documents: Sequence[Document], chunks: Sequence[Chunk], model: Embedder
) -> Iterator[SQLiteStore]:
    with tempfile.TemporaryDirectory() as scratch:
        store = SQLiteStore.open(
            Path(scratch) / "chunking.desk",
            create=True,
            clock=SystemClock(),
            embedding=model.spec,
            normalisation=NORMALISATION,
        )
        with store.write() as writer:
            generation = writer.generations()[0].id
            for document in documents:
                plain = [_plain(chunk) for chunk in chunks if chunk.document_id == document.id]
                ready = embed_chunks(plain, model, writer.cached_vectors)
                writer.replace_document(document, {generation: ready})
        yield store
        store.close()


def _plain(chunk: Chunk) -> IndexedChunk:
    heading = chunk.location.heading
    return IndexedChunk(
        chunk, document_terms(chunk.title, heading, chunk.context, chunk.text, chunk.lang)
    )


def _document(path: Path) -> Document:
    parsed = MarkdownParser().parse(path.read_bytes(), path.name)
    return Document(
        id=path.stem,
        text=parsed.text,
        blocks=parsed.blocks,
        title=path.stem.replace("_", " "),
        lang="en",
        roles=frozenset({READER}),
        first_line=parsed.first_line,
    )


def _questions(path: Path, documents: dict[str, Document]) -> list[Question]:
    found = []
    for line in path.open(encoding="utf-8"):
        row = json.loads(line)
        text = documents[row["corpus_id"]].text
        spans = [_span(text, one) for one in row["references"]]
        found.append(Question(row["question"], row["corpus_id"], tuple(spans)))
    return found


def _span(text: str, reference: dict[str, str | int]) -> Span:
    content = str(reference["content"])
    start = int(reference["start_index"])
    if not text.startswith(content, start):
        start = text.index(content)
    return Span(start, start + len(content))


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


if __name__ == "__main__":
    main()
