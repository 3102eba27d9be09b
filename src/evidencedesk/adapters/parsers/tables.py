"""Which row of a table names its columns, where the format does not say so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

_NUMBER = re.compile(r"[^\w]*\d[\d\W]*%?")
_LONGEST_NAME = 80
_LONGEST_CONTEXT = 1_000


class HeaderRows:
    """Watches the rows of a sheet go by.

    The first row that looks the part names the columns of those below it: two cells or more, each
    of them short, a text and different from the others. What stands above it (a title, a note) is
    an ordinary row. After a blank row a new table may begin, which has a row of names of its own
    in other columns, or else goes on under the old one.
    """

    def __init__(self) -> None:
        self.context = ""
        self._open = True
        self._first: int | None = None
        self._rows = 0
        self._columns: AbstractSet[int] = frozenset()

    def begin_table(self) -> bool:
        """A blank row went by: whether rows were read since the last one."""
        self._open = True
        return self._rows > 0

    def align(self, column: int) -> int:
        """The first column of the table, so that the cells of all rows stay in line."""
        self._first = column if self._first is None else min(column, self._first)
        return self._first

    def is_header(self, cells: Mapping[int, str], *, has_numbers: bool) -> bool:
        """Whether this row (column to text) names the columns of the rows to come."""
        self._rows += 1
        texts = list(cells.values())
        if not self._open or has_numbers or not looks_like_names(texts):
            self._open = self._open and len(cells) < 2
            return False
        self._open = False
        if self.context and cells.keys() <= self._columns:
            return False
        self._columns = cells.keys()
        return True


def looks_like_names(cells: Sequence[str]) -> bool:
    """Whether cells could be the names of columns."""
    named = [cell for cell in cells if cell]
    return (
        len(named) > 1
        and len(named) == len(cells)
        and len(set(named)) == len(named)
        and not any(_NUMBER.fullmatch(cell) or len(cell) > _LONGEST_NAME for cell in named)
    )


def as_context(header: str) -> str:
    """A header row as it is repeated for each row: hundreds of names would drown the row itself."""
    if len(header) <= _LONGEST_CONTEXT:
        return header
    return header[:_LONGEST_CONTEXT].rpartition(" | ")[0] + " | …"
