from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.generation.reply import MAX_DEPTH, RejectedReply, parse_reply
from evidencedesk.model import Draft, DraftCitation, DraftClaim, Reason, Reply, StopReason

GOOD = '{"insufficient": false, "claims": [{"text": "A.", "citations": [{"source": "S1", "quote": "a"}]}]}'
DRAFT = Draft(False, (DraftClaim("A.", (DraftCitation("S1", "a"),)),))


def reason_of(text: str, stop: StopReason = StopReason.END) -> Reason | None:
    parsed = parse_reply(Reply(text, stop))
    return parsed.reason if isinstance(parsed, RejectedReply) else None


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"\ufeff{GOOD}",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        GOOD.replace('"insufficient": false, ', ""),
    ],
)
def test_one_object_alone_or_in_one_fence_is_read(text: str) -> None:
    assert parse_reply(Reply(text)) == DRAFT


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (StopReason.LENGTH, Reason.TRUNCATED),
        (StopReason.REFUSED, Reason.REFUSED),
        (StopReason.TIMEOUT, Reason.TIMEOUT),
        (StopReason.ERROR, Reason.MODEL_ERROR),
    ],
)
def test_the_stop_reason_is_looked_at_first(stop: StopReason, reason: Reason) -> None:
    assert reason_of(GOOD, stop) is reason
    assert reason_of("not JSON", stop) is reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The warranty lasts two years [S1].",
        f"Here you are: {GOOD}",
        f"{GOOD} I hope that helps.",
        f"```json\n{GOOD}\n```\nThat is all.",
        f"{GOOD}{GOOD}",
        GOOD[:-10],
        GOOD.replace('"a"', "NaN"),
        GOOD.replace('"a"', "Infinity"),
        GOOD.replace("S1", "\\ud800"),
        GOOD.replace("S1", "\ud800"),
        GOOD.replace('"insufficient": false', '"insufficient": false, "insufficient": true'),
        GOOD.replace('"quote": "a"', '"quote": "a", "quote": "b"'),
        GOOD.replace('"a"', "'a'"),
        GOOD.replace("false", "False"),
        GOOD.replace("}]}]}", "},]}]}"),
        "[" * 100_000,
        "[" * 1000 + "]" * 1000,
        '{"claims":' * 1000 + "1" + "}" * 1000,
    ],
    ids=lambda text: text[:30],
)
def test_what_is_not_json_is_not_believed(text: str) -> None:
    assert reason_of(text) is Reason.INVALID_JSON


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "S1",
        7,
        {},
        {"insufficient": False},
        {"insufficient": "no", "claims": []},
        {"insufficient": 0, "claims": []},
        {"insufficient": None, "claims": []},
        {"claims": "The warranty lasts two years [S1]", "answer": "Two years."},
        {"claims": [], "thoughts": "hm"},
        {"claims": ["text"]},
        {"claims": {"text": "A.", "citations": []}},
        {"claims": [{"text": "A."}]},
        {"claims": [{"text": "A.", "citations": None}]},
        {"claims": [{"text": "A.", "citations": ["S1"]}]},
        {"claims": [{"text": "A.", "citations": [{"source": "S1"}]}]},
        {"claims": [{"text": "A.", "citations": [{"quote": "a"}]}]},
        {"claims": [{"text": "A.", "citations": [{"source": 1, "quote": "a"}]}]},
        {"claims": [{"text": "A.", "citations": [{"source": ["S1"], "quote": "a"}]}]},
        {"claims": [{"text": "A.", "citations": [{"source": "S1", "quote": None}]}]},
        {"claims": [{"text": "A.", "citations": [{"source": "S1", "quote": "a", "url": "x"}]}]},
        {"claims": [{"text": 9, "citations": []}]},
        {"claims": [{"text": "", "citations": []}]},
        {"claims": [{"text": " \n", "citations": []}]},
        {"claims": [{"text": "A.", "citations": []}] * 201},
    ],
    ids=lambda value: json.dumps(value)[:50],
)
def test_what_does_not_fit_the_schema_is_not_believed(value: object) -> None:
    assert reason_of(json.dumps(value)) is Reason.INVALID_SCHEMA


def test_insufficient_needs_no_claims() -> None:
    assert parse_reply(Reply('{"insufficient": true}')) == Draft(True, ())
    assert parse_reply(Reply('{"insufficient": false, "claims": []}')) == Draft(False, ())


def test_a_fence_inside_a_string_is_text() -> None:
    text = GOOD.replace("A.", "```json\\n{}\\n```")
    parsed = parse_reply(Reply(text))
    assert isinstance(parsed, Draft)
    assert parsed.claims[0].text == "```json\n{}\n```"


def test_brackets_in_strings_do_not_count_as_depth() -> None:
    parsed = parse_reply(Reply(GOOD.replace("A.", "[" * (MAX_DEPTH * 10))))
    assert isinstance(parsed, Draft)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        '{"claims": [' + '"a",' * 200_000,
        '"' * 900_000,
        "1" * 900_000,
        '{"claims": ' + "9" * 900_000 + "}",
        '"' + "\\" * 900_000,
        "```json\n" * 100_000,
    ],
    ids=["ten megabytes", "items", "quotes", "digits", "number", "backslashes", "fences"],
)
def test_a_huge_reply_is_refused_quickly(text: str) -> None:
    started = time.perf_counter()
    assert reason_of(text) in (Reason.INVALID_JSON, Reason.INVALID_SCHEMA)
    assert time.perf_counter() - started < 2


def test_the_detail_names_the_place_and_holds_no_text_of_the_reply() -> None:
    parsed = parse_reply(
        Reply('{"claims": [{"text": "A.", "citations": [{"source": "S1"}], "leak": 1}]}')
    )
    assert isinstance(parsed, RejectedReply)
    assert parsed.detail.startswith("claims.0.citations.0.quote: ")
    leaking = parse_reply(Reply('{"secret-word": 1, "claims": []}'))
    assert isinstance(leaking, RejectedReply)
    assert "secret" not in leaking.detail


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)
citations = st.builds(
    DraftCitation,
    source=st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    quote=texts,
)
drafts = st.builds(
    Draft,
    insufficient=st.booleans(),
    claims=st.lists(
        st.builds(DraftClaim, text=texts, citations=st.lists(citations, max_size=3).map(tuple)),
        max_size=4,
    ).map(tuple),
)


@given(drafts, st.booleans(), st.sampled_from([None, 2]))
def test_what_is_written_is_read_back(draft: Draft, ascii_only: bool, indent: int | None) -> None:
    value = {
        "insufficient": draft.insufficient,
        "claims": [
            {
                "text": c.text,
                "citations": [{"source": q.source, "quote": q.quote} for q in c.citations],
            }
            for c in draft.claims
        ],
    }
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse_reply(Reply(text)) == draft


@given(st.text(max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(parse_reply(Reply(text)), Draft | RejectedReply)


@given(st.integers(0, len(GOOD) - 1))
def test_a_reply_cut_anywhere_is_not_believed(at: int) -> None:
    assert reason_of(GOOD[:at]) is Reason.INVALID_JSON
