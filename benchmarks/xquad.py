"""How often the sentences shown hold the answer, and how often what is shown is wrong.

Run ``python -m benchmarks.xquad ../shared/data/xquad``. Every question is asked of all paragraphs,
then by two readers who may see one half of them each, so that every question is once answerable and
once not. An answer is right when one of the sentences that the extractive reader shows (two at most)
holds the whole gold span. ``--cache DIR`` keeps the index for the next run.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import READER, indexed, json_lines, load, mean, open_model
from evidencedesk.access import AccessFilter, Principal
from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.assembly import assemble
from evidencedesk.generation import build_request
from evidencedesk.model import Query
from evidencedesk.protocols import Embedder, Snapshot, Store
from evidencedesk.retrieval import DEFAULT_THRESHOLD, retrieve

HALVES = ("half-1", "half-2")


@dataclass(frozen=True)
class Question:
    """A question with its gold span."""

    text: str
    document: str
    start: int
    end: int


@dataclass(frozen=True)
class Outcome:
    """What one question got: its confidence, how much was shown, whether the gold span was in it.

    ``first`` says whether the best sentence alone holds it, ``answerable`` whether the reader may see
    the paragraph that holds the answer.
    """

    confidence: float
    shown: int
    right: bool
    first: bool
    answerable: bool


def main() -> None:
    """Print the table for the language folder given, ``en`` by default."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder xquad, or one language of it")
    parser.add_argument("--cache", type=Path, help="folder in which the index is kept")
    parser.add_argument("--model", default="minilm", help="a pulled model, or a folder")
    parser.add_argument("--token-vectors", action="store_true", help="keep and use token vectors")
    options = parser.parse_args()
    folder = options.folder / "en" if (options.folder / "en").is_dir() else options.folder
    lang = folder.name
    corpus = load(folder, lang, _halves(folder))
    questions = _questions(folder)
    model = open_model(options.model, keep_tokens=options.token_vectors)
    print(
        f"xquad {lang}, {options.model}: {len(corpus.documents)} paragraphs, {len(questions)} questions"
    )
    with indexed(
        corpus.documents, model, name=f"xquad-{lang}-halves", cache=options.cache
    ) as store:
        for name, embedder in (("hybrid", model), ("keywords", None)):
            _report(name, questions, store, embedder, lang)


def _report(
    name: str, questions: Sequence[Question], store: Store, embedder: Embedder | None, lang: str
) -> None:
    everything = _outcomes(questions, store, embedder, READER, lang)
    half = [one for role in HALVES for one in _outcomes(questions, store, embedder, role, lang)]
    shown = [one for one in half if one.confidence >= DEFAULT_THRESHOLD and one.shown]
    cleared = [one for one in everything if one.confidence >= DEFAULT_THRESHOLD]
    print(f"{name}, nothing thresholded:")
    print(f"  gold span in the sentences shown   {mean(one.right for one in everything):.3f}")
    print(f"  gold span in the best sentence     {mean(one.first for one in everything):.3f}")
    print(f"  sentences shown, mean              {mean(one.shown for one in everything):.2f}")
    print(f"{name}, threshold {DEFAULT_THRESHOLD}:")
    print(f"  questions answered                 {len(cleared) / len(everything):.3f}")
    print(
        f"  gold span shown, of all questions  {sum(o.right for o in cleared) / len(everything):.3f}"
    )
    print(f"{name}, threshold {DEFAULT_THRESHOLD}, the other half of the paragraphs out of sight:")
    print(f"  wrong among the shown              {mean(not one.right for one in shown):.3f}")
    print(f"  answerable questions shown         {_answered(half, questions):.3f}")
    print(
        f"  answerable questions shown right   {sum(o.right for o in shown) / len(questions):.3f}"
    )


def _outcomes(
    questions: Sequence[Question], store: Store, embedder: Embedder | None, role: str, lang: str
) -> list[Outcome]:
    access = AccessFilter.for_principal(Principal(roles=frozenset({role})))
    with store.read(access=access) as snapshot:
        return [_outcome(question, snapshot, embedder, lang) for question in questions]


def _outcome(
    question: Question, snapshot: Snapshot, embedder: Embedder | None, lang: str
) -> Outcome:
    found = retrieve(Query(question.text, (lang,)), snapshot, embedder)
    evidence = assemble(found)
    reply = json.loads(ExtractiveReader().generate(build_request(question.text, evidence)).text)
    quotes = {
        (cited["source"], cited["quote"])
        for claim in reply["claims"]
        for cited in claim["citations"]
    }
    chunks = {source.chunk.id: source for source in evidence.sources}
    spans = [
        (chunks[one.chunk_id].chunk.document_id, one.span)
        for one in evidence.sentences
        if (chunks[one.chunk_id].label, one.text) in quotes
    ]
    held = [
        document == question.document and span.start <= question.start and question.end <= span.end
        for document, span in spans
    ]
    return Outcome(
        found.confidence,
        len(quotes),
        right=any(held),
        first=any(held[:1]),
        answerable=snapshot.document(question.document) is not None,
    )


def _answered(half: Sequence[Outcome], questions: Sequence[Question]) -> float:
    """Share of the questions shown an answer by the reader who may see their paragraph."""
    seen = [one for one in half if one.answerable]
    return sum(one.confidence >= DEFAULT_THRESHOLD for one in seen) / len(questions)


def _halves(folder: Path) -> dict[str, str]:
    ids = [row["_id"] for row in json_lines(folder / "corpus.jsonl")]
    first = frozenset(random.Random(7).sample(ids, len(ids) // 2))
    return {one: HALVES[one not in first] for one in ids}


def _questions(folder: Path) -> list[Question]:
    rows = [json.loads(line) for line in (folder / "qa.jsonl").open(encoding="utf-8")]
    return [
        Question(
            text=row["question"],
            document=row["doc_id"],
            start=row["answers"][0]["answer_start"],
            end=row["answers"][0]["answer_start"] + len(row["answers"][0]["text"]),
        )
        for row in rows
    ]


if __name__ == "__main__":
    main()
