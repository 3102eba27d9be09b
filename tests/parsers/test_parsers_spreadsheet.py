from __future__ import annotations

import pytest
from packages import text_row, workbook, zipped
from reading_back import assert_blocks_cover, located_blocks

from evidencedesk.adapters.parsers.spreadsheet import XlsxParser
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, ParsedDocument


def parse(data: bytes) -> ParsedDocument:
    parsed = XlsxParser().parse(data, "a.xlsx")
    assert_blocks_cover(parsed)
    return parsed


def rows(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[b.start : b.end] for b in parsed.blocks if b.kind is not BlockKind.HEADING]


def test_a_row_is_said_as_people_say_it_and_knows_its_header():
    parsed = parse(
        workbook({"Fees": text_row(3, "Plan", "Price") + text_row(5, "Basic", "ten euro")})
    )
    places = dict(located_blocks(parsed))
    assert places["Basic | ten euro"].label == "sheet Fees, row 5"
    assert (places["Plan | Price"].sheet, places["Plan | Price"].row) == ("Fees", 3)
    assert parsed.blocks[-1].context == "Plan | Price"


def test_a_cell_of_a_wide_table_is_found_under_its_own_column():
    names = [f"Month {n}" for n in range(1, 13)]
    values = ["" if n == 5 else f"v{n}" for n in range(1, 13)]
    parsed = parse(workbook({"Wide": text_row(1, *names) + text_row(2, *values)}))
    header, row = (line.split(" | ") for line in rows(parsed))
    assert row[header.index("Month 7")] == "v7"
    assert row[header.index("Month 5")] == ""


@pytest.mark.parametrize(
    ("code", "stored", "shown"),
    [
        ("0%", "0.125", "12%"),
        ("0.0%", "0.125", "12.5%"),
        ("#,##0.00", "1234.5", "1,234.50"),
        ("&quot;$&quot;#,##0.00", "1234.5", "$1,234.50"),
        ("[$€-407] #,##0.00", "-3.5", "-€3.50"),
        ("0.00 &quot;kg&quot;", "2", "2.00 kg"),
        ("yyyy-mm-dd", "45415", "2024-05-03"),
        ("dd/mm/yyyy hh:mm", "45415.5", "2024-05-03 12:00"),
        ("hh:mm", "0.75", "18:00"),
        ("General", "0.30000000000000004", "0.3"),
        ("General", "1E+21", "1000000000000000000000"),
        ("@", "007", "7"),
        ("yyyy", "9e99", "9e+99"),
    ],
)
def test_numbers_are_read_as_they_are_shown(code: str, stored: str, shown: str):
    row = f'<row r="1"><c r="A1" s="0"><v>{stored}</v></c></row>'
    assert rows(parse(workbook({"S": row}, formats=(code,)))) == [shown]


def test_the_stored_result_of_a_formula_is_read_and_a_missing_one_is_reported():
    row = '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>SUM(A1)</f></c></row>'
    parsed = parse(workbook({"S": row}))
    assert rows(parsed) == ["2 | =SUM(A1)"]
    assert parsed.partial
    assert "1 formulas have no stored result" in parsed.warnings[0]


def test_merged_cells_that_reach_down_are_context_of_the_rows_below():
    data = text_row(1, "Plan", "Price") + text_row(2, "Basic", "10") + text_row(3, "", "12")
    merged = '<!----><mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    parsed = parse(workbook({"S": data + merged}))
    assert parsed.blocks[-1].context == "Plan | Price\nBasic"


def test_shared_texts_keep_their_runs_and_lose_their_reading_aids():
    shared = "<si><r><t>Rates </t></r><r><t>2024</t></r><rPh><t>x</t></rPh></si>"
    row = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>99</v></c></row>'
    assert rows(parse(workbook({"S": row}, shared=shared))) == ["Rates 2024"]


def test_a_hidden_sheet_is_left_out_and_said_to_be():
    parsed = parse(workbook({"Open": text_row(1, "a"), "Secret": text_row(1, "b")}, state="hidden"))
    assert "Secret" not in parsed.text
    assert parsed.warnings == ("1 hidden sheets were left out (Secret)",)


def test_a_workbook_of_empty_cells_says_so():
    parsed = parse(workbook({"S": '<row r="1"><c r="A1" s="1"/></row>'}))
    assert (parsed.text, parsed.warnings) == ("", ("no visible cell holds anything",))


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa">]>'


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (workbook({"S": text_row(1, "a")}, head=ENTITIES), "refused"),
        (
            workbook(
                {"S": "".join('<row><c t="s"><v>0</v></c></row>' for _ in range(9))},
                shared=f"<si><t>{'x' * 40_000}</t></si>",
            ),
            "refused",
        ),
        (workbook({"S": '<row r="1"><c'}), "damaged"),
        (zipped({"[Content_Types].xml": "x"}), "damaged"),
        (b"PK\x03\x04 nothing", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    ],
)
def test_hostile_and_broken_workbooks_are_refused_with_their_reason(data: bytes, code: str):
    with pytest.raises(ParseError) as caught:
        parse(data)
    assert caught.value.code == code


def test_one_text_named_by_many_cells_cannot_fill_the_memory():
    cells = "".join('<row><c t="s"><v>0</v></c></row>' for _ in range(2_000))
    with pytest.raises(ParseError, match="characters in its cells"):
        parse(workbook({"S": cells}, shared=f"<si><t>{'x' * 32_000}</t></si>"))
