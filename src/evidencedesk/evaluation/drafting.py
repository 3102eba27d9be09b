"""Drafts of golden rows, for a person to edit: from an index, and from an answer that was given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from evidencedesk.errors import GoldenSetError
from evidencedesk.evaluation.golden import GoldenQuestion, Label, Reader
from evidencedesk.evaluation.loading import LINES_ENDINGS, YAML_ENDINGS, load_golden
from evidencedesk.model import Document, Section, Span
from evidencedesk.text.sentences import sentences

FACTS_PER_DOCUMENT = 3
DRAFT_TAG = "draft"
_FACT = re.compile(r"\d|%")


def draft_questions(
    documents: Sequence[Document], *, reader: Reader, leave_out: Iterable[str] = ()
) -> tuple[GoldenQuestion, ...]:
    """Questions from headings, each with a sentence below it that states a figure, or the first one.

    Documents in ``leave_out`` are asked about as if they were not there: their questions are
    unanswerable, provided that those documents are left out of the index that is measured. Every
    row has the tag ``draft``: headings are no questions, and a person must word them.

    Args:
        documents: what is asked about.
        reader: as whom.
        leave_out: ids of documents that the measured index will not have.
    """
    absent = frozenset(leave_out)
    rows = []
    for document in documents:
        drafted = list(_from_document(document, reader))[:FACTS_PER_DOCUMENT]
        rows += [_unanswerable(row) if document.id in absent else row for row in drafted]
    return _distinct(rows)


def row_from_answer(
    answer: Mapping[str, Any], *, reader: Reader, row_id: str, label: Label | None = None
) -> GoldenQuestion:
    """A row from what ``ask --json`` printed: what was cited is expected, or nothing is.

    Args:
        answer: the JSON object.
        reader: as whom it was asked.
        row_id: id of the row.
        label: what is right; what the answer did when None.

    Raises:
        GoldenSetError: ``golden_row`` when it is no answer.
    """
    try:
        question, abstained = str(answer["question"]), bool(answer["abstained"])
        citations = list(answer["citations"])
        cited = dict.fromkeys((str(one["document_id"]) for one in citations), 1.0)
        quotes = tuple(dict.fromkeys(str(one["quote"]) for one in citations))
    except (KeyError, TypeError) as error:
        raise GoldenSetError(
            f"This is no answer: {error} is missing.",
            code="golden_row",
            hint="Give what `evidencedesk ask --json` printed.",
        ) from error
    right = label or (Label.UNANSWERABLE if abstained else Label.ANSWERABLE)
    answerable = right is Label.ANSWERABLE
    if answerable and not cited:
        raise GoldenSetError(
            "An abstention does not say which document answers.",
            code="golden_row",
            hint="Name it: --document ID, and --quote WORDS.",
        )
    return GoldenQuestion(
        id=row_id,
        question=question,
        reader=reader,
        label=right,
        documents=cited if answerable else {},
        quotes=quotes if answerable else (),
    )


def write_rows(path: Path, rows: Sequence[GoldenQuestion], *, name: str) -> None:
    """Write a new golden set.

    Raises:
        GoldenSetError: ``golden_exists`` when the file is there already.
    """
    if path.exists():
        raise GoldenSetError(
            f"{path} is there already.",
            code="golden_exists",
            hint="Name another file, or add rows with `evidencedesk eval add`.",
        )
    path.write_text(_text(path, rows, name), "utf-8")


def add_row(path: Path, row: GoldenQuestion) -> None:
    """Append a row, and leave everything else in the file as it is, comments included.

    Raises:
        GoldenSetError: the file cannot be read, or would be contradictory or have the id twice;
            it is then left as it was.
    """
    if not path.exists():
        write_rows(path, [row], name=path.stem)
        return
    load_golden(path)
    before = path.read_text("utf-8")
    line = json.dumps(row.to_json(), ensure_ascii=False)
    indent = _list_indent(before) if path.suffix in YAML_ENDINGS else ""
    added = f"{indent}- {line}" if path.suffix in YAML_ENDINGS else line
    path.write_text(before.rstrip("\n") + f"\n{added}\n", "utf-8")
    try:
        load_golden(path)
    except GoldenSetError:
        path.write_text(before, "utf-8")
        raise


def _from_document(document: Document, reader: Reader) -> Iterator[GoldenQuestion]:
    for number, section in enumerate(document.sections, start=1):
        stated = _stated(section)
        if stated is None:
            continue
        heading = section.heading[-1] if section.heading else document.title or document.id
        yield GoldenQuestion(
            id=f"{document.id}-{number}",
            question=f"{document.title or document.id}: {heading}?",
            reader=reader,
            label=Label.ANSWERABLE,
            documents={document.id: 1.0},
            quotes=(stated,),
            lang=document.lang,
            tags=(DRAFT_TAG,),
        )


def _stated(section: Section) -> str | None:
    spans: list[Span] = sentences(section.text)
    texts = [section.text[span.start : span.end].strip() for span in spans]
    whole = [text for text in texts if len(text.split()) >= 4 and "\n\n" not in text]
    return next((text for text in whole if _FACT.search(text)), whole[0] if whole else None)


def _unanswerable(row: GoldenQuestion) -> GoldenQuestion:
    return GoldenQuestion(
        id=row.id,
        question=row.question,
        reader=row.reader,
        label=Label.UNANSWERABLE,
        lang=row.lang,
        tags=(DRAFT_TAG, "left-out"),
    )


def _distinct(rows: Iterable[GoldenQuestion]) -> tuple[GoldenQuestion, ...]:
    found: dict[str, GoldenQuestion] = {}
    for row in rows:
        found.setdefault(row.question.casefold(), row)
    return tuple(found.values())


def _text(path: Path, rows: Sequence[GoldenQuestion], name: str) -> str:
    if path.suffix in LINES_ENDINGS:
        lines = [json.dumps(row.to_json(), ensure_ascii=False) for row in rows]
        return "\n".join(lines) + "\n"
    listed = [row.to_json() for row in rows]
    head = "# Drafted by `evidencedesk eval init`: word each question as people ask, then drop its draft tag.\n"
    return head + yaml.safe_dump(
        {"name": name, "questions": listed}, allow_unicode=True, sort_keys=False, width=100
    )


def _list_indent(text: str) -> str:
    last = [line for line in text.splitlines() if line.lstrip().startswith("- ")]
    return last[0][: len(last[0]) - len(last[0].lstrip())] if last else ""
