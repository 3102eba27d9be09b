"""What receipts cost: writing one (also with eight citations), and rechecking a thousand.

python -m benchmarks.receipts [answers]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from evidencedesk.access import DEFAULT_STATUSES, Principal
from evidencedesk.desk import Desk
from evidencedesk.model import Reply, Request
from evidencedesk.settings import Settings

READER = Principal(roles=frozenset({"everyone"}), subject="reader")
CHIEF = Principal(subject="chief", administrator=True)
CITATIONS = 8
ROUNDS = 300
POLICY = """---
id: {thing}
roles: [everyone]
---
## Returning a {thing}
A new {thing} can be returned within {days} days of delivery for a full refund.
"""
THINGS = [
    "bicycle",
    "saddle",
    "helmet",
    "pedal",
    "chain",
    "lamp",
    "pump",
    "lock",
    "basket",
    "trailer",
    "mirror",
    "bell",
    "tyre",
    "tube",
    "spoke",
    "brake",
    "gear",
    "lever",
    "cable",
    "frame",
    "fork",
    "stem",
    "handlebar",
    "grip",
    "mudguard",
    "rack",
    "kickstand",
    "battery",
    "charger",
    "display",
    "motor",
    "sensor",
    "jacket",
    "glove",
    "shoe",
    "sock",
    "cap",
    "jersey",
    "vest",
    "backpack",
    "bottle",
    "cage",
    "computer",
    "tool",
    "stand",
    "cover",
    "ladder",
    "sledge",
    "kayak",
    "tent",
]


def milliseconds(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor time of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000


def write_policies(folder: Path, changed: str = "") -> None:
    """One policy per thing; one of them, if any, with another number."""
    for thing in THINGS:
        text = POLICY.format(thing=thing, days=60 if thing == changed else 30)
        (folder / f"{thing}.md").write_text(text, "utf-8")


class QuotesEverything:
    """A generator that claims the first sentence of each of its eight best sources."""

    name = "quotes everything"

    def generate(self, request: Request) -> Reply:
        """The reply."""
        claims = []
        for source in request.evidence.sources[:CITATIONS]:
            text = source.chunk.text.strip()
            claims.append({"text": text, "citations": [{"source": source.label, "quote": text}]})
        return Reply(json.dumps({"insufficient": False, "claims": claims}))


def write_wide(folder: Path) -> None:
    """Time receipts of an answer with eight citations."""
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(folder / "x.desk", settings=settings, generator=QuotesEverything()) as desk:
        recording = desk._recording  # noqa: SLF001
        question = "Within how many days can a new bicycle, saddle or helmet be returned?"
        asked = recording.begin(question, READER, DEFAULT_STATUSES, None)
        explained = desk.explain(question, principal=READER, threshold=0.0)
        times = []
        for number in range(ROUNDS):
            answer = replace(explained.answer, answer_id=f"wide-{number}")
            again = replace(explained, answer=answer)
            times.append(milliseconds(lambda e=again: recording.kept(asked, e)))
    wall, processor = zip(*times, strict=True)
    print(
        f"write one with {len(explained.answer.citations)} citations: median "
        f"{statistics.median(wall):.2f} ms wall, {statistics.median(processor):.2f} ms processor, "
        f"fastest {min(processor):.2f}"
    )


def main(answers: int) -> None:
    """Print the figures."""
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policies").mkdir()
        write_policies(folder / "policies")
        with Desk.open(folder / "x.desk", settings=settings) as desk:
            desk.ingest(folder / "policies")
            recording = desk._recording  # noqa: SLF001
            questions = [
                f"Within how many days can a new {THINGS[n % len(THINGS)]} be returned for a refund?"
                for n in range(answers)
            ]
            trial, times, cited = desk.unrecorded(), [], 0
            for question in questions:
                asked = recording.begin(question, READER, DEFAULT_STATUSES, None)
                explanation = trial.explain(question, principal=READER, threshold=0.0)
                cited += len(explanation.answer.citations)
                times.append(milliseconds(lambda a=asked, e=explanation: recording.kept(a, e)))
            wall, processor = zip(*times, strict=True)
            print(
                f"{answers} receipts, {len(THINGS)} documents, {cited / answers:.1f} citations each"
            )
            print(
                f"write one: median {statistics.median(wall):.2f} ms wall, "
                f"{statistics.median(processor):.2f} ms processor; "
                f"95th percentile {statistics.quantiles(wall, n=20)[-1]:.2f} ms wall"
            )
            size = (folder / "x.desk" / "index.sqlite3").stat().st_size
            print(f"database: {size / 1024:.0f} KiB")
            write_policies(folder / "policies", changed=THINGS[7])
            desk.ingest(folder / "policies")
            lapsed = desk.answers.recheck(principal=CHIEF)
            spent = milliseconds(lambda: desk.answers.recheck(principal=CHIEF))
            print(
                f"recheck all: {spent[0]:.0f} ms wall, {spent[1]:.0f} ms processor, "
                f"{len({each.answer_id for each in lapsed})} no longer hold"
            )
            quoting = [
                row["answer_id"]
                for row in desk.answers.list(principal=CHIEF, limit=answers)
                if THINGS[7] + ":c0"
                in str(desk.answers.show(row["answer_id"], principal=CHIEF)["citations"])
            ]
            print(f"quoted the changed document: {len(quoting)}")
            print(f"audit: {milliseconds(desk.answers.audit)[0]:.0f} ms")
        write_wide(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
