"""Independent readers of original files, and what every parsed document must satisfy."""

from __future__ import annotations

import re

from evidencedesk.model import Document, Location, Locator, ParsedDocument, Span


def fold(text: str) -> str:
    return " ".join(text.split())


def lines_of(data: bytes) -> list[str]:
    """Lines as an editor counts them; the byte order mark is no text."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def text_at_lines(data: bytes, location: Location) -> str:
    assert location.first_line is not None
    assert location.last_line is not None
    return "\n".join(lines_of(data)[location.first_line - 1 : location.last_line])


def document_of(parsed: ParsedDocument) -> Document:
    return Document(
        id="d",
        text=parsed.text,
        blocks=parsed.blocks,
        first_line=parsed.first_line,
        pages=parsed.pages,
        page_boxes=parsed.page_boxes,
    )


def located_blocks(parsed: ParsedDocument) -> list[tuple[str, Location]]:
    locator = Locator(document_of(parsed))
    return [
        (parsed.text[block.start : block.end], locator.locate(Span(block.start, block.end)))
        for block in parsed.blocks
    ]


def assert_blocks_cover(parsed: ParsedDocument) -> None:
    """Blocks are in order, overlap nowhere, have no blank ends, and miss nothing but white space."""
    end = 0
    for block in parsed.blocks:
        assert end <= block.start < block.end <= len(parsed.text)
        assert not parsed.text[end : block.start].strip()
        assert not parsed.text[block.end - 1].isspace()
        end = block.end
    assert not parsed.text[end:].strip()


def xpath_of(css: str) -> str:
    """The few CSS selectors that locations use, as XPath."""
    steps = []
    for step in css.split(" > "):
        name, _, number = step.partition(":nth-of-type(")
        if step.startswith("#"):
            steps.append(f"//*[@id='{step[1:]}']")
        else:
            match = re.fullmatch(r'\[id="(.*)"\]', step)
            named = f"//*[@id='{match.group(1)}']" if match else name
            steps.append(f"{named}[{number.rstrip(')')}]" if number else named)
    path = "/".join(steps)
    return path if path.startswith("//") else f"/{path}"
