"""``make demo``: the sample corpora and nine questions by different readers, in about a minute.

Uses the public Python API; only the printing is borrowed from the command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evidencedesk import Desk, EvidenceDeskError, Principal
from evidencedesk.adapters.models.cache import cache_directory
from evidencedesk.adapters.models.pull import pull
from evidencedesk.cli.answers import print_answer
from evidencedesk.cli.ingest import print_problems, summary_of
from evidencedesk.cli.terminal import Terminal

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "samples"
DESK = ROOT / "demo-desk"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, who asks it, and what to look at in the answer."""

    question: str
    reader: str
    roles: frozenset[str]
    look_at: str


CUSTOMER = frozenset({"everyone"})
STUDENT = frozenset({"student"})
ADMIN = frozenset({"admin"})

QUESTIONS = (
    Asked(
        "How long do I have to return a bike?",
        "a customer of the bicycle shop",
        CUSTOMER,
        "The rule of today, with its file, its lines and the very words. The old one says 14 days.",
    ),
    Asked(
        "When do gift cards expire?",
        "a customer of the bicycle shop",
        CUSTOMER,
        "A number is shown only when it stands in the quote.",
    ),
    Asked(
        "বাইক কত দিনের মধ্যে ফেরত দেওয়া যায়?",
        "a customer who writes Bangla",
        CUSTOMER,
        "Found by its words: the small model knows English only, and is not asked.",
    ),
    Asked(
        "Can I pay in instalments?",
        "a customer of the bicycle shop",
        CUSTOMER,
        "No document says so, so nothing is said, and nobody was asked to write anything.",
    ),
    Asked(
        "Do I get a refund if I have completed less than 30 % of the course?",
        "a student of the academy",
        STUDENT,
        "From a web page: the rule together with its condition.",
    ),
    Asked(
        "How many questions does the final assessment have?",
        "a student of the academy",
        STUDENT,
        "From a PDF, with its page.",
    ),
    Asked(
        "What is the fee for Deep Learning in Practice?",
        "a student of the academy",
        STUDENT,
        "From a table in a Word document, with its row.",
    ),
    Asked(
        "What share of the revenue do instructors receive?",
        "a student of the academy",
        STUDENT,
        "A document answers this, and students may not see it: it is as if it did not exist.",
    ),
    Asked(
        "What share of the revenue do instructors receive?",
        "somebody with the role admin",
        ADMIN,
        "The same question with the right to see the document.",
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 when every question was asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--desk", type=Path, default=DESK, help="folder of the index")
    desk_path: Path = parser.parse_args(arguments).desk
    terminal = Terminal()
    try:
        fetch_model(terminal)
        with Desk.open(desk_path, create=True) as desk:
            ingest(desk, terminal)
            for number, asked in enumerate(QUESTIONS, start=1):
                ask(desk, terminal, number, asked)
    except EvidenceDeskError as error:
        terminal.note(("error: ", "red"), error.message)
        terminal.note(("hint: ", "yellow"), error.hint)
        return 1
    say_what_next(terminal, desk_path)
    return 0


def fetch_model(terminal: Terminal) -> None:
    """Have the semantic model; without it the demo goes on with keywords, and says so."""
    heading(terminal, "1. The semantic model")
    try:
        with terminal.progress() as progress:
            pulled = pull("minilm", cache_dir=cache_directory(), progress=progress)
    except EvidenceDeskError as error:
        terminal.line(("Not to be had: ", "yellow"), error.message)
        terminal.line("The demo goes on with keywords only; fewer questions find their answer.")
        return
    words = "fetched and checked" if pulled.source else "here already"
    terminal.line(f"minilm is {words}: {pulled.directory}")


def ingest(desk: Desk, terminal: Terminal) -> None:
    """Both sample corpora; the second time nothing is left to do."""
    heading(terminal, "2. The documents: a bicycle shop's help centre and an academy's policies")
    for corpus in ("kestrel", "academy"):
        with terminal.progress() as progress:
            report = desk.ingest(SAMPLES / corpus, progress=progress)
        print_problems(terminal, report)
        terminal.line((f"{corpus}: ", "bold"), summary_of(report))


def ask(desk: Desk, terminal: Terminal, number: int, asked: Asked) -> None:
    """One question as one reader, printed as a person would want to read it."""
    heading(terminal, f"Question {number}, asked by {asked.reader}")
    terminal.line((asked.question, "bold"))
    terminal.line((asked.look_at, "italic dim"))
    terminal.line("")
    principal = Principal(roles=asked.roles)
    print_answer(terminal, desk.ask(asked.question, principal=principal))


def say_what_next(terminal: Terminal, desk_path: Path) -> None:
    """Commands to type now."""
    heading(terminal, "What to type next")
    program = Path(sys.executable).with_name("evidencedesk")
    start, index = shortest(program), f"--index {shortest(desk_path)}"
    for line in (
        f'{start} ask "What does delivery cost?" --role everyone {index}',
        f'{start} ask "What does delivery cost?" --role everyone --explain {index}',
        f"{start} docs list --administrator {index}",
        f"{start} show kc-returns-v3:c0 --role everyone {index}",
        f"{start} init my-desk && cd my-desk",
        f"{start} ingest PATH --role everyone",
    ):
        terminal.line(line, indent=2)


def shortest(path: Path) -> str:
    """``path`` relative to the current folder where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def heading(terminal: Terminal, words: str) -> None:
    """A heading with an empty line before it."""
    terminal.line("")
    terminal.line((words, "bold cyan"))


if __name__ == "__main__":
    sys.exit(main())
