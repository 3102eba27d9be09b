from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.chunking import (
    STRATEGIES,
    LabelledQuestion,
    chunk_document,
    chunking_settings,
    compare_strategies,
)
from evidencedesk.chunking.intervals import leading_row, wilson_interval
from evidencedesk.errors import ChunkingError
from evidencedesk.model import Chunk, ChunkingSettings, Document

TEXT = "# Pets\nCats sleep a lot. Dogs\nrun in the park.\n\nFish swim.\n# Cars\nCars need fuel. Trains do not."
DOCUMENT = Document(id="d", text=TEXT)


def by_shared_words(chunks: tuple[Chunk, ...]):
    def search(question: str) -> list[str]:
        words = set(question.casefold().split())
        shared = {
            c.id: len(words & set(c.text.casefold().replace(".", "").split())) for c in chunks
        }
        return sorted(shared, key=lambda key: -shared[key])

    return search


def test_numbers_of_a_corpus_counted_by_hand():
    choices = [chunking_settings("paragraph"), chunking_settings("fixed", size=20, overlap=0)]
    facts = ["dogs run in the park", "Trains do not", "Horses eat hay"]
    comparison = compare_strategies([DOCUMENT], choices, facts=facts)
    paragraph, fixed = comparison.reports
    assert (paragraph.chunks, paragraph.shortest, paragraph.longest) == (3, 10, 39)
    assert paragraph.ending_mid_sentence == 0
    assert paragraph.whole_facts == ("dogs run in the park", "Trains do not")
    assert paragraph.broken_facts == ()
    assert (fixed.chunks, fixed.shortest, fixed.longest) == (5, 10, 20)
    assert fixed.ending_mid_sentence == 2
    assert fixed.broken_facts == ("dogs run in the park", "Trains do not")
    assert comparison.absent_facts == ("Horses eat hay",)
    assert comparison.leader is None
    assert paragraph.retrieval is None


def test_labelled_questions_are_ranked_against_the_chunk_that_holds_the_quote():
    questions = [
        LabelledQuestion("do fish swim", "d", "Fish swim"),
        LabelledQuestion("do cars need fuel", "d"),
        LabelledQuestion("do cars need fuel", "d", "dogs run"),
        LabelledQuestion("anything", "not there"),
    ]
    (report,) = compare_strategies(
        [DOCUMENT], [chunking_settings("paragraph")], questions=questions, indexer=by_shared_words
    ).reports
    assert report.retrieval is not None
    assert report.retrieval.recall_at_1.value == 0.5
    assert report.retrieval.recall_at_3.value == 0.75
    assert report.retrieval.mrr.value in {0.5 + 1 / 8, 0.5 + 1 / 12}


def test_a_leader_is_named_only_when_the_sample_can_tell():
    good, bad = np.ones(40), np.zeros(40)
    random = np.random.default_rng(7)
    assert leading_row(np.array([bad, good, bad]), random) == 1
    assert leading_row(np.array([good, good]), random) is None
    assert leading_row(np.array([good]), random) is None
    for few in range(6):
        assert leading_row(np.array([good[:few], bad[:few]]), random) is None


def test_two_strategies_that_differ_by_chance_have_no_leader():
    named = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        scores = random.integers(0, 2, size=(4, 30)).astype(float)
        named += leading_row(scores, random) is not None
    assert named <= 4


def test_compare_names_the_leader_by_its_settings_and_is_reproducible():
    texts = [
        f"Topic{n} is explained here, and only here, at some length. {'Filler. ' * 9}"
        for n in range(30)
    ]
    documents = [Document(id=f"d{n}", text=text) for n, text in enumerate(texts)]
    questions = [
        LabelledQuestion(f"topic{n} here", f"d{n}", "explained here, and only here")
        for n in range(30)
    ]
    choices = [chunking_settings("fixed", size=10, overlap=0), chunking_settings("sentence")]

    def run(seed: int):
        random = np.random.default_rng(seed)
        return compare_strategies(
            documents, choices, questions=questions, indexer=by_shared_words, random=random
        )

    assert run(1) == run(1)
    assert run(1).leader == choices[1]
    assert run(1).questions == 30


@given(mean=st.floats(0, 1), size=st.integers(1, 10_000))
def test_interval_holds_its_mean_and_stays_within_bounds(mean, size):
    interval = wilson_interval(mean, size)
    assert 0 <= interval.low <= interval.value + 1e-9
    assert interval.value - 1e-9 <= interval.high <= 1
    assert interval.low < interval.high


def test_known_intervals():
    assert wilson_interval(0.5, 100).low == pytest.approx(0.4038, abs=1e-4)
    assert wilson_interval(1.0, 3).low == pytest.approx(0.4385, abs=1e-4)
    assert wilson_interval(0.0, 0).high == 1.0


def test_an_empty_corpus_is_compared_too():
    choices = [chunking_settings(name) for name in STRATEGIES]
    comparison = compare_strategies([], choices, facts=["anything"])
    assert [report.chunks for report in comparison.reports] == [0, 0, 0, 0]
    assert comparison.absent_facts == ("anything",)


def test_the_default_settings_are_those_of_an_index():
    assert chunking_settings() == ChunkingSettings()


def test_settings_are_checked():
    assert chunking_settings("fixed", size=200).options == (("overlap", 100), ("size", 200))
    with pytest.raises(ChunkingError, match="smaller"):
        chunking_settings("fixed", size=9)
    with pytest.raises(ChunkingError, match="strategy"):
        compare_strategies([DOCUMENT], [ChunkingSettings("nothing", ())])


def test_the_default_breaks_no_sentence_of_the_sample_corpus():
    folder = Path(__file__).parents[2] / "samples" / "kestrel"
    documents = [
        Document(id=path.stem, text=path.read_text(encoding="utf-8").split("---\n", 2)[2])
        for path in sorted(folder.glob("*.md"))
    ]
    choices = [chunking_settings(name) for name in STRATEGIES]
    reports = {r.settings.strategy: r for r in compare_strategies(documents, choices).reports}
    assert reports["structure"].ending_mid_sentence == 0
    assert reports["sentence"].ending_mid_sentence == 0
    assert reports["structure"].chunks == sum(len(chunk_document(d)) for d in documents)
