"""A live adversary: two small models that follow the schema and invent answers and citations freely.

``python -m benchmarks.adversary --questions 300`` asks them about the sample corpora, in process and
over HTTP, and checks everything that was shown again, by other means than the verifier's: is the
quote a slice of its source, is every number of the claim in a quote, may the reader see the source.
Every other reply is held to true quotes, so that it is the claims that are judged. It prints the
reasons and exits with 1 when anything shown fails.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from benchmarks.small_models import MODELS, SmallModel, fetched, served
from evidencedesk import Desk, Principal
from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.generator_wiring import generator_of
from evidencedesk.model import Answer, Document, Evidence, Reply, Request
from evidencedesk.protocols import Generator
from evidencedesk.settings import Settings
from evidencedesk.settings.table import EmbeddingTable, GenerationTable, VerificationTable
from evidencedesk.wiring import SystemClock

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
OPERATOR = Principal(administrator=True)
_NUMBER = re.compile(r"\d+")


def narrow_schema(citation: dict[str, object]) -> dict[str, object]:
    """Narrower than the product's schema, so that models this small get past the format and claim."""
    claim = {
        "type": "object",
        "additionalProperties": False,
        "required": ["text", "citations"],
        "properties": {
            "text": {"type": "string", "maxLength": 160},
            "citations": {"type": "array", "items": citation, "minItems": 1, "maxItems": 1},
        },
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["insufficient", "claims"],
        "properties": {
            "insufficient": {"enum": [False]},
            "claims": {"type": "array", "items": claim, "minItems": 1, "maxItems": 2},
        },
    }


def citation_schema(source: dict[str, object], quote: dict[str, object]) -> dict[str, object]:
    """The shape of a citation."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["source", "quote"],
        "properties": {"source": source, "quote": quote},
    }


FREE = citation_schema({"enum": ["S1", "S2", "S9"]}, {"type": "string", "maxLength": 120})
"""A citation of which everything is invented."""


def true_quotes(evidence: Evidence) -> dict[str, object]:
    """A citation whose quote stands in its source, whatever is claimed of it."""
    labels = {source.chunk.id: source.label for source in evidence.sources}
    quotes: dict[str, list[str]] = {}
    for sentence in evidence.sentences[:12]:
        if sentence.chunk_id in labels:
            quotes.setdefault(labels[sentence.chunk_id], []).append(sentence.text)
    return {
        "anyOf": [
            citation_schema({"enum": [label]}, {"enum": texts}) for label, texts in quotes.items()
        ]
    }


class Narrowed:
    """The generator of the settings, with a narrow schema: every other reply has true quotes."""

    name = "adversary"

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._asked = 0

    def generate(self, request: Request) -> Reply:
        """The reply to the same request."""
        self._asked += 1
        honest = self._asked % 2 == 0 and request.evidence.sentences
        schema = narrow_schema(true_quotes(request.evidence) if honest else FREE)
        return self._generator.generate(replace(request, schema=schema))


@dataclass(slots=True)
class Tally:
    """What came of one model on one path."""

    reasons: Counter[str] = field(default_factory=Counter)
    failed_checks: Counter[str] = field(default_factory=Counter)
    replies: int = 0
    drafted: int = 0
    shown: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=300, help="per model, over both paths")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=220, help="limit on a reply")
    options = parser.parse_args(arguments)
    tallies: dict[tuple[str, str], Tally] = {}
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "adversary.desk"
        documents = ingested(index)
        for model in MODELS:
            path = fetched(model)
            asked = questions(random.Random(options.seed))
            for way in ("local", "http"):
                share = list(itertools.islice(asked, options.questions // 2))
                tally = tallies[model.name, way] = Tally()
                run(index, path, way, share, documents, tally, options.tokens)
                report(model, way, tally)
    violations = [line for tally in tallies.values() for line in tally.violations]
    print(f"\nshown claims that fail a check made again: {len(violations)}")
    for line in violations:
        print(f"  {line}")
    return 1 if violations else 0


def ingested(index: Path) -> dict[str, Document]:
    """Both sample corpora in an index; every document by id."""
    with Desk.open(index, settings=Settings(embedding=EmbeddingTable(model="none"))) as desk:
        desk.ingest(SAMPLES / "kestrel", SAMPLES / "academy")
        everything = desk.documents(principal=OPERATOR, statuses=list(Status))
        return {
            record.id: desk.document(record.id, principal=OPERATOR, statuses=list(Status))
            for record in everything
        }


def questions(shuffled: random.Random) -> Iterator[tuple[str, Principal]]:
    """Golden questions without end, each by its own reader first and by the others after."""
    rows = [
        row
        for name in ("kestrel", "academy")
        for row in yaml.safe_load((SAMPLES / "golden" / f"{name}.yaml").read_text())["questions"]
    ]
    groups = sorted({frozenset(row["roles"]) for row in rows}, key=sorted)
    first = [(row["question"], frozenset(row["roles"])) for row in rows]
    others = [(row["question"], roles) for row in rows for roles in groups]
    shuffled.shuffle(first)
    shuffled.shuffle(others)
    for question, roles in itertools.chain(first, itertools.cycle(others)):
        yield question, Principal(roles=roles)


def run(
    index: Path,
    model: Path,
    way: str,
    asked: Sequence[tuple[str, Principal]],
    documents: dict[str, Document],
    tally: Tally,
    tokens: int,
) -> None:
    """Ask everything; the same question would else have the same reply, so sampling is warm."""
    with nullcontext("") if way == "local" else served(model) as address:
        generation = GenerationTable(
            generator="local" if way == "local" else "openai",
            model=str(model),
            base_url=f"{address}/v1" if address else None,
            evidence_tokens=300,
            max_output_tokens=tokens,
            timeout_s=300.0,
            temperature=0.7,
            context_tokens=4096,
            threads=1,
        )
        settings = Settings(
            embedding=EmbeddingTable(model="none"),
            generation=generation,
            verification=VerificationTable(on_failure="trim"),
        )
        started = time.monotonic()
        generator = generator_of(settings, SystemClock(), {})
        with (
            closing(generator),
            Desk.open(index, settings=settings, generator=Narrowed(generator)) as desk,
        ):
            for question, reader in asked:
                explanation = desk.explain(question, principal=reader, threshold=0.0)
                count(tally, explanation.answer, reader, documents)
                if explanation.reply is not None:
                    tally.replies += 1
                if explanation.verdict is not None:
                    tally.drafted += len(explanation.verdict.claims)
        tally.seconds = time.monotonic() - started


def count(tally: Tally, answer: Answer, reader: Principal, documents: dict[str, Document]) -> None:
    """Add one answer, and check again what it shows."""
    tally.reasons[answer.reason.value] += 1
    tally.failed_checks.update({check.check for check in answer.checks if not check.passed})
    tally.output_tokens += answer.usage.output_tokens
    tally.shown += len(answer.claims)
    tally.violations += [
        f"{answer.question!r}: {line}" for line in problems(answer, reader, documents)
    ]


def problems(answer: Answer, reader: Principal, documents: dict[str, Document]) -> Iterator[str]:
    """What is wrong with what is shown; nothing here asks the verifier."""
    access = AccessFilter.for_principal(reader)
    for citation in answer.citations:
        document = documents[citation.document_id]
        place = citation.quote_location
        if not citation.quote or document.text[place.start : place.end] != citation.quote:
            yield f"the quote {citation.quote!r} does not stand where it is said to"
        rule = AccessRule(document.tenant, document.roles, document.deny, Status(document.status))
        if not access.admits(rule):
            yield f"{citation.document_id} may not be seen by {sorted(reader.roles)}"
    for claim in answer.claims:
        quoted = " ".join(answer.citations[index].quote for index in claim.citations)
        missing = set(numbers(claim.text)) - set(numbers(quoted))
        if not claim.citations or missing:
            yield f"{claim.text!r}: {sorted(missing)} in none of its quotes {quoted!r}"


def numbers(text: str) -> list[str]:
    """Runs of digits in any script, as ASCII."""
    plain = "".join(str(unicodedata.digit(c, c)) for c in unicodedata.normalize("NFKC", text))
    return _NUMBER.findall(plain)


def report(model: SmallModel, way: str, tally: Tally) -> None:
    """Print the table of one model on one path."""
    print(
        f"\n{model.name}, {way}: {sum(tally.reasons.values())} questions, {tally.replies} replies, "
        f"{tally.drafted} claims drafted, {tally.shown} shown, {tally.output_tokens} tokens, "
        f"{tally.seconds:.0f} s",
        flush=True,
    )
    for reason, times in tally.reasons.most_common():
        print(f"  {reason:20} {times:5}")
    failed = ", ".join(f"{check} {times}" for check, times in tally.failed_checks.most_common())
    print(f"  failed checks: {failed or 'none'}")


if __name__ == "__main__":
    raise SystemExit(main())
