"""What a reader may not see changes no byte of what retrieval and assembly give him."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from exact_snapshot import SPEC, HashedEmbedder, chunk, indexed
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencedesk.access import AccessFilter, Principal
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.assembly import assemble
from evidencedesk.model import Document, Query
from evidencedesk.retrieval import retrieve

EMBEDDER = HashedEmbedder()
READER = AccessFilter.for_principal(Principal(roles=frozenset({"staff"})))


class FixedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


WORDS = st.sampled_from(["bike", "card", "gift", "return", "days", "30", "14", "বাইক", "猫が好き"])
TEXTS = st.lists(WORDS, min_size=1, max_size=10).map(" ".join)
ROLES = st.sampled_from([frozenset({"staff"}), frozenset({"boss"}), frozenset[str]()])
DOCUMENTS = st.lists(st.tuples(st.lists(TEXTS, min_size=1, max_size=3), ROLES), max_size=8)


def outcome(documents: Sequence[Document], question: str, *, dense: bool) -> str:
    embedder = EMBEDDER if dense else None
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore.open(
            Path(folder) / "index.desk",
            create=True,
            clock=FixedClock(),
            embedding=SPEC if dense else None,
        )
        try:
            with store.write() as writer:
                generation = writer.generations()[0].id
                for document in documents:
                    rows = [
                        indexed(chunk(part, document.id, number, roles=document.roles), embedder)
                        for number, part in enumerate(document.text.split("\n"))
                    ]
                    writer.replace_document(document, {generation: rows})
            with store.read(access=READER) as snapshot:
                found = retrieve(Query(question), snapshot, embedder)
                return repr((found, assemble(found)))
        finally:
            store.close()


@given(DOCUMENTS, TEXTS, st.booleans())
@settings(max_examples=15)
def test_documents_out_of_sight_change_nothing(
    rows: list[tuple[list[str], frozenset[str]]], question: str, dense: bool
) -> None:
    documents = [
        Document(id=f"d{number}", text="\n".join(parts), lang="en", roles=roles)
        for number, (parts, roles) in enumerate(rows)
    ]
    visible = [document for document in documents if "staff" in document.roles]
    assert outcome(documents, question, dense=dense) == outcome(visible, question, dense=dense)
