"""Writing canonical text block by block, for formats whose text is made rather than kept."""

from __future__ import annotations

from typing import Any

from evidencedesk.adapters.parsers.headings import HeadingPath
from evidencedesk.model import Block, BlockKind

_BETWEEN = "\n\n"


class BlockWriter:
    """Gathers blocks and joins their texts by blank lines."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._groups = 0
        self._headings = HeadingPath()

    @property
    def text(self) -> str:
        """The canonical text so far."""
        return _BETWEEN.join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far."""
        return tuple(self._blocks)

    def next_group(self) -> int:
        """A number for the blocks of one more list or table."""
        self._groups += 1
        return self._groups

    def heading(self, text: str, level: int, **anchors: Any) -> None:
        """Add a heading, unless it is blank. Level 0, a document's title, stands above all others."""
        if text.strip():
            self._headings.enter(level, text.strip())
            self.add(BlockKind.HEADING, text, level=max(level, 1), **anchors)

    def add(self, kind: BlockKind, text: str, **fields: Any) -> None:
        """Add a block under the heading in force, unless it is blank. Blank ends are cut off.

        Code keeps the white space before its first word, so that its lines stay aligned.
        """
        text = text.rstrip()
        lead = len(text) - len(text.lstrip())
        if kind is BlockKind.CODE:
            lead = text.rfind("\n", 0, lead) + 1
        text = text[lead:]
        if not text:
            return
        start = self._length + len(_BETWEEN) if self._parts else 0
        self._length = start + len(text)
        self._parts.append(text)
        self._blocks.append(Block(kind, start, self._length, heading=self._headings.path, **fields))
