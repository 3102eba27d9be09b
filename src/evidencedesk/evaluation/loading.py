"""Golden sets as files: YAML, JSON Lines, or a folder in BEIR form (Thakur et al., 2021)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from evidencedesk.errors import GoldenSetError
from evidencedesk.evaluation.golden import GoldenQuestion, GoldenSet, Label, Reader
from evidencedesk.evaluation.rows import read_row
from evidencedesk.text.scripts import question_languages

YAML_ENDINGS = frozenset({".yaml", ".yml"})
LINES_ENDINGS = frozenset({".jsonl", ".ndjson"})


def load_golden(path: str | Path, *, reader: Reader | None = None) -> GoldenSet:
    """The golden set in a file or a BEIR folder.

    Args:
        path: ``.yaml``, ``.yml``, ``.jsonl``, ``.ndjson``, or a folder with ``queries.jsonl`` and
            ``qrels.tsv`` (or ``qrels/test.tsv``).
        reader: as whom rows are asked that name nobody; nobody's roles when None.

    Raises:
        GoldenSetError: ``golden_missing``, ``golden_unreadable``, ``golden_empty``,
            ``golden_row`` (a row that makes no sense, with its line), ``golden_duplicate`` or
            ``golden_contradiction``.
    """
    file = Path(path)
    asked = reader or Reader()
    if file.is_dir():
        return checked(_from_beir(file, asked), file)
    if file.suffix not in YAML_ENDINGS | LINES_ENDINGS:
        raise GoldenSetError(
            f"{file} is no golden set: {file.suffix or 'no ending'!r} is not known.",
            code="golden_unreadable",
            hint="Use .yaml, .jsonl, or a folder with queries.jsonl and qrels.tsv.",
        )
    text = _read(file)
    name, found = (
        _yaml_rows(text, file)
        if file.suffix in YAML_ENDINGS
        else (file.stem, list(_line_rows(text, file)))
    )
    questions = tuple(read_row(row, place, asked) for place, row in found)
    return checked(GoldenSet(name, questions), file)


def checked(golden: GoldenSet, place: object) -> GoldenSet:
    """``golden`` if it can be used.

    Raises:
        GoldenSetError: ``golden_empty``; ``golden_duplicate`` when an id is there twice;
            ``golden_contradiction`` when one question of one reader has two labels.
    """
    if not golden.questions:
        raise GoldenSetError(
            f"{place} has no questions.",
            code="golden_empty",
            hint="`evidencedesk eval init` drafts some from the index.",
        )
    twice = [name for name, count in Counter(q.id for q in golden.questions).items() if count > 1]
    if twice:
        raise GoldenSetError(
            f"{place}: the id {twice[0]!r} is there more than once.",
            code="golden_duplicate",
            hint="Give each row an id of its own.",
        )
    _check_agreement(golden.questions, place)
    return golden


def _check_agreement(questions: Sequence[GoldenQuestion], place: object) -> None:
    first: dict[tuple[str, Reader], GoldenQuestion] = {}
    for each in questions:
        other = first.setdefault((" ".join(each.question.casefold().split()), each.reader), each)
        if other.label is not each.label:
            raise GoldenSetError(
                f"{place}: {other.id!r} says that {each.question!r} is {other.label.value}, "
                f"{each.id!r} says that it is {each.label.value}, for the same reader.",
                code="golden_contradiction",
                hint="Keep the right one of the two rows.",
            )


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        raise GoldenSetError(
            f"There is no golden set {str(file)!r}.",
            code="golden_missing",
            hint="Correct the path, or draft one with `evidencedesk eval init`.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise GoldenSetError(
            f"{file} cannot be read: {error}.",
            code="golden_unreadable",
            hint="A golden set is text in UTF-8.",
        ) from error


def _yaml_rows(text: str, file: Path) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
    try:
        content = yaml.load(text, Loader=_LinedLoader)  # noqa: S506 - a SafeLoader with lines
    except yaml.YAMLError as error:
        raise _unreadable(file, str(error)) from error
    name = file.stem
    if isinstance(content, dict):
        name = str(content.get("name") or content.get("corpus") or name)
        content = content.get("questions")
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise _unreadable(file, "it holds no list of questions")
    return name, [(f"{file}, line {row.pop(_LINE)}", row) for row in content]


def _line_rows(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise _unreadable(place, str(error)) from error
        if not isinstance(row, dict):
            raise _unreadable(place, "it is no JSON object")
        yield place, row


def _from_beir(folder: Path, reader: Reader) -> GoldenSet:
    named = [folder / "qrels.tsv", folder / "qrels" / "test.tsv"]
    qrels = next((file for file in named if file.is_file()), named[0])
    gains: dict[str, dict[str, float]] = {}
    for number, line in enumerate(_read(qrels).splitlines()[1:], start=2):
        if line.strip():
            query, document, gain = _judgement(line, f"{qrels}, line {number}")
            gains.setdefault(query, {})[document] = gain
    rows = list(_line_rows(_read(folder / "queries.jsonl"), folder / "queries.jsonl"))
    judged = [row for _, row in rows if any(g > 0 for g in gains.get(str(row["_id"]), {}).values())]
    questions = tuple(
        GoldenQuestion(
            id=str(row["_id"]),
            question=str(row["text"]),
            reader=reader,
            label=Label.ANSWERABLE,
            documents=gains[str(row["_id"])],
            lang=question_languages(str(row["text"]), ("und",))[0],
            retrieval_only=True,
        )
        for row in judged
    )
    left = len(rows) - len(judged)
    notes = (f"{left} queries without a relevant document were left out",) if left else ()
    return GoldenSet(folder.name, questions, notes)


def _judgement(line: str, place: str) -> tuple[str, str, float]:
    try:
        query, document, gain = line.split("\t")
        return query, document, float(gain)
    except ValueError as error:
        raise _unreadable(place, "it is no query-id, corpus-id and score") from error


def _unreadable(place: object, why: str) -> GoldenSetError:
    return GoldenSetError(
        f"{place} cannot be read: {why}.",
        code="golden_unreadable",
        hint="docs/evaluation.md shows what a row looks like.",
    )


_LINE = "\0line"


class _LinedLoader(yaml.SafeLoader):
    """Remembers in which line each mapping starts."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """The mapping with its line; a key given twice is an error."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(set(map(str, keys))) < len(keys):
            raise yaml.constructor.ConstructorError(
                None, None, "a key is given twice", node.start_mark
            )
        content = super().construct_mapping(node, deep=deep)
        return {**content, _LINE: node.start_mark.line + 1}
