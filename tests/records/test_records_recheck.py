"""Which stored answers no longer hold, what is told of them, and what a replay shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from records_library import ANNA, BEN, CHIEF, GIFT, NONSENSE, RETURN, SALARY, OpenDesk

from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.model import Block, BlockKind, Document, DocumentRecord
from evidencedesk.model.receipt import Receipt
from evidencedesk.records import Lapse, Sources, recheck

Edit = Callable[..., tuple[str, ...]]


def lapses(desk: Desk, principal: Principal = CHIEF) -> list[tuple[str, Lapse]]:
    return [(each.answer_id, each.lapse) for each in desk.answers.recheck(principal=principal)]


def test_one_changed_number_lists_exactly_the_answers_that_quoted_it(
    desk: Desk, edit: Edit
) -> None:
    quoting = [desk.ask(RETURN, principal=who).answer_id for who in (ANNA, BEN)]
    desk.ask("Can I return an opened helmet?", principal=ANNA)
    desk.ask(GIFT, principal=ANNA)
    desk.ask(NONSENSE, principal=ANNA)
    assert lapses(desk) == []
    warnings = edit("returns", "30 days", "60 days")
    assert sorted(lapses(desk)) == sorted((each, Lapse.CHANGED) for each in quoting)
    assert [each.answer_id for each in desk.answers.recheck(principal=ANNA)] == quoting[:1]
    (warning,) = warnings
    assert warning.startswith("2 stored answers no longer hold, because of returns;")
    assert "days" not in warning
    assert edit("returns", "60 days", "30 days") == ()
    assert lapses(desk) == []


def test_text_that_moves_or_grows_around_a_quote_changes_nothing(desk: Desk, edit: Edit) -> None:
    desk.ask(RETURN, principal=ANNA)
    assert edit("returns", "## Returning", "## New\nA wholly new rule.\n\n## Returning") == ()
    assert edit("returns", "You can return", "Keep the box. You can return") == ()
    assert lapses(desk) == []


def test_the_same_words_under_another_heading_do_not_count(desk: Desk, edit: Edit) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    rule = "You can return a new bike within 30 days of delivery for a full refund."
    edit("returns", rule, "Bikes cannot be returned.")
    edit("returns", "Opened helmets", f"In 2019 the rule was: {rule} Opened helmets")
    assert lapses(desk) == [(answer.answer_id, Lapse.CHANGED)]


def test_a_renamed_heading_alone_changes_nothing(desk: Desk, edit: Edit) -> None:
    desk.ask(RETURN, principal=ANNA)
    edit("returns", "## Returning a bike", "## Bringing a bike back")
    assert lapses(desk) == []


def test_a_closed_a_retired_and_a_removed_source(desk: Desk, edit: Edit) -> None:
    answer = desk.ask(SALARY, principal=BEN).answer_id
    assert edit("salaries", "roles: [staff]", "roles: [board]") != ()
    assert lapses(desk) == [(answer, Lapse.CLOSED)]
    edit("salaries", "roles: [board]", "roles: [staff]\nstatus: superseded")
    assert lapses(desk) == [(answer, Lapse.RETIRED)]
    desk.remove("salaries")
    assert lapses(desk) == [(answer, Lapse.GONE)]


def test_its_reader_cannot_tell_a_closed_source_from_one_that_is_gone(
    desk: Desk, edit: Edit
) -> None:
    desk.ask(SALARY, principal=BEN)
    edit("salaries", "roles: [staff]", "roles: [board]")
    closed = desk.answers.recheck(principal=BEN)
    desk.remove("salaries")
    assert desk.answers.recheck(principal=BEN) == closed
    assert [each.lapse for each in closed] == [Lapse.GONE]


def test_a_reader_who_lost_his_role_is_told_that_the_source_is_gone(desk: Desk) -> None:
    desk.ask(SALARY, principal=BEN)
    demoted = replace(BEN, roles=frozenset({"everyone"}))
    assert [lapse for _, lapse in lapses(desk, demoted)] == [Lapse.GONE]
    assert lapses(desk) == []


def test_a_pruned_file_is_reported(desk: Desk, library: Path) -> None:
    desk.ask(GIFT, principal=ANNA)
    (library / "gift.md").unlink()
    report = desk.ingest(library, prune=True)
    assert any("because of gift-cards" in warning for warning in report.warnings)


def test_without_content_the_quote_comes_from_the_earlier_text(
    open_desk: OpenDesk, library: Path
) -> None:
    desk = open_desk(privacy={"record_content": False})
    quoting = desk.ask(RETURN, principal=ANNA).answer_id
    desk.ask("Can I return an opened helmet?", principal=ANNA)
    path = library / "returns.md"
    path.write_text(path.read_text("utf-8").replace("30 days", "60 days"), "utf-8")
    desk.ingest(library)
    assert lapses(desk) == [(quoting, Lapse.CHANGED)]


def test_a_replay_shows_what_changed(desk: Desk, edit: Edit) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    assert desk.answers.replay(answer.answer_id, principal=ANNA).differences == ()
    edit("returns", "30 days", "60 days")
    replayed = desk.answers.replay(answer.answer_id, principal=ANNA)
    changed = {each.what: (each.before, each.after) for each in replayed.differences}
    assert "30 days" in changed["text"][0]
    assert "60 days" in changed["text"][1]
    assert changed["citations"][1][0][0] == "returns:c0"


def test_a_replay_names_settings_that_changed(open_desk: OpenDesk) -> None:
    answer = open_desk().ask(RETURN, principal=ANNA)
    other = open_desk(ingest=False, retrieval={"k": 3, "threshold": 0.4})
    replayed = other.answers.replay(answer.answer_id, principal=ANNA)
    changed = {each.what: (each.before, each.after) for each in replayed.differences}
    assert changed["settings.retrieval.k"] == (8, 3)
    assert changed["threshold"] == (0.5, 0.4)


# The plain statement of what `recheck` computes, for documents of one line per heading.

SENTENCES = ("Bikes cost 30 euros.", "Bikes cost 60 euros.", "Lamps cost 30 euros.", "Ask inside.")
HEADINGS = ("Bikes", "Lamps")
texts = st.lists(
    st.tuples(st.sampled_from(HEADINGS), st.sampled_from(SENTENCES)), min_size=1, max_size=4
)
libraries = st.dictionaries(st.sampled_from(("a", "b", "c")), texts, max_size=3)


def document(name: str, lines: Sequence[tuple[str, str]]) -> Document:
    text, blocks = "", []
    for heading, sentence in lines:
        text += f"# {heading}\n"
        blocks.append(
            Block(BlockKind.PARAGRAPH, len(text), len(text) + len(sentence), heading=(heading,))
        )
        text += sentence + "\n\n"
    return Document(id=name, text=text, blocks=tuple(blocks), roles=frozenset({"everyone"}))


def record(name: str, found: Document) -> DocumentRecord:
    shared = {
        field: getattr(found, field)
        for field in [
            "id",
            "tenant",
            "title",
            "source",
            "root",
            "version",
            "status",
            "lang",
            "owner",
            "roles",
            "deny",
            "media_type",
            "parser",
            "parser_version",
            "file_hash",
            "content_hash",
            "location_hash",
            "supersedes",
        ]
    }
    return DocumentRecord(
        **shared, ingested_at=datetime(2026, 3, 2, tzinfo=UTC), chunks=1, vectors=0
    )


def receipt(number: int, name: str, heading: str, quote: str, content_hash: str) -> Receipt:
    cited = {
        "chunk_id": f"{name}:c0",
        "document_id": name,
        "content_hash": content_hash,
        "span": [0, 1000],
        "quote": [0, len(quote)],
    }
    return Receipt(
        tenant="default",
        answer_id=str(number),
        subject="",
        at=datetime(2026, 3, 2, tzinfo=UTC),
        reason="ok",
        record={
            "roles": ["everyone"],
            "administrator": False,
            "statuses": ["current"],
            "citations": [cited],
            "claims": [{"support": "extractive", "citations": [0]}],
        },
        content={
            "claim:0": quote,
            "quote:0": quote,
            "citation:0": {"location": {"heading": [heading]}, "also_in": []},
        },
    )


def holds(kept: Receipt, library: dict[str, Document]) -> bool:
    cited = kept.record["citations"][0]
    found = library.get(cited["document_id"])
    if found is None:
        return False
    heading = tuple(kept.content["citation:0"]["location"]["heading"])
    under = [each for each in found.blocks if each.heading == heading] or found.blocks
    return any(kept.content["quote:0"] in found.text[each.start : each.end] for each in under)


@given(before=libraries, after=libraries)
@settings(max_examples=60)
def test_recheck_is_brute_force(
    before: dict[str, list[tuple[str, str]]], after: dict[str, list[tuple[str, str]]]
) -> None:
    old = {name: document(name, lines) for name, lines in before.items()}
    new = {name: document(name, lines) for name, lines in after.items()}
    kept = [
        receipt(number, name, heading, sentence, old[name].content_hash)
        for number, (name, heading, sentence) in enumerate(
            (name, *line) for name, lines in before.items() for line in lines
        )
    ]
    records = {name: record(name, found) for name, found in new.items()}
    sources = Sources(records.get, new.get, lambda *_: None)
    listed = {each.answer_id for each in recheck(kept, sources)}
    assert listed == {each.answer_id for each in kept if not holds(each, new)}


def test_a_thousand_answers_are_rechecked_in_under_a_second() -> None:
    old = {
        f"d{n}": document(f"d{n}", [("Bikes", f"Bike {n} costs 30 euros.")] * 40)
        for n in range(200)
    }
    new = {
        name: document(name, [("Bikes", f"Bike {name[1:]} costs 60 euros.")] * 40) for name in old
    }
    kept = [
        receipt(
            n,
            f"d{n % 200}",
            "Bikes",
            f"Bike {n % 200} costs 30 euros.",
            old[f"d{n % 200}"].content_hash,
        )
        for n in range(1000)
    ]
    records = {name: record(name, found) for name, found in new.items()}
    sources = Sources(records.get, new.get, lambda *_: None)
    started = time.process_time()
    assert len({each.answer_id for each in recheck(kept, sources)}) == 1000
    assert time.process_time() - started < 1.0


def test_a_sentence_that_says_something_else_around_its_quote_is_listed() -> None:
    before = document("a", [("Bikes", "You can return a bike within 30 days.")])
    after = document("a", [("Bikes", "You cannot return a bike within 30 days of a sale.")])
    kept = receipt(1, "a", "Bikes", "return a bike within 30 days", before.content_hash)
    claim = {"claim:0": "You can return a bike within 30 days."}
    kept = replace(kept, content={**kept.content, **claim})
    sources = Sources({"a": record("a", after)}.get, {"a": after}.get, lambda *_: None)
    ((lapsed),) = recheck([kept], sources)
    assert lapsed.lapse is Lapse.CHANGED
    assert "the sentence around the quote changed" in lapsed.detail
