"""From a folder of files to a checked answer, every step by hand; run it from the repository.

    python examples/first_answer.py

No model is needed: chunks are found by keywords, and the replies of a language model are recorded,
good and bad ones, so that you can see what is believed and what is not.
"""

import tempfile
from pathlib import Path

from evidencedesk import DEFAULT_STATUSES, Desk, Principal, Settings, Status
from evidencedesk.chunking import STRATEGIES, chunking_settings, compare_strategies
from evidencedesk.evaluation import recall_at_k
from evidencedesk.testing.recorded import RecordedGenerator
from evidencedesk.verification import numbers_unsupported

SAMPLES = Path(__file__).parents[1] / "samples" / "kestrel"
CUSTOMER = Principal(roles=frozenset({"everyone"}))
ALL = frozenset(Status)
FACTS = ["within 30 days of delivery", "5-year warranty", "expire 36 months after purchase"]

RETURN = "How long do I have to return a bike?"
EXPIRY = "When do gift cards expire?"
RENTAL = "Do you rent out bikes for a weekend?"
THIRTY = "You can return a new, unridden bike within 30 days of delivery for a full refund."


def reply(text: str, quote: str, source: str = "S1") -> dict[str, object]:
    """What a model says: one claim with one citation."""
    return {
        "insufficient": False,
        "claims": [{"text": text, "citations": [{"source": source, "quote": quote}]}],
    }


GOOD = {
    RETURN: reply(THIRTY, "within 30 DAYS  of delivery"),
    EXPIRY: reply("Gift cards expire 36 months after purchase.", "expire 36 months after purchase"),
    RENTAL: {"insufficient": True, "claims": []},
}
BAD = {
    "an invented number": reply("You have 60 days.", "within 30 days of delivery"),
    "an invented source": reply(THIRTY, "within 30 days of delivery", source="S9"),
    "prose instead of JSON": "Sure! You have about a month.",
}


def desk_with(replies: dict[str, object], folder: str) -> Desk:
    """A desk over the index in ``folder`` whose language model replays ``replies``."""
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    return Desk.open(folder, settings=settings, create=True, generator=RecordedGenerator(replies))


def main() -> None:
    """Load, cut, index, retrieve, ask, answer, refuse."""
    with tempfile.TemporaryDirectory() as folder, desk_with(GOOD, folder) as desk:
        print("1. Load:", len(desk.ingest(SAMPLES).added), "documents")

        reader = Principal(administrator=True)
        records = desk.documents(principal=reader, statuses=ALL)
        documents = [desk.document(one.id, principal=reader, statuses=ALL) for one in records]
        smaller = {"fixed": {"size": 150, "overlap": 30}, "sentence": {"max_chars": 300}}
        choices = [chunking_settings(name, **smaller.get(name, {})) for name in STRATEGIES]
        print("2. Cut:")
        for cut in compare_strategies(documents, choices, facts=FACTS).reports:
            print(
                f"   {cut.settings.strategy:9} {cut.chunks} chunks of {cut.shortest} to {cut.longest}"
                f" characters, {cut.ending_mid_sentence} end mid-sentence,"
                f" {len(cut.whole_facts)} of {len(FACTS)} facts whole"
            )

        print("3. Retrieve:", RETURN)
        for statuses in (DEFAULT_STATUSES, DEFAULT_STATUSES | {Status.SUPERSEDED}):
            hits = desk.search(RETURN, principal=CUSTOMER, statuses=statuses, k=2)
            found = [hit.chunk.id for hit in hits]
            recall = recall_at_k(found, {"kc-returns-v3:c0"}, 1)
            print(f"   {', '.join(sorted(statuses))}: {', '.join(found)} (recall@1 {recall:.0f})")

        print("4. The request to the model:")
        shown = desk.explain(RETURN, principal=CUSTOMER, threshold=0)
        assert shown.request is not None
        print("   " + "\n   ".join(shown.request.prompt.splitlines()[:5]))

        print("5. Answers:")
        for question in (RETURN, EXPIRY, RENTAL):
            answer = desk.ask(question, principal=CUSTOMER, threshold=0)
            print(f"   {question}\n     {answer.reason.value}: {answer.text.splitlines()[0]}")
            print(f"     numbers without support: {len(numbers_unsupported(answer))}")
            for citation in answer.citations:
                print(f"     {citation.label}: {citation.quote!r}")
        refused = desk.ask(RENTAL, principal=CUSTOMER)
        print(f"   With the threshold the model is not even asked: {refused.reason.value}")

    print("6. Replies that are not believed:")
    for name, bad in BAD.items():
        with tempfile.TemporaryDirectory() as folder, desk_with({RETURN: bad}, folder) as desk:
            desk.ingest(SAMPLES)
            print(f"   {name}: {desk.ask(RETURN, principal=CUSTOMER, threshold=0).reason.value}")


if __name__ == "__main__":
    main()
