from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, fold, located_blocks

from evidencedesk.adapters.parsers.docx import DocxParser
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, ParsedDocument

PARSER = DocxParser()
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

TEXTS = st.text(st.sampled_from("abcXY 019.,&<éক্ষু漢🚲\t"), max_size=20)
WORDS = TEXTS.filter(str.strip)
PARTS = st.one_of(
    st.tuples(st.just("paragraph"), TEXTS),
    st.tuples(st.just("heading"), WORDS, st.integers(0, 4)),
    st.tuples(st.sampled_from(["List Bullet", "List Number"]), WORDS),
    st.tuples(st.just("table"), st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3)),
)


def saved(document: docx.document.Document) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def written(parts: Sequence[tuple]) -> bytes:
    document = docx.Document()
    for kind, content, *level in parts:
        if kind == "heading":
            document.add_heading(content, level[0])
        elif kind == "table":
            table = document.add_table(len(content), 2)
            for row, cells in zip(table.rows, content, strict=True):
                for cell, text in zip(row.cells, cells, strict=True):
                    cell.text = text
        else:
            document.add_paragraph(content, None if kind == "paragraph" else kind)
    return saved(document)


def package(body: str, *, word: str = WORD, **parts: str) -> bytes:
    """A minimal file; ``parts`` are further parts of ``word/`` by name without extension."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        relations = f'<Relationships xmlns="{RELATIONS}">'
        archive.writestr(
            "_rels/.rels",
            f'{relations}<Relationship Id="r" Type="{OFFICE}/officeDocument"'
            ' Target="word/document.xml"/></Relationships>',
        )
        targets = "".join(
            f'<Relationship Id="{name}" Type="{OFFICE}/{name}" Target="{name}.xml"/>'
            for name in parts
        )
        archive.writestr("word/_rels/document.xml.rels", f"{relations}{targets}</Relationships>")
        archive.writestr(
            "word/document.xml",
            body
            if body.startswith("<?xml")
            else f'<w:document xmlns:w="{word}" xmlns:mc="http://schemas.openxmlformats.org/'
            f'markup-compatibility/2006"><w:body>{body}</w:body></w:document>',
        )
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content)
    return file.getvalue()


def parse(data: bytes) -> ParsedDocument:
    return PARSER.parse(data, "a.docx")


def texts(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[block.start : block.end] for block in parsed.blocks]


@settings(max_examples=40)
@given(st.lists(PARTS, max_size=8))
def test_every_block_is_found_again_at_its_paragraph_or_row(parts: list[tuple]) -> None:
    data = written(parts)
    parsed = parse(data)
    assert_blocks_cover(parsed)
    original = docx.Document(io.BytesIO(data))
    rows = [
        (number, fold(" | ".join(fold(cell.text) for cell in row.cells)))
        for table in original.tables
        for number, row in enumerate(table.rows, start=1)
    ]
    for text, location in located_blocks(parsed):
        if location.row is not None:
            assert (location.row, fold(text)) in rows
        else:
            assert location.paragraph is not None
            paragraph = original.paragraphs[location.paragraph - 1]
            marker = fold(text).removesuffix(fold(paragraph.text))
            assert (marker == "") == ("List" not in paragraph.style.name)


@settings(max_examples=40)
@given(st.lists(PARTS, max_size=8))
def test_no_word_is_lost(parts: list[tuple]) -> None:
    data = written(parts)
    original = docx.Document(io.BytesIO(data))
    read = fold(parse(data).text)
    for paragraph in original.paragraphs:
        assert fold(paragraph.text) in read
    for table in original.tables:
        for row in table.rows:
            for cell in row.cells:
                assert fold(cell.text) in read


def test_headings_make_paths_and_the_title_stands_above_them() -> None:
    parsed = parse(
        written(
            [
                ("heading", "Agreement", 0),
                ("heading", "Fees", 1),
                ("heading", "Late fees", 2),
                ("paragraph", "Two per cent."),
                ("heading", "Term", 1),
                ("paragraph", "One year."),
            ]
        )
    )
    paths = [b.heading for b in parsed.blocks if b.kind is BlockKind.PARAGRAPH]
    assert paths == [("Agreement", "Fees", "Late fees"), ("Agreement", "Term")]
    assert parsed.title == "Agreement"


def test_numbered_lists_count_and_bullets_are_marked() -> None:
    parsed = parse(
        written(
            [
                ("List Number", "open"),
                ("List Number", "close"),
                ("paragraph", "then"),
                ("List Bullet", "rest"),
            ]
        )
    )
    assert texts(parsed) == ["1. open", "2. close", "then", "• rest"]
    assert [block.kind is BlockKind.LIST_ITEM for block in parsed.blocks] == [
        True,
        True,
        False,
        True,
    ]
    assert parsed.blocks[0].group == parsed.blocks[1].group != parsed.blocks[3].group


NUMBERING = (
    f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="7">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/>'
    "</w:lvlOverride></w:num></w:numbering>"
)


def item(text: str, level: int = 0, identity: int = 1) -> str:
    return (
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{identity}"/></w:numPr></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p>"
    )


def test_markers_are_those_that_word_prints() -> None:
    body = (
        item("a") + item("b", 1) + item("c", 1) + item("d") + item("e", 1) + item("f", identity=2)
    )
    parsed = parse(package(body, numbering=NUMBERING))
    assert texts(parsed) == ["I. a", "I.a) b", "I.b) c", "II. d", "II.a) e", "IV. f"]


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def test_tracked_insertions_are_text_and_deletions_are_not() -> None:
    body = (
        f"<w:p>{run('keep ')}<w:ins>{run('INSERTED ')}</w:ins>"
        "<w:del><w:r><w:delText>DELETED </w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('MOVED ')}</w:moveFrom><w:moveTo>{run('here')}</w:moveTo></w:p>"
    )
    assert texts(parse(package(body))) == ["keep INSERTED here"]


def test_hyperlinks_fields_controls_and_breaks() -> None:
    body = (
        f"<w:p><w:hyperlink>{run('link')}</w:hyperlink><w:fldSimple>{run(' field')}</w:fldSimple>"
        "<w:r><w:fldChar w:fldCharType='begin'/><w:instrText>PAGE</w:instrText></w:r>"
        f"<w:sdt><w:sdtContent>{run(' control')}</w:sdtContent></w:sdt>"
        "<w:r><w:br/><w:t>new</w:t><w:noBreakHyphen/><w:t>line</w:t></w:r></w:p>"
    )
    assert texts(parse(package(body))) == ["link field control\nnew\u2011line"]


def test_text_boxes_are_read_once() -> None:
    box = f"<w:txbxContent><w:p>{run('in the box')}</w:p></w:txbxContent>"
    body = (
        f"<w:p>{run('before')}<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    parsed = parse(package(body))
    assert texts(parsed) == ["before", "in the box"]
    assert [block.paragraph for block in parsed.blocks] == [1, 1]


def test_notes_stand_after_the_paragraph_that_refers_to_them() -> None:
    notes = (
        f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:id="2"><w:p>{run("the note")}</w:p>'
        "</w:footnote></w:footnotes>"
    )
    body = f"<w:p>{run('text')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p><w:p>{run('next')}</w:p>"
    parsed = parse(package(body, footnotes=notes))
    assert texts(parsed) == ["text", "the note", "next"]
    assert parsed.blocks[1].context == "Footnote 2"


def test_merged_cells_appear_once_and_reach_down_as_context() -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p>{run(text)}</w:p></w:tc>"

    merged, goes_on = "<w:vMerge w:val='restart'/>", "<w:vMerge/>"
    body = (
        "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>" + cell("Plan") + cell("Price") + "</w:tr>"
        f"<w:tr>{cell('Basic', merged)}{cell('$10')}</w:tr><w:tr>{cell('', goes_on)}{cell('$12')}</w:tr></w:tbl>"
    )
    parsed = parse(package(body))
    assert texts(parsed) == ["Plan | Price", "Basic | $10", "$12"]
    assert [b.context for b in parsed.blocks] == ["", "Plan | Price", "Plan | Price\nBasic"]


def test_a_first_row_of_numbers_is_no_header() -> None:
    parsed = parse(written([("table", [("1", "2"), ("3", "4")])]))
    assert [block.kind for block in parsed.blocks] == [BlockKind.TABLE_ROW, BlockKind.TABLE_ROW]


def test_strict_files_are_read() -> None:
    assert texts(parse(package(f"<w:p>{run('Some text')}</w:p>", word=STRICT))) == ["Some text"]


def test_what_was_not_read_is_said() -> None:
    parsed = parse(package("<w:altChunk/>" + f"<w:p>{run('x')}</w:p>"))
    assert parsed.partial
    assert "altChunk" in parsed.warnings[0]


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>'
)
OUTSIDE = BOMB.replace('"ha"', 'SYSTEM "file:///etc/passwd"')
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (package(BOMB), "refused"),
        (package(OUTSIDE), "refused"),
        (package("<?xml version='1.0'?><broken"), "damaged"),
        (package("")[:300], "damaged"),
        (b"PK\x03\x04 and nothing more", "damaged"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (OLE, "unsupported"),
    ],
)
def test_hostile_and_broken_files_are_refused_with_their_reason(data: bytes, code: str) -> None:
    with pytest.raises(ParseError, match=r"^a\.docx: ") as caught:
        parse(data)
    assert caught.value.code == code


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (64 << 20))
    with pytest.raises(ParseError, match="unpacks to 67108864 bytes") as caught:
        parse(file.getvalue())
    assert caught.value.code == "refused"


def test_a_package_without_a_document_is_damaged() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ParseError, match="there is no document"):
        parse(file.getvalue())
