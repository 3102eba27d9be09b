"""Telephone numbers by the numbering plans of all countries (the package ``phonenumbers``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from phonenumbers import Leniency, PhoneNumberMatcher

_MOST_TRIES = 1 << 30


class PhoneDetector:
    """Numbers that are given out: with a country code anywhere, without one in the regions named."""

    kind = "phone"

    def __init__(self, regions: Sequence[str] = ()) -> None:
        """Read numbers without a country code as numbers of ``regions`` (``DE``, ``IN``)."""
        self._regions: Sequence[str | None] = tuple(regions) or (None,)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of numbers."""
        for region in self._regions:
            for match in PhoneNumberMatcher(
                text, region, leniency=Leniency.VALID, max_tries=_MOST_TRIES
            ):
                lead = len(match.raw_string) - len(match.raw_string.lstrip("([ "))
                yield match.start + lead, match.end
