"""The values that the reading of PDF pages passes on: frames, pieces, lines."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evidencedesk.model.boxes import Boxes


@dataclass(frozen=True, slots=True)
class Frame:
    """How a page's own coordinates become points from the top left after rotation.

    Attributes:
        left: left edge of the visible page in the page's own coordinates.
        bottom: its bottom edge.
        across: its width before rotation.
        up: its height before rotation.
        turns: clockwise quarter turns, 0 to 3.
    """

    left: float
    bottom: float
    across: float
    up: float
    turns: int

    @property
    def width(self) -> float:
        """Width after rotation."""
        return self.up if self.turns % 2 else self.across

    @property
    def height(self) -> float:
        """Height after rotation."""
        return self.across if self.turns % 2 else self.up

    def boxes(self, rects: Boxes) -> Boxes:
        """``x0, y0, x1, y1`` of rectangles given as left, top, right, bottom in its coordinates."""
        if not self.turns:
            shown = rects[:, [0, 1, 2, 3]]
            shown[:, 0::2] -= np.float32(self.left)
            np.subtract(np.float32(self.up + self.bottom), shown[:, 1::2], out=shown[:, 1::2])
            return shown
        x0, x1 = rects[:, 0] - self.left, rects[:, 2] - self.left
        y0, y1 = rects[:, 3] - self.bottom, rects[:, 1] - self.bottom
        turned = {
            1: (y0, x0, y1, x1),
            2: (self.across - x1, y0, self.across - x0, y1),
            3: (self.up - y1, self.across - x1, self.up - y0, self.across - x0),
        }
        return np.stack(turned[self.turns], axis=1).astype(np.float32, copy=False)


@dataclass(slots=True, eq=False)
class Piece:
    """Characters that stand side by side without a wide gap; thousands of them, so not frozen.

    Attributes:
        start: first character of the page as drawn.
        stop: one past the last.
        x0, y0, x1, y1: the rectangle around it.
        size: size of its type in points.
        broken: True when it ends in a hyphen inside a word.
        soft: True when only a gap parts it from the piece drawn before it.
        before: that piece.
    """

    start: int
    stop: int
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    broken: bool
    soft: bool
    before: Piece | None = None


@dataclass(slots=True, eq=False)
class Line:
    """One line of text.

    Attributes:
        page: 1-based page number.
        text: its characters; the cells of a table's row have a tab between them.
        drawn: which characters of the page, as drawn, stand where in the text: (offset in the text,
            first, one past the last); what lies between two such spans the page does not draw.
        size: size of its type in points.
        x0, y0, x1, y1: the rectangle around it.
        broken: True when it ends in a hyphen inside a word.
        table: number of the table on its page whose row it is, counting from 1; 0 for other lines,
            negative for a line that goes on with the row above it.
    """

    page: int
    text: str
    drawn: tuple[tuple[int, int, int], ...]
    size: float
    x0: float
    y0: float
    x1: float
    y1: float
    broken: bool = False
    table: int = 0

    @property
    def middle(self) -> float:
        """Height of its middle, from the top of the page."""
        return (self.y0 + self.y1) / 2


@dataclass(slots=True)
class PageLines:
    """The lines of one page in reading order.

    Attributes:
        frame: where its points lie.
        lines: in reading order.
        boxes: of all characters as drawn; shape (characters, 4).
        characters: how many there are.
        unmapped: how many of them stand for nothing known.
    """

    frame: Frame
    lines: list[Line] = field(default_factory=list)
    boxes: Boxes = field(default_factory=lambda: np.empty((0, 4), dtype=np.float32))
    characters: int = 0
    unmapped: int = 0
