"""Documents put together from documents: the chapters of a book, the bodies of a message."""

from __future__ import annotations

from dataclasses import replace

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.model import BlockKind, ParsedDocument


def append_parsed(
    writer: BlockWriter,
    part: ParsedDocument,
    *,
    element_prefix: str = "",
    below: int = 0,
    paragraphs_from: int | None = None,
) -> int:
    """Write the blocks of ``part`` behind those written already.

    Args:
        writer: where to.
        part: a parsed document whose blocks have places of their own.
        element_prefix: put before CSS paths, which otherwise would not say in which part.
        below: the level of the heading that all headings of the part stand under.
        paragraphs_from: number of the first block as a paragraph; None to number none.

    Returns:
        The number after the last paragraph.
    """
    groups: dict[int, int] = {}
    number = paragraphs_from or 0
    for block in part.blocks:
        text = part.text[block.start : block.end]
        element = f"{element_prefix}{block.element}" if block.element else None
        if block.kind is BlockKind.HEADING:
            writer.heading(text, min(block.level + below, 6), element=element)
            continue
        if block.group and block.group not in groups:
            groups[block.group] = writer.next_group()
        placed = replace(block, group=groups.get(block.group, 0))
        writer.add(
            placed.kind,
            text,
            level=placed.level,
            context=placed.context,
            group=placed.group,
            row=placed.row,
            element=element,
            paragraph=None if paragraphs_from is None else number,
        )
        number += 1
    return number
