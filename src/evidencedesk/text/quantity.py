"""A quantity as read from a text: what it may mean, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from evidencedesk.text.dates import Date
from evidencedesk.text.units import Unit


class Kind(StrEnum):
    """What a quantity is, and so how it is compared."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    ORDINAL = "ordinal"
    IDENTIFIER = "identifier"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a text.

    Attributes:
        kind: how it is compared.
        written: as written, in plain spelling.
        start: where it starts in :attr:`Quantities.text`, sign and currency included.
        end: one past its end there, unit included.
        values: the bare values that it may have, signed.
        units: the units that it may have; empty when none is known.
        scale: factor of a magnitude word, already in ``values``.
        noun: the word behind it when that is no known unit, folded.
        dates: the dates that it may mean.
        minutes: minutes after midnight, of a time.
        weak: a word that often is no number (``one``, ``first``).
        version: dotted and named a version, section or the like: compared as written.
    """

    kind: Kind
    written: str
    start: int
    end: int
    values: frozenset[Fraction] = frozenset()
    units: tuple[Unit, ...] = ()
    scale: Fraction = Fraction(1)
    noun: str = ""
    dates: frozenset[Date] = frozenset()
    minutes: int | None = None
    weak: bool = False
    version: bool = False

    @property
    def measures(self) -> frozenset[tuple[str, Fraction]]:
        """Every (dimension, value in its base unit) that it may have."""
        return frozenset(
            (unit.dimension, value * unit.factor + unit.offset)
            for unit in self.units
            for value in self.values
        )


@dataclass(frozen=True, slots=True)
class Quantities:
    """The quantities of one text, in order.

    Attributes:
        text: the text in plain spelling, which offsets refer to.
        found: the quantities.
    """

    text: str
    found: tuple[Quantity, ...]


def is_year(quantity: Quantity) -> bool:
    """Whether it is written as a year of our time: four digits from 1900 to 2100, nothing else."""
    written = quantity.written
    return len(written) == 4 and written.isdigit() and "1900" <= written <= "2100"
