"""MRR@10 of the product's retrieval on XQuAD in several languages, for each way of searching.

Run ``python -m benchmarks.languages ../shared/data/xquad --models minilm e5``. All paragraphs are the
corpus, cut and indexed by the defaults; a document's rank is its best chunk's. Models are names of
``evidencedesk models list`` or folders; ``--cache DIR`` keeps the indexes for the next run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora import READER, Corpus, indexed, load, mean, open_model
from evidencedesk.access import AccessFilter, Principal
from evidencedesk.errors import ModelError
from evidencedesk.evaluation.metrics import reciprocal_rank
from evidencedesk.model import Query, TokenVectors
from evidencedesk.protocols import Embedder, Store
from evidencedesk.retrieval import retrieve

DEPTH = 10


class Ranking:
    """An embedder whose tokens are not asked for: they rank sentences, which nobody looks at here."""

    def __init__(self, embedder: Embedder) -> None:
        self.spec = embedder.spec
        self.embed_passages = embedder.embed_passages
        self.embed_query = embedder.embed_query

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """None are given; retrieval goes on with cosines."""
        raise ModelError(f"{len(texts)} texts, {query=}", code="model_failed", hint="")

    def stored_tokens(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """None are given."""
        return self.token_vectors(texts, query=query)


def main() -> None:
    """Print one row per language and way of searching."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="one folder per language, each in BEIR form")
    parser.add_argument("--languages", nargs="+", default=["en", "de", "es", "hi", "ar"])
    parser.add_argument("--models", nargs="+", default=["minilm", "e5"])
    parser.add_argument("--cache", type=Path, help="folder in which indexes are kept")
    options = parser.parse_args()
    models = {name: Ranking(open_model(name)) for name in options.models}
    print(f"{'language':<10}{'search':<12}{'MRR@10':>8}{'ms':>7}", flush=True)
    for language in options.languages:
        corpus = load(options.folder / language, language)
        name = f"{options.folder.name}-{language}"
        for label, embedder in {"keywords": None, **models}.items():
            with indexed(corpus.documents, embedder, name=name, cache=options.cache) as store:
                row = _row(corpus, store, embedder, language)
            print(f"{language:<10}{label:<12}{row}", flush=True)


def _row(corpus: Corpus, store: Store, embedder: Embedder | None, language: str) -> str:
    access = AccessFilter.for_principal(Principal(roles=frozenset({READER})))
    ranks = []
    started = time.monotonic()
    with store.read(access=access) as snapshot:
        for question, gains in corpus.relevance.items():
            query = Query(corpus.questions[question], (language,))
            found = retrieve(query, snapshot, embedder, k=DEPTH)
            documents = list(dict.fromkeys(hit.chunk.document_id for hit in found.hits))
            ranks.append(reciprocal_rank(documents, frozenset(gains)))
    milliseconds = 1000 * (time.monotonic() - started) / len(ranks)
    return f"{mean(ranks):>8.3f}{milliseconds:>7.1f}"


if __name__ == "__main__":
    main()
