"""One row of a golden set, read strictly: an unknown key is an error, not a silence."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evidencedesk.access import DEFAULT_STATUSES, Status
from evidencedesk.errors import AccessRuleError, GoldenSetError
from evidencedesk.evaluation.golden import GoldenQuestion, Label, Place, Reader
from evidencedesk.text.scripts import question_languages


class _PlaceRow(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    document: str
    first_line: int | None = Field(default=None, ge=1)
    last_line: int | None = Field(default=None, ge=1)
    page: int | None = Field(default=None, ge=1)


def _asks_something(question: str) -> str:
    """The question, if a desk would take it: with a letter or digit by Python's own reckoning."""
    if not any(character.isalnum() for character in question):
        raise ValueError("A question needs a letter or a digit")
    return question


class _Row(BaseModel):
    """``document``, ``quote`` and ``also`` are short for one document and its one or two quotes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(min_length=1)
    question: Annotated[str, AfterValidator(_asks_something)]
    tenant: str | None = None
    roles: list[str] | None = None
    administrator: bool | None = None
    statuses: list[str] | None = None
    label: str | None = None
    abstain: str | None = None
    document: str | None = None
    documents: list[str] | dict[str, float] = Field(default_factory=list)
    quote: str | None = None
    also: str | None = None
    quotes: list[str] = Field(default_factory=list)
    facts: list[str] = Field(default_factory=list)
    places: list[_PlaceRow] = Field(default_factory=list)
    hidden: str | list[str] = Field(default_factory=list)
    lang: str | None = None
    tags: list[str] = Field(default_factory=list)
    retrieval_only: bool = False


def read_row(row: Mapping[str, Any], place: str, reader: Reader) -> GoldenQuestion:
    """The question that a row says.

    Args:
        row: the row as read.
        place: file and line, for errors.
        reader: as whom it is asked where the row names nobody.

    Raises:
        GoldenSetError: ``golden_row`` for an unknown key or a value of the wrong kind;
            ``golden_contradiction`` for a label that its own row denies.
    """
    try:
        read = _Row.model_validate(_without_marks(row))
    except ValidationError as error:
        raise _wrong(error, place) from error
    documents = _documents(read)
    hidden = (read.hidden,) if isinstance(read.hidden, str) else tuple(read.hidden)
    label = _label(read, documents, hidden, place)
    return GoldenQuestion(
        id=read.id,
        question=read.question,
        reader=_reader(read, reader, place),
        label=label,
        documents=documents,
        quotes=tuple(q for q in (read.quote, read.also, *read.quotes) if q),
        facts=tuple(read.facts),
        places=tuple(
            Place(one.document, one.first_line, one.last_line, one.page) for one in read.places
        ),
        hidden=hidden,
        lang=read.lang or question_languages(read.question, ("und",))[0],
        tags=tuple(read.tags),
        retrieval_only=read.retrieval_only,
    )


def _documents(read: _Row) -> dict[str, float]:
    listed = read.documents
    found = dict(listed) if isinstance(listed, dict) else dict.fromkeys(listed, 1.0)
    if read.document:
        found.setdefault(read.document, 1.0)
    for place in read.places:
        found.setdefault(place.document, 1.0)
    return found


def _label(
    read: _Row, documents: Mapping[str, float], hidden: tuple[str, ...], place: str
) -> Label:
    derived = Label.ANSWERABLE if documents or read.facts else Label.UNANSWERABLE
    derived = Label.NOT_PERMITTED if hidden else derived
    if read.label is not None and read.label not in set(Label):
        known = ", ".join(label.value for label in Label)
        raise GoldenSetError(
            f"{place}: {read.label!r} is not a label.", code="golden_row", hint=f"Use: {known}."
        )
    label = derived if read.label is None else Label(read.label)
    wanted = bool(documents or read.facts or read.quotes or read.quote)
    answerable = label is Label.ANSWERABLE
    hides = bool(hidden) and label is not Label.NOT_PERMITTED
    denied = hides or (answerable and read.abstain is not None)
    if answerable == wanted and not denied:
        return label
    raise GoldenSetError(
        f"{place}: {read.id!r} is {label.value}, which its other keys deny.",
        code="golden_contradiction",
        hint="An answerable row names documents or facts and neither `abstain` nor `hidden`; the "
        "others name no document that answers.",
    )


def _reader(read: _Row, default: Reader, place: str) -> Reader:
    try:
        statuses = (
            default.statuses
            if read.statuses is None
            else frozenset(Status(name) for name in read.statuses) or DEFAULT_STATUSES
        )
        reader = Reader(
            tenant=default.tenant if read.tenant is None else read.tenant,
            roles=default.roles if read.roles is None else frozenset(read.roles),
            administrator=default.administrator
            if read.administrator is None
            else read.administrator,
            statuses=statuses,
        )
        _ = reader.principal
    except (AccessRuleError, ValueError) as error:
        raise GoldenSetError(f"{place}: {error}", code="golden_row") from error
    return reader


def _without_marks(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without the line numbers that the YAML reader left in it and in its places."""
    return {
        key: [_without_marks(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else _without_marks(value)
        if isinstance(value, dict)
        else value
        for key, value in row.items()
        if not key.startswith("\0")
    }


def _wrong(error: ValidationError, place: str) -> GoldenSetError:
    first = error.errors()[0]
    key = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), list(_Row.model_fields), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "docs/evaluation.md lists the keys."
        return GoldenSetError(f"{place}: unknown key {key!r}.", code="golden_row", hint=hint)
    return GoldenSetError(
        f"{place}: {key}: {first.get('input')!r} is not accepted. {first['msg']}.",
        code="golden_row",
        hint="docs/evaluation.md shows what a row looks like.",
    )
