"""Identical evidence, shown once."""

from __future__ import annotations

from collections.abc import Sequence

from evidencedesk.model import Hit


def collapse(hits: Sequence[Hit]) -> list[tuple[Hit, tuple[str, ...]]]:
    """Hits with distinct texts, best first, each with the other documents that hold its text.

    Texts are the same when they are once whitespace is folded. The best hit of each text stays;
    documents are listed by id, without its own.
    """
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(" ".join(hit.chunk.text.split()), []).append(hit)
    return [(group[0], _others(group)) for group in groups.values()]


def _others(group: Sequence[Hit]) -> tuple[str, ...]:
    own = group[0].chunk.document_id
    return tuple(sorted({hit.chunk.document_id for hit in group} - {own}))
