"""Labelled questions: who asks what, and what a right answer rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evidencedesk.access import DEFAULT_STATUSES, DEFAULT_TENANT, Principal, Status


class Label(StrEnum):
    """What the right outcome is for the reader who asks."""

    ANSWERABLE = "answerable"
    UNANSWERABLE = "unanswerable"
    NOT_PERMITTED = "not permitted"


@dataclass(frozen=True, slots=True)
class Reader:
    """As whom a question is asked.

    Attributes:
        tenant: the tenant.
        roles: the reader's roles.
        administrator: whether the reader is an administrator of the tenant.
        statuses: statuses of the documents looked at.
    """

    tenant: str = DEFAULT_TENANT
    roles: frozenset[str] = frozenset()
    administrator: bool = False
    statuses: frozenset[Status] = DEFAULT_STATUSES

    @property
    def principal(self) -> Principal:
        """The principal that asks; it has no subject."""
        return Principal(self.tenant, self.roles, administrator=self.administrator)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document the answer stands; what is None may be anything.

    Attributes:
        document_id: the document.
        first_line: first file line.
        last_line: last file line.
        page: page.
    """

    document_id: str
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The keys of a row; None is left out."""
        row = {
            "document": self.document_id,
            "first_line": self.first_line,
            "last_line": self.last_line,
            "page": self.page,
        }
        return {key: value for key, value in row.items() if value is not None}


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """One row of a golden set.

    Attributes:
        id: unique in its set.
        question: as a person asks it.
        reader: as whom it is asked.
        label: what the right outcome is.
        documents: each document that answers and its gain (1 where nothing else is said).
        quotes: words that stand in the sources and that the answer must rest on.
        facts: words that must stand in the answer or in its quotes.
        places: where the answer stands.
        hidden: documents that would answer, had the reader the right to see them.
        lang: primary language of the question (BCP 47), ``und`` when unknown.
        tags: whatever the set is to be broken down by.
        retrieval_only: whether only what is found is judged, not the answer.
    """

    id: str
    question: str
    reader: Reader = field(default_factory=Reader)
    label: Label = Label.ANSWERABLE
    documents: Mapping[str, float] = field(default_factory=dict)
    quotes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    hidden: tuple[str, ...] = ()
    lang: str = "und"
    tags: tuple[str, ...] = ()
    retrieval_only: bool = False

    @property
    def relevant(self) -> frozenset[str]:
        """Documents with a gain above 0."""
        return frozenset(name for name, gain in self.documents.items() if gain > 0)

    def to_json(self) -> dict[str, Any]:
        """The row as it is written; defaults are left out."""
        plain = all(gain == 1 for gain in self.documents.values())
        row: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "tenant": "" if self.reader.tenant == DEFAULT_TENANT else self.reader.tenant,
            "roles": sorted(self.reader.roles),
            "administrator": self.reader.administrator,
            "statuses": _statuses(self.reader),
            "label": self.label.value,
            "documents": list(self.documents) if plain else dict(self.documents),
            "quotes": list(self.quotes),
            "facts": list(self.facts),
            "places": [place.to_json() for place in self.places],
            "hidden": list(self.hidden),
            "lang": "" if self.lang == "und" else self.lang,
            "tags": list(self.tags),
            "retrieval_only": self.retrieval_only,
        }
        return {key: value for key, value in row.items() if value or key == "roles"}


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Labelled questions over one corpus.

    Attributes:
        name: what reports call it.
        questions: the rows, with distinct ids.
        notes: what was left out when it was read, for a person.
    """

    name: str
    questions: tuple[GoldenQuestion, ...]
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of all rows in order; two runs with an equal one asked the same."""
        rows = json.dumps([one.to_json() for one in self.questions], sort_keys=True)
        return "sha256:" + hashlib.sha256(rows.encode()).hexdigest()


def _statuses(reader: Reader) -> list[str]:
    if reader.statuses == DEFAULT_STATUSES:
        return []
    return sorted(status.value for status in reader.statuses)
