"""An exported answer proves itself, and a forged one does not; the chain finds what was altered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records_library import (
    ANNA,
    BEN,
    CHIEF,
    GIFT,
    NONSENSE,
    RETURN,
    RETURNS,
    SALARIES,
    SALARY,
    OpenDesk,
)

from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.desk import Desk
from evidencedesk.errors import IndexDamagedError, SettingsError
from evidencedesk.model.receipt import AuditEvent, commitment, digest_of, entry_hash
from evidencedesk.records import check_chain, render, verify_file
from evidencedesk.records.signing import Ed25519Signer, check_signature
from evidencedesk.records.verify import NOT_PROVEN
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock

PROVEN = "origin proven by digest"


@cache
def exported_bytes() -> bytes:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policies").mkdir()
        (folder / "policies" / "returns.md").write_text(RETURNS, "utf-8")
        key = folder / "key.pem"
        key.write_bytes(Ed25519Signer.made().pem())
        tables = Settings.model_validate({"embedding": {"model": "none"}})
        with Desk.open(folder / "x.desk", settings=tables, clock=SteppingClock()) as desk:
            desk.ingest(folder / "policies")
            answer = desk.ask(RETURN, principal=ANNA)
            file = desk.answers.export(answer.answer_id, principal=ANNA, signing_key=key)
    return render(file).encode()


def exported() -> dict[str, Any]:
    return json.loads(exported_bytes())


def forged(change: Callable[[dict[str, Any]], None]) -> bytes:
    """A file whose hashes were all computed anew after ``change``."""
    file = exported()
    change(file)
    for label, piece in file["content"].items():
        own = commitment(bytes.fromhex(piece["key"]), piece["value"])
        file["record"]["pieces"][label]["commitment"] = own
    chain = file["chain"]
    chain["event"]["digest"] = digest_of(file["record"])
    chain["hash"] = entry_hash(chain["number"], chain["previous"], chain["event"])
    file["digest"] = chain["hash"]
    return render(file).encode()


def test_an_export_agrees_with_itself_and_proves_no_more() -> None:
    found = verify_file(exported_bytes())
    assert (found.problems, found.verdict, found.origin) == ((), NOT_PROVEN, ())
    assert found.withheld == ("index",)
    content = exported()["content"]
    assert content["quote:0"]["value"] in content["slice:0"]["value"]


def test_a_digest_or_a_public_key_proves_the_origin() -> None:
    file = exported()
    assert verify_file(exported_bytes(), digest=file["digest"]).verdict == PROVEN
    key = file["signature"]["public_key"]
    signed = verify_file(exported_bytes(), public_key=key, check_signature=check_signature)
    assert signed.origin == ("public_key",)
    other = verify_file(exported_bytes(), digest="sha256:" + "0" * 64)
    assert ([each.where for each in other.problems], other.verdict) == (["digest"], "refused")
    stranger = Ed25519Signer.made().public_key
    refused = verify_file(exported_bytes(), public_key=stranger, check_signature=check_signature)
    assert [each.where for each in refused.problems] == ["signature"]


@given(data=st.data())
@settings(max_examples=200)
def test_one_altered_byte_is_found(data: st.DataObject) -> None:
    original = exported_bytes()
    place = data.draw(st.integers(0, len(original) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != original[place]))
    altered = original[:place] + bytes([byte]) + original[place + 1 :]
    key = exported()["signature"]["public_key"]
    assert not verify_file(altered, public_key=key, check_signature=check_signature).ok


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (("content", "quote:0", "value"), "content quote:0"),
        (("content", "slice:0", "value"), "content slice:0"),
        (("content", "question", "value"), "content question"),
        (("content", "claim:0", "value"), "content claim:0"),
        (("record", "reason"), "record"),
        (("record", "citations", 0, "content_hash"), "record"),
        (("chain", "event", "verdict"), "chain"),
    ],
)
def test_what_was_altered_is_said(path: tuple[Any, ...], where: str) -> None:
    file = exported()
    held = file
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] += "x"
    problems = verify_file(render(file).encode()).problems
    assert where in [each.where for each in problems]


def test_a_forger_is_consistent_in_himself_and_refused_with_digest_or_key() -> None:
    def change(file: dict[str, Any]) -> None:
        for label in ("quote:0", "slice:0", "claim:0"):
            text = file["content"][label]["value"]
            file["content"][label]["value"] = text.replace("30 days", "90 days")

    forgery = forged(change)
    assert verify_file(forgery).verdict == NOT_PROVEN
    original = exported()
    assert verify_file(forgery, digest=original["digest"]).verdict == "refused"
    key = original["signature"]["public_key"]
    refused = verify_file(forgery, public_key=key, check_signature=check_signature)
    assert [each.where for each in refused.problems] == ["signature"]
    unsigned = forged(lambda file: file.update(signature=None))
    refused = verify_file(unsigned, public_key=key, check_signature=check_signature)
    assert [each.message for each in refused.problems] == ["the file is not signed"]


def test_a_forged_quote_that_is_not_in_its_slice_is_found_without_any_key() -> None:
    forgery = forged(lambda file: file["content"]["quote:0"].update(value="You may keep the bike."))
    assert [each.where for each in verify_file(forgery).problems] == ["citation 0"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[" * 100_000,
        b'{"format": "evidencedesk-answer/1"}',
        b'{"format": NaN}',
        exported_bytes().replace(b'"number": 1', b'"number": 1e999'),
        exported_bytes().replace(b'"confidence": 0.', b'"confidence": NaN, "x": 0.'),
        exported_bytes().replace(b"\n", b"\n\n", 1),
        exported_bytes() + exported_bytes(),
    ],
)
def test_what_is_no_export_is_refused_without_a_crash(data: bytes) -> None:
    found = verify_file(data)
    assert found.problems
    assert found.verdict == "refused"


def test_an_export_withholds_what_its_reader_may_not_see_now(desk: Desk, library: Path) -> None:
    answer = desk.ask(SALARY, principal=BEN)
    demoted = replace(BEN, roles=frozenset({"everyone"}))
    text = render(desk.answers.export(answer.answer_id, principal=demoted))
    assert "working day" not in text
    found = verify_file(text.encode())
    assert found.ok
    assert {"quote:0", "claim:0", "citation:0", "slice:0"} <= set(found.withheld)


def test_an_export_keeps_the_slice_of_the_text_that_was_quoted(desk: Desk, library: Path) -> None:
    answer = desk.ask(SALARY, principal=BEN)
    (library / "salaries.md").write_text(SALARIES.replace("last", "first"), "utf-8")
    desk.ingest(library)
    file = desk.answers.export(answer.answer_id, principal=BEN)
    assert "last working day" in file["content"]["slice:0"]["value"]
    assert verify_file(render(file).encode()).ok


def test_an_export_without_recorded_content_has_quotes_from_the_index(open_desk: OpenDesk) -> None:
    desk = open_desk(privacy={"record_content": False})
    answer = desk.ask(RETURN, principal=ANNA)
    file = desk.answers.export(answer.answer_id, principal=ANNA)
    assert "30 days" in file["content"]["quote:0"]["value"]
    assert verify_file(render(file).encode()).ok


def test_an_erased_answer_still_exports_its_record(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    desk.answers.erase_subject("anna", tenant="default")
    file = desk.answers.export(answer.answer_id, principal=CHIEF)
    assert file["content"] == {}
    assert verify_file(render(file).encode()).ok


def test_an_abstention_is_exported_too(desk: Desk) -> None:
    answer = desk.ask(NONSENSE, principal=ANNA)
    file = desk.answers.export(answer.answer_id, principal=ANNA)
    assert file["content"]["text"]["value"] == answer.text
    assert verify_file(render(file).encode()).ok


def test_an_export_is_in_the_chain(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    desk.answers.export(answer.answer_id, principal=CHIEF)
    last = list(desk._index.store().ledger().chain("default"))[-1].event
    assert (last["action"], last["permission"], last["answer_id"]) == (
        "export",
        "administrator",
        answer.answer_id,
    )


def test_a_file_without_a_key_is_no_signing_key() -> None:
    with pytest.raises(SettingsError, match="no Ed25519 key"):
        Ed25519Signer.from_pem(b"nonsense")


def alter(folder: Path, *statements: str) -> None:
    """What somebody with the files can do; the triggers stop only those who do not want to."""
    with sqlite3.connect(folder / "index.sqlite3") as connection:
        connection.execute("DROP TRIGGER audit_is_not_changed")
        connection.execute("DROP TRIGGER audit_is_not_deleted")
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE audit SET event = replace(event, 'ask', 'see') WHERE number = 2", "2 was altered"),
        ("UPDATE audit SET hash = previous WHERE number = 2", "2 was altered"),
        ("DELETE FROM audit WHERE number = 2", "2 is missing"),
        ("DELETE FROM audit WHERE number = 1", "1 is missing"),
        (
            "UPDATE receipts SET record = replace(record, '\"ok\"', '\"no\"') WHERE position = 2",
            "was altered",
        ),
    ],
)
def test_the_audit_finds_what_was_altered(desk: Desk, statement: str, said: str) -> None:
    for question in (RETURN, GIFT, RETURN):
        desk.ask(question, principal=ANNA)
    assert [each.ok for each in desk.answers.audit()] == [True]
    alter(desk.path, statement)
    (finding,) = desk.answers.audit()
    assert not finding.ok
    assert said in finding.message


def test_a_chain_that_was_cut_off_is_found_by_a_hash_noted_before(desk: Desk) -> None:
    for question in (RETURN, GIFT):
        desk.ask(question, principal=ANNA)
    last = list(desk._index.store().ledger().chain("default"))[-1].hash
    assert all(each.ok for each in desk.answers.audit([last]))
    alter(
        desk.path, "DELETE FROM receipts WHERE position = 2", "DELETE FROM audit WHERE number = 2"
    )
    assert [each.ok for each in desk.answers.audit([last])] == [True, False]


def test_the_chain_cannot_be_changed_by_accident(desk: Desk) -> None:
    desk.ask(RETURN, principal=ANNA)
    with sqlite3.connect(desk.path / "index.sqlite3") as connection:
        for statement in ("DELETE FROM audit", "UPDATE audit SET hash = ''"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)


def test_a_receipt_whose_content_was_altered_is_not_exported(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    with sqlite3.connect(desk.path / "index.sqlite3") as connection:
        connection.execute("UPDATE receipts SET content = replace(content, '30 days', '90 days')")
    with pytest.raises(IndexDamagedError, match="altered"):
        desk.answers.export(answer.answer_id, principal=ANNA)


names = st.sampled_from(("anna", "ben"))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), names, st.sampled_from((RETURN, GIFT, NONSENSE))),
        st.tuples(st.just("forget"), names, st.just("")),
        st.tuples(st.just("erase"), st.sampled_from(("returns", "gift-cards")), st.just("")),
        st.tuples(st.just("age"), st.just(""), st.just("")),
        st.tuples(st.just("remove"), st.sampled_from(("returns", "gift-cards")), st.just("")),
    ),
    max_size=6,
)


@given(steps=steps)
@settings(max_examples=8)
def test_the_chain_verifies_after_any_answers_and_erasures(
    steps: list[tuple[str, str, str]],
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "returns.md").write_text(RETURNS, "utf-8")
        tables = Settings.model_validate({"embedding": {"model": "none"}})
        with Desk.open(folder / "x.desk", settings=tables, clock=SteppingClock()) as desk:
            desk.ingest(folder / "returns.md")
            ledger, known = desk._index.store().ledger(), set()
            for action, target, question in steps:
                if action == "ask":
                    desk.ask(question, principal=replace(ANNA, subject=target))
                    known.add(target)
                elif action == "forget" and target in known:
                    desk.answers.erase_subject(target, tenant="default")
                    known.remove(target)
                elif action == "erase":
                    desk.answers.erase_document(target, tenant="default")
                elif action == "age":
                    desk.answers.erase_older(0, tenant="default")
                elif action == "remove":
                    desk.remove(target)
            assert check_chain(ledger.chain("default"), ledger.receipts("default")) == ()
            assert all(each.ok for each in desk.answers.audit())


events = st.builds(
    AuditEvent,
    tenant=st.sampled_from(("a", "b")),
    at=st.just(datetime(2026, 3, 2, tzinfo=UTC)),
    action=st.sampled_from(("ask", "export")),
    verdict=st.text(max_size=5),
)


@given(appended=st.lists(events, max_size=8))
@settings(max_examples=20)
def test_every_tenant_has_a_chain_of_its_own(appended: list[AuditEvent]) -> None:
    with TemporaryDirectory() as name:
        store = SQLiteStore.open(Path(name) / "x.desk", create=True, clock=SteppingClock())
        numbers = {"a": count(1), "b": count(1)}
        for event in appended:
            assert store.ledger().append(event).number == next(numbers[event.tenant])
        for tenant in ("a", "b"):
            chain = list(store.ledger().chain(tenant))
            assert check_chain(chain) == ()
            assert [each.event for each in chain] == [
                each.to_json() for each in appended if each.tenant == tenant
            ]
        store.close()


GOLDEN = Path(__file__).with_name("exported_answer_1.json")
GOLDEN_DIGEST = "sha256:afdf769387c8258f31bdfa61e3475e281dcdb7db4ee04730aec1ec47013a5732"
GOLDEN_KEY = "bef60318b1c70ee021b6d6ab2e3a3285728ef3b453f5d6e6c049858a30e23e6d"


def test_a_file_that_an_earlier_version_exported_is_still_verified() -> None:
    found = verify_file(
        GOLDEN.read_bytes(),
        digest=GOLDEN_DIGEST,
        public_key=GOLDEN_KEY,
        check_signature=check_signature,
    )
    assert (found.problems, found.origin) == ((), ("digest", "public_key"))
