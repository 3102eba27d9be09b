"""What is different when a question is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidencedesk.model import Answer

_COMPARED = ["reason", "text", "confidence", "threshold", "generator", "model", "degraded"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was.

    Attributes:
        what: ``text``, ``citations``, ``retrieved``, ...
        before: what the receipt says; None when it is not kept or not for this reader.
        after: what it is now.
    """

    what: str
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {"what": self.what, "before": self.before, "after": self.after}


def differences(
    before: Mapping[str, Any], after: Answer, *, settings: Mapping[str, Any], prompt_version: str
) -> tuple[Difference, ...]:
    """What changed between a receipt, as its reader may read it, and the answer of now.

    Args:
        before: :func:`evidencedesk.records.readable`.
        after: the answer to the same question.
        settings: the settings of now, as receipts record them.
        prompt_version: of the rules that the generator was given now; empty when it was not asked.
    """
    return tuple(_differences(before, after, settings, prompt_version))


def _differences(
    before: Mapping[str, Any], after: Answer, settings: Mapping[str, Any], prompt_version: str
) -> Iterator[Difference]:
    now = after.to_json()
    pairs = [(name, before[name], now[name]) for name in _COMPARED]
    pairs += [
        ("citations", _cited(before), _cited(now)),
        ("retrieved", _retrieved(before), _retrieved(now)),
        ("prompt_version", before["prompt_version"], prompt_version),
    ]
    pairs += [
        (f"settings.{name}", before["settings"].get(name), settings.get(name))
        for name in sorted({*before["settings"], *settings})
    ]
    for what, was, becomes in pairs:
        if was != becomes:
            yield Difference(what, was, becomes)


def _cited(answer: Mapping[str, Any]) -> list[list[Any]]:
    return [[each.get("chunk_id"), each.get("quote")] for each in answer["citations"]]


def _retrieved(answer: Mapping[str, Any]) -> list[str]:
    return [each["chunk_id"] for each in answer["retrieved"]]
