"""Conformance of stores: nothing seen depends on what may not be seen."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.model import Document, LogEntry, StoreQuery
from evidencedesk.protocols import Snapshot, Store
from evidencedesk.testing.store_case import SHARED_BY_SUBCLASSES, STAFF, StoreCase, put
from evidencedesk.testing.strategies import ROLES, Step, filters, steps, term_groups, vector_of

_AT = datetime(2026, 1, 2, tzinfo=UTC)
_SALES = AccessRule(roles=frozenset({"sales"}))


def everything_seen(snapshot: Snapshot, groups: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """All that a reader can get out of a snapshot, keys replaced by what stands under them."""
    seen: dict[str, Any] = {
        "documents": list(snapshot.documents()),
        "log": snapshot.log(),
    }
    for name in ("a", "b", "c", "d"):
        seen[name] = (
            snapshot.document(name),
            snapshot.document_chunks(name),
            snapshot.chunk(f"{name}:c0"),
            snapshot.history(name),
        )
    for vector, candidates in product((None, vector_of("rain")), (2, 100)):
        result = snapshot.search(StoreQuery(groups, vector, candidates))
        keys = result.keys.tolist()
        seen[f"search {vector is None} {candidates}"] = (
            keys == sorted(set(keys)),
            snapshot.chunks(keys),
            [vectors.tobytes() for vectors in snapshot.sentence_vectors(keys)],
            [
                tokens and (tokens.spans, tokens.vectors.tobytes())
                for tokens in snapshot.token_vectors(keys)
            ],
            result.keyword_scores.tobytes(),
            result.vector_scores.tobytes(),
            result.vectors.tobytes(),
            result.statistics,
            result.group_frequencies.tobytes(),
        )
    return seen


class PermissionContract(StoreCase):
    """For any history, rules and filter, as if the invisible had never been."""

    @given(history=steps(max_size=20), access=filters(), groups=term_groups())
    @example(
        history=[
            Step("replace", "a", _SALES, ("bike fee", "bike")),
            Step("replace", "b", STAFF, ("bike rain", "fee", "lock")),
            Step("rights", "a", STAFF),
            Step("tidy", "a"),
            Step("replace", "c", STAFF, ("bike",)),
            Step("rights", "a", _SALES),
        ],
        access=AccessFilter(roles=frozenset({"staff"})),
        groups=(("bike",), ("fee", "rain")),
    )
    @hypothesis_settings(max_examples=40, suppress_health_check=SHARED_BY_SUBCLASSES)
    def test_what_may_not_be_seen_might_as_well_not_exist(
        self, history: list[Step], access: AccessFilter, groups: tuple[tuple[str, ...], ...]
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.opened(Path(folder) / "all.desk") as store:
                stored = self.apply(store, history)
                visible = {
                    key for key, document in stored.items() if access.admits(_rule_of(document))
                }
                _log(store)
                with store.read(access=access) as snapshot:
                    seen = everything_seen(snapshot, groups)
            kept = [step for step in history if (step.rule.tenant, step.document_id) in visible]
            with self.opened(Path(folder) / "visible.desk") as store:
                self.apply(store, kept)
                _log(store)
                with store.read(access=access) as snapshot:
                    expected = everything_seen(snapshot, groups)
        assert seen == expected

    def test_the_access_matrix(self, store: Store) -> None:
        rules = [
            AccessRule(tenant, roles, deny, status)
            for tenant, roles, deny, status in product(
                ("default", "other"),
                (frozenset[str](), frozenset({"staff"}), frozenset({"staff", "sales"})),
                (frozenset[str](), frozenset({"guest"}), frozenset({"sales"})),
                (Status.CURRENT, Status.DRAFT),
            )
        ]
        for number, rule in enumerate(rules):
            put(store, f"d{number:02}", f"bike w{number}", rule=rule)
        readers = [
            AccessFilter(tenant, frozenset(roles), administrator, statuses)
            for tenant, roles, administrator, statuses in product(
                ("default", "other", "third"),
                (set[str](), {"staff"}, {"sales", "guest"}, set(ROLES), {"admin"}),
                (False, True),
                (frozenset({Status.CURRENT}), frozenset(Status), frozenset[Status]()),
            )
        ]
        for reader in readers:
            expected = [f"d{n:02}" for n, rule in enumerate(rules) if reader.admits(rule)]
            with store.read(access=reader) as snapshot:
                assert [record.id for record in snapshot.documents()] == expected
                result = snapshot.search(StoreQuery((("bike",),), vector_of("bike"), 100))
                chunks = snapshot.chunks(result.keys.tolist())
                assert [chunk.document_id for chunk in chunks] == expected
                assert [n for n in expected if snapshot.document(n) is None] == []
                for number in range(len(rules)):
                    name = f"d{number:02}"
                    assert bool(snapshot.document_chunks(name)) == (name in expected)

    def test_rights_taken_away_take_effect_in_the_next_snapshot(self, store: Store) -> None:
        put(store, "a", "bike")
        staff = AccessFilter(roles=frozenset({"staff"}))
        query = StoreQuery((("bike",),), vector_of("bike"), 5)
        with store.read(access=staff) as before:
            with store.write() as writer:
                document = writer.document("default", "a")
                assert document is not None
                narrowed = AccessRule(roles=frozenset({"sales"}))
                put(store, "b", "bike")
                writer.update_document(_with(document, narrowed))
            assert len(before.search(query).keys) == 1
            assert [chunk.document_id for chunk in before.document_chunks("a")] == ["a"]
            with store.read(access=staff) as after:
                assert [record.id for record in after.documents()] == ["b"]
                assert len(after.search(query).keys) == 1
            assert before.chunk("b:c0") is None

    @pytest.mark.parametrize("deny", [frozenset[str](), frozenset({"staff"})])
    def test_deny_beats_allow(self, store: Store, deny: frozenset[str]) -> None:
        put(store, "a", "bike", rule=AccessRule(roles=frozenset({"staff"}), deny=deny))
        for administrator in (False, True):
            reader = AccessFilter(roles=frozenset({"staff"}), administrator=administrator)
            with store.read(access=reader) as snapshot:
                assert bool(snapshot.document_chunks("a")) == (not deny)


def _rule_of(document: Document) -> AccessRule:
    return AccessRule(document.tenant, document.roles, document.deny, Status(document.status))


def _with(document: Document, rule: AccessRule) -> Document:
    return replace(document, roles=rule.roles, deny=rule.deny)


def _log(store: Store) -> None:
    with store.write() as writer:
        keys = [(tenant, name) for tenant in ("default", "other") for name in ("a", "b", "c", "d")]
        present = [key for key in keys if writer.record(*key) is not None]
        writer.append_log([LogEntry(_AT, *key[:1], "", key[1], "added") for key in present])
