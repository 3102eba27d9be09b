"""nDCG@10 of the product's retrieval on a corpus in BEIR form.

Run ``python -m benchmarks.beir ../shared/data/scifact``. Documents are cut, indexed and searched by
the product's own parts with its defaults; a document's score is its best chunk's. Beside it stands
the figure for documents left whole. ``--cache DIR`` keeps the indexes for the next run.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.corpora import READER, Corpus, indexed, load, mean, open_model
from evidencedesk.access import AccessFilter, Principal
from evidencedesk.evaluation import mrr, ndcg_at_k, recall_at_k
from evidencedesk.model import Query
from evidencedesk.protocols import Embedder, Snapshot, Store
from evidencedesk.retrieval import retrieve

DEPTH = 100


def main() -> None:
    """Print one row per way of cutting and searching."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="corpus.jsonl, queries.jsonl, qrels.tsv")
    parser.add_argument("--cache", type=Path, help="folder in which indexes are kept")
    parser.add_argument("--token-vectors", action="store_true", help="keep and use token vectors")
    options = parser.parse_args()
    corpus, model = load(options.folder), open_model(keep_tokens=options.token_vectors)
    print(
        f"{options.folder.name}: {len(corpus.documents)} documents, {len(corpus.relevance)} questions"
    )
    print(f"{'documents':<12}{'search':<10}{'nDCG@10':>8}{'recall@10':>11}{'MRR':>7}{'ms':>7}")
    for cut in ("structure", "whole"):
        with indexed(
            corpus.documents, model, name=options.folder.name, cut=cut, cache=options.cache
        ) as store:
            for search, embedder in (("hybrid", model), ("keywords", None)):
                print(f"{cut:<12}{search:<10}{_row(corpus, store, embedder)}")


def _row(corpus: Corpus, store: Store, embedder: Embedder | None) -> str:
    access = AccessFilter.for_principal(Principal(roles=frozenset({READER})))
    started = time.monotonic()
    with store.read(access=access) as snapshot:
        rankings = {
            question: documents_for(corpus.questions[question], snapshot, embedder)
            for question in corpus.relevance
        }
    milliseconds = 1000 * (time.monotonic() - started) / len(rankings)
    judged = [(ranking, corpus.relevance[question]) for question, ranking in rankings.items()]
    ndcg = mean(ndcg_at_k(ranking, gains, 10) for ranking, gains in judged)
    recall = mean(recall_at_k(ranking, gains, 10) for ranking, gains in judged)
    return f"{ndcg:>8.3f}{recall:>11.3f}{mrr(judged):>7.3f}{milliseconds:>7.1f}"


def documents_for(question: str, snapshot: Snapshot, embedder: Embedder | None) -> list[str]:
    """Ids of the documents found, each at the rank of its best chunk."""
    found = retrieve(Query(question), snapshot, embedder, k=DEPTH)
    return list(dict.fromkeys(hit.chunk.document_id for hit in found.hits))


if __name__ == "__main__":
    main()
