"""CSV and JSON Lines: one record a row, on the file's own lines."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, fold, located_blocks

from evidencedesk.adapters.parsers.delimited import CsvParser, records
from evidencedesk.adapters.parsers.json_lines import JsonLinesParser
from evidencedesk.model import BlockKind

CELL = st.text(st.sampled_from('ab1 ,;|"\n\r\té'), max_size=8)


def test_rows_lines_and_header():
    data = b'name,notes,amount\n"Smith, John","line one\nline two",12\n"O""Brien",plain,13\n'
    parsed = CsvParser().parse(data, "a.csv")
    assert_blocks_cover(parsed)
    header, smith, brien = located_blocks(parsed)
    assert parsed.blocks[0].kind is BlockKind.TABLE_HEADER
    assert smith[0] == "Smith, John | line one\nline two | 12"
    assert (smith[1].first_line, smith[1].last_line, smith[1].row) == (2, 3, 2)
    assert (brien[0], brien[1].first_line, brien[1].row) == ('O"Brien | plain | 13', 4, 3)
    assert parsed.blocks[2].context == header[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str):
    lines = [delimiter.join(row) for row in (("plan", "price"), ("Müller", "3.50"))]
    parsed = CsvParser().parse("\n".join(lines).encode(), "a.csv")
    assert parsed.text == "plan | price\nMüller | 3.50"


def test_an_open_quote_does_not_swallow_the_file():
    parsed = CsvParser().parse(b'a,b\n"open,2\nc,3\n', "a.csv")
    assert parsed.text.split("\n")[2] == "c | 3"


def test_a_first_row_of_numbers_names_nothing():
    parsed = CsvParser().parse(b"1,2\n3,4\n", "a.csv")
    assert {block.kind for block in parsed.blocks} == {BlockKind.TABLE_ROW}


@given(st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=6))
def test_cells_are_those_that_another_reader_finds(table: list[list[str]]):
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(table)
    found = [record.cells for record in records(written.getvalue(), ",")]
    wanted = [[cell.strip(" \t") for cell in row] for row in table]
    assert [list(cells) for cells in found] == [row if any(row) else [] for row in wanted]


@given(st.text(st.sampled_from('ab1,;"\n\r |\t'), max_size=60))
def test_lines_are_the_files_own_and_no_word_is_lost(text: str):
    parsed = CsvParser().parse(text.encode(), "a.csv")
    assert_blocks_cover(parsed)
    ends = text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert parsed.text.count("\n") == ends
    letters = [char for char in text if char.isalnum()]
    assert [char for char in parsed.text if char.isalnum()] == letters


def test_records_of_json_stand_on_their_lines():
    data = b'{"a": {"b": [1, 2.50]}, "ok": true, "no": null}\n\nnot json\n"x\\ny"\n'
    parsed = JsonLinesParser().parse(data, "a.jsonl")
    assert_blocks_cover(parsed)
    assert [(text, place.first_line) for text, place in located_blocks(parsed)] == [
        ("a.b: 1, 2.50 | ok: true", 1),
        ("not json", 3),
        ("x y", 4),
    ]
    assert parsed.partial
    assert parsed.warnings == ("1 lines are no JSON and are kept as they stand",)


JSON = st.recursive(
    st.text(max_size=8) | st.integers() | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=4))
def test_every_value_stays_on_its_line(values: list[object]):
    data = "\n".join(json.dumps(value) for value in values).encode()
    parsed = JsonLinesParser().parse(data, "a.jsonl")
    assert_blocks_cover(parsed)
    lines = parsed.text.split("\n")
    for line, value in zip(lines, values, strict=False):
        if isinstance(value, str) and "\0" not in value:
            assert fold(line) == fold(value.encode("utf-8", "replace").decode())


def test_deep_nesting_ends():
    parsed = JsonLinesParser().parse(
        b"[" * 90_000 + b"\n" + b'{"a":' * 500 + b"1" + b"}" * 500, "a"
    )
    assert parsed.blocks
