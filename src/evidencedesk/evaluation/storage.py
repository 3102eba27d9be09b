"""Where runs are kept: a folder of JSON files, and journals of runs that are not finished."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from evidencedesk.errors import UsageError
from evidencedesk.evaluation.outcomes import Outcome, Run

FOLDER = "evaluations"


class RunStore:
    """The runs in one folder. Runs quote documents, so only their owner may read the files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def beside(cls, index: Path) -> RunStore:
        """The store in the index's own folder."""
        return cls(index / FOLDER)

    def unfinished(self, key: str) -> dict[str, Outcome]:
        """Outcomes that an interrupted run with this key left behind, by question id.

        A last line that was cut short is left out: that question is asked again.
        """
        journal = self._journal(key)
        if not journal.is_file():
            return {}
        found = {}
        for line in journal.read_text("utf-8").splitlines():
            try:
                outcome = Outcome.from_json(json.loads(line))
            except json.JSONDecodeError:
                continue
            found[outcome.id] = outcome
        return found

    def note(self, key: str, outcome: Outcome) -> None:
        """Write an outcome down, so that an interruption does not lose it."""
        line = json.dumps(outcome.to_json(), ensure_ascii=False)
        self._write(self._journal(key), f"\n{line}\n", os.O_APPEND)

    def finish(self, key: str, run: Run) -> Run:
        """Keep the whole run and drop its journal; its id gets a number where it is taken."""
        kept, number = run, 1
        while (self._folder / f"{kept.id}.json").exists():
            number += 1
            kept = replace(run, id=f"{run.id}-{number}")
        text = json.dumps(kept.to_json(), ensure_ascii=False, indent=1)
        unready = self._folder / f"{kept.id}.json.tmp"
        self._write(unready, text, os.O_TRUNC)
        unready.replace(self._folder / f"{kept.id}.json")
        self._journal(key).unlink(missing_ok=True)
        return kept

    def ids(self) -> tuple[str, ...]:
        """Ids of the finished runs, oldest first."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.json")))

    def load(self, run_id: str) -> Run:
        """The run called ``run_id``, the newest for ``last``, or the one in a file.

        Raises:
            UsageError: ``run_missing`` or ``run_unreadable``.
        """
        ids = self.ids()
        name = ids[-1] if run_id == "last" and ids else run_id
        path = self._folder / f"{name}.json" if name in ids else Path(run_id)
        try:
            return Run.from_json(json.loads(path.read_text("utf-8")))
        except (FileNotFoundError, IsADirectoryError):
            known = ", ".join(ids[-5:]) or "none"
            raise UsageError(
                f"There is no run {run_id!r}. The newest: {known}.",
                code="run_missing",
                hint="`evidencedesk eval run` makes one.",
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is no run: {error!r}.", code="run_unreadable") from error

    def _journal(self, key: str) -> Path:
        return self._folder / f"{key[:16]}.partial.jsonl"

    def _write(self, path: Path, text: str, how: int) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
