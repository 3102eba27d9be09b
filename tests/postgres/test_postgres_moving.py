"""An index moves between the stores and into a file, and nothing of it changes on the way."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from postgres_stores import FixedClock, open_postgres

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.errors import IndexingError
from evidencedesk.model import ChunkingSettings
from evidencedesk.model.moving import MovedIndex, MovedPiece, MovedPlacement
from evidencedesk.model.receipt import AuditEvent, Receipt
from evidencedesk.protocols import MovableStore
from evidencedesk.testing.store_case import StoreCase, put
from evidencedesk.testing.store_permissions import _log, everything_seen
from evidencedesk.testing.strategies import (
    OTHER_SPEC,
    SPEC,
    Step,
    filters,
    make_chunks,
    steps,
    term_groups,
)

pytestmark = pytest.mark.usefixtures("postgres_url")


def open_sqlite(path: str) -> MovableStore:
    return SQLiteStore.open(path, create=True, clock=FixedClock(), embedding=SPEC)


def pieces_of(store: MovableStore) -> list[MovedPiece]:
    """All pieces; where documents without chunks stand among the others means nothing."""
    with store.pieces() as pieces:
        found = [
            replace(piece, revision=0) if isinstance(piece, MovedIndex) else piece
            for piece in pieces
        ]
    empty = [piece for piece in found if isinstance(piece, MovedPlacement) and not piece.chunks]
    return [piece for piece in found if piece not in empty] + sorted(empty, key=repr)


def move(source: MovableStore, target: MovableStore) -> None:
    with source.pieces() as pieces:
        target.fill(pieces)


class TestMoving(StoreCase):
    open_store = staticmethod(open_sqlite)

    @given(history=steps(max_size=10), access=filters(), groups=term_groups())
    @settings(max_examples=8)
    def test_there_and_back_again(
        self, history: list[Step], access: AccessFilter, groups: tuple[tuple[str, ...], ...]
    ) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            self.opened(Path(folder) / "a.desk") as first,
            closing(open_postgres(str(Path(folder) / "b.desk"))) as server,
            closing(open_sqlite(str(Path(folder) / "c.desk"))) as last,
        ):
            assert isinstance(first, MovableStore)
            self.apply(first, history)
            _log(first)
            move(first, server)
            move(server, last)
            assert server.check() == last.check() == ()
            assert pieces_of(first) == pieces_of(server) == pieces_of(last)
            shown = []
            for store in (first, server, last):
                with store.read(access=access) as snapshot:
                    shown.append(everything_seen(snapshot, groups))
            assert shown[0] == shown[1] == shown[2]

    def test_generations_receipts_and_the_audit_chain_move_too(self, tmp_path: Path) -> None:
        with self.opened(tmp_path / "a.desk") as first:
            assert isinstance(first, MovableStore)
            document = put(first, "a", "bike fee")
            with first.write() as writer:
                writer.begin_generation(OTHER_SPEC, ChunkingSettings(), "2")
                writer.put_chunks(2, "default", "a", make_chunks(document, OTHER_SPEC))
                writer.switch_generation(2)
            answer(first, "one")
            server = open_postgres(str(tmp_path / "b.desk"))
            move(first, server)
            assert pieces_of(first) == pieces_of(server)
            assert server.ledger().revision() > first.ledger().revision()
            answer(server, "two")
            assert [entry.number for entry in server.ledger().chain("default")] == [1, 2]
            chain = list(server.ledger().chain("default"))
            assert chain[1].previous == chain[0].hash
            assert len(server.ledger().receipts("default")) == 2
            with server.write() as writer:
                assert [each.state for each in writer.generations()] == ["previous", "active"]
                writer.discard_generation(1)
                assert writer.begin_generation(None, ChunkingSettings(), "3").id == 3
            server.close()

    def test_a_store_that_holds_something_takes_nothing_in(self, tmp_path: Path) -> None:
        with self.opened(tmp_path / "a.desk") as first:
            assert isinstance(first, MovableStore)
            put(first, "a", "bike")
            for target in (
                open_postgres(str(tmp_path / "b.desk")),
                open_sqlite(str(tmp_path / "c.desk")),
            ):
                put(target, "b", "rain")
                before = pieces_of(target)
                with pytest.raises(IndexingError) as refused:
                    move(first, target)
                assert refused.value.code == "index_not_empty"
                assert pieces_of(target) == before
                target.close()


def answer(store: MovableStore, answer_id: str) -> None:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    key = store.ledger().subject_key("default", "amal", bytes(32))
    store.ledger().append(
        AuditEvent("default", at, "ask", answer_id=answer_id),
        Receipt("default", answer_id, "hash", at, "ok", {"pieces": {}}, {"question": "?"}, ("a",)),
        key=key,
    )
