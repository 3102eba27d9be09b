"""The path of headings in force while a document is read from top to bottom."""

from __future__ import annotations


class HeadingPath:
    """Headings of growing level; a new one ends all of its own level and below."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def enter(self, level: int, text: str) -> tuple[str, ...]:
        """Begin a heading and return the path that ends in it."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, text))
        self.path = tuple(heading for _, heading in self._open)
        return self.path
