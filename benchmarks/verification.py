"""What verification costs, beside the extractive reader that writes what it verifies.

``python -m benchmarks.verification`` verifies answers of five claims over eight sources of the sample
corpora: repeated word for word, shortened, and reworded. CPU time of this process, so that a busy
machine changes the figures little; the fastest round is what the code costs with a core of its own.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from evidencedesk import Desk, Principal, Settings
from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.generation import parse_reply
from evidencedesk.model import Draft, DraftCitation, DraftClaim, Location, Request, Span
from evidencedesk.pipeline import Explanation
from evidencedesk.text.sentences import sentences
from evidencedesk.verification import verify
from evidencedesk.verification.content import content_words

SAMPLES = Path(__file__).parents[1] / "samples" / "kestrel"
QUESTION = "How long do I have to return a bike?"
ROUNDS = 200
CLAIMS = 5


def main() -> None:
    """Print the figures."""
    explained = explanation()
    request = explained.request
    assert request is not None
    print(f"{len(request.evidence.sources)} sources, {CLAIMS} claims, {ROUNDS} rounds")
    report("extractive reader", lambda: parse_reply(ExtractiveReader().generate(request)))
    for name, reword in (("verbatim", str), ("shortened", shortened), ("paraphrased", reworded)):
        draft = drafted(request, reword)
        report(f"verify, {name}", lambda draft=draft: check(draft, request))  # type: ignore[misc]


def explanation() -> Explanation:
    """What the product finds for a question over the sample corpus, by keywords."""
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with (
        tempfile.TemporaryDirectory() as folder,
        Desk.open(Path(folder) / "index", settings=settings) as desk,
    ):
        desk.ingest(SAMPLES)
        return desk.explain(QUESTION, principal=Principal(roles=frozenset({"everyone", "staff"})))


def drafted(request: Request, reword: Callable[[str], str]) -> Draft:
    """Five claims, each from a sentence of eight words or more."""
    told = [
        (source.label, source.chunk.text[span.start : span.end].strip())
        for source in request.evidence.sources
        for span in sentences(source.chunk.text)
    ]
    long = [(label, text) for label, text in told if len(text.split()) >= 8][:CLAIMS]
    assert len(long) == CLAIMS
    return Draft(
        insufficient=False,
        claims=tuple(
            DraftClaim(reword(text), (DraftCitation(label, text),)) for label, text in long
        ),
    )


def shortened(text: str) -> str:
    """The sentence without its last words."""
    return " ".join(text.split()[:-2])


def reworded(text: str) -> str:
    """The sentence with other small words, in another order."""
    words = text.rstrip(".").split()
    middle = len(words) // 2
    return "As told, " + " ".join([*words[middle:], "when", *words[:middle]]) + "."


def check(draft: Draft, request: Request) -> object:
    """One verification, as the product does it."""
    sources = request.evidence.sources
    return verify(
        draft,
        request.evidence,
        current={source.label: source.chunk for source in sources},
        locate=lambda _, span: place(span),
        canary=request.canary,
        question=request.question,
    )


def place(span: Span) -> Location:
    """A place without lines."""
    return Location(start=span.start, end=span.end)


def report(name: str, work: Callable[[], object]) -> None:
    """Time ``work`` and print a line."""
    work()
    taken = []
    for _ in range(ROUNDS):
        content_words.cache_clear()  # each round is a new answer
        started = time.process_time_ns()
        work()
        taken.append((time.process_time_ns() - started) / 1e6)
    fastest, median = min(taken), statistics.median(taken)
    print(
        f"{name:22} fastest {fastest:.2f} ms   median {median:.2f} ms   slowest {max(taken):.2f} ms"
    )


if __name__ == "__main__":
    main()
