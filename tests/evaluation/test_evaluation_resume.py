"""A run on a desk: interrupted and taken up again, and errors that concern one question alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evidencedesk.access import Principal, Status
from evidencedesk.desk import Desk
from evidencedesk.evaluation.golden import GoldenQuestion, GoldenSet, Label, Reader
from evidencedesk.evaluation.run import Measuring, evaluate
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.model import Hit
from evidencedesk.pipeline import Explanation
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock

READER = Reader(roles=frozenset({"staff"}))
GOLDEN = GoldenSet(
    "g",
    tuple(
        GoldenQuestion(f"q{n}", f"When is room {n} cleaned?", READER, documents={"rooms": 1.0})
        for n in range(4)
    ),
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "rooms.md").write_text("Each room is cleaned on Monday at 9:00.\n", "utf-8")
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(folder / "rooms.desk", settings=settings, clock=SteppingClock()) as made:
        made.ingest(folder / "rooms.md", roles={"staff"})
        yield made


@dataclass
class Interrupted:
    """Asks a desk until somebody presses Ctrl-C."""

    desk: Desk
    after: int
    asked: list[str] = field(default_factory=list)

    def explain(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None = None,
    ) -> Explanation:
        if len(self.asked) == self.after:
            raise KeyboardInterrupt
        self.asked.append(question)
        return self.desk.explain(
            question, principal=principal, statuses=statuses, threshold=threshold
        )

    def search(
        self, query: str, *, principal: Principal, statuses: Iterable[Status], k: int | None = None
    ) -> tuple[Hit, ...]:
        return self.desk.search(query, principal=principal, statuses=statuses, k=k)


def test_an_interrupted_run_is_taken_up_and_asks_nothing_twice(desk: Desk, tmp_path: Path) -> None:
    measuring = Measuring(SteppingClock(), RunStore(tmp_path))
    first = Interrupted(desk, after=2)
    with pytest.raises(KeyboardInterrupt):
        evaluate(desk, GOLDEN, measuring, asker=first)
    assert measuring.store is not None
    assert measuring.store.ids() == ()
    second = Interrupted(desk, after=100)
    run = evaluate(desk, GOLDEN, measuring, asker=second)
    assert second.asked == [one.question for one in GOLDEN.questions[2:]]
    assert [one.id for one in run.outcomes] == ["q0", "q1", "q2", "q3"]
    assert measuring.store.ids() == (run.id,)
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_another_golden_set_or_name_begins_anew(desk: Desk, tmp_path: Path) -> None:
    measuring = Measuring(SteppingClock(), RunStore(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        evaluate(desk, GOLDEN, measuring, asker=Interrupted(desk, after=2))
    other = Interrupted(desk, after=100)
    evaluate(desk, GOLDEN, measuring, asker=other, name="other")
    assert len(other.asked) == 4


def test_a_question_that_cannot_be_asked_is_an_outcome(desk: Desk) -> None:
    long = replace(GOLDEN.questions[0], id="long", question="why " * 1000)
    golden = GoldenSet("g", (long, GOLDEN.questions[1]))
    run = evaluate(desk, golden, Measuring(SteppingClock()))
    assert [one.error for one in run.outcomes] == ["question_too_long", ""]
    assert run.outcomes[0].scores == {}


def test_retrieval_only_judges_no_answer(desk: Desk) -> None:
    golden = GoldenSet("g", (replace(GOLDEN.questions[0], retrieval_only=True),))
    [outcome] = evaluate(desk, golden, Measuring(SteppingClock())).outcomes
    assert outcome.abstained is None
    assert outcome.scores["recall@1"] == 1.0
    assert "answered" not in outcome.scores


def test_a_run_knows_under_what_it_was_made(desk: Desk) -> None:
    nobody = GoldenQuestion("n", "Who?", READER, label=Label.UNANSWERABLE)
    made = evaluate(
        desk, GoldenSet("g", (nobody,)), Measuring(SteppingClock()), version="1", git_commit="abc"
    ).conditions
    assert (made.version, made.git_commit, made.embedding) == ("1", "abc", "")
    assert made.settings["embedding.model"] == "none"
    assert made.chunking == "structure (max_tokens 150, overlap_sentences 0)"
    assert not any(name.startswith("evaluation.") for name in made.settings)
