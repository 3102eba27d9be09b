"""False accepts and false rejects of model replies, per kind.

``python -m benchmarks.replies tests/cases/model_replies.jsonl`` reads one reply a line (``sources``,
``question``, ``reply``, ``expected``, ``expected_reason``, ``also_ok_reasons``, ``tier``, ``kind``),
verifies each as the product does with ``require = quoted`` and no judge, and prints what went wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from evidencedesk.generation import RejectedReply, parse_reply
from evidencedesk.model import Chunk, Evidence, EvidenceSource, Hit, Location, Reason, Reply, Span
from evidencedesk.verification import verify


def outcome(row: dict[str, Any]) -> Reason:
    """The reason that the product gives for a row's reply."""
    reply = row["reply"]
    raw = reply.get("raw")
    draft = parse_reply(Reply(raw if raw is not None else json.dumps(reply, ensure_ascii=False)))
    if isinstance(draft, RejectedReply):
        return draft.reason
    sources = tuple(
        EvidenceSource(one["id"], Hit(_chunk(one, row.get("lang", "en")), 1.0, None, 1.0))
        for one in row["sources"]
    )
    return verify(
        draft,
        Evidence(sources),
        current={source.label: source.chunk for source in sources},
        locate=lambda _, span: _location(span),
        question=row["question"],
    ).reason


def _chunk(source: dict[str, str], lang: str) -> Chunk:
    text, name = source["text"], source["id"]
    place = Location(start=0, end=len(text))
    return Chunk(f"{name}:c0", name, 0, text, place, title=source.get("title", ""), lang=lang)


def _location(span: Span) -> Location:
    return Location(start=span.start, end=span.end)


def main() -> None:
    """Print the figures of one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().file.read_text("utf-8").splitlines()]
    totals: Counter[tuple[str, str, str]] = Counter()
    wrong: Counter[tuple[str, str, str]] = Counter()
    reasons = expected_reasons = 0
    for row in rows:
        said = outcome(row)
        key = (row["tier"], row["kind"], row["expected"])
        totals[key] += 1
        wrong[key] += (said is Reason.OK) is not (row["expected"] == "accept")
        if row["expected"] == "reject" and said is not Reason.OK:
            reasons += 1
            expected_reasons += said.value in {row["expected_reason"], *row["also_ok_reasons"]}
    print(f"{'tier':10} {'kind':32} {'false accepts':>15} {'false rejects':>15}")
    for tier, kind in sorted({key[:2] for key in totals}):
        bad, good = (tier, kind, "reject"), (tier, kind, "accept")
        print(f"{tier:10} {kind:32} {_of(wrong, totals, bad):>15} {_of(wrong, totals, good):>15}")
    print()
    for tier in sorted({key[0] for key in totals}):
        for expected, name in (("reject", "false accepts"), ("accept", "false rejects")):
            keys = [key for key in totals if key[0] == tier and key[2] == expected]
            share = f"{sum(wrong[key] for key in keys)} of {sum(totals[key] for key in keys)}"
            print(f"{tier:10} {name}: {share}")
    print(f"rejected for an expected reason: {expected_reasons} of {reasons}")


def _of(
    wrong: Counter[tuple[str, str, str]],
    totals: Counter[tuple[str, str, str]],
    key: tuple[str, str, str],
) -> str:
    return f"{wrong[key]} of {totals[key]}" if totals[key] else "-"


if __name__ == "__main__":
    main()
