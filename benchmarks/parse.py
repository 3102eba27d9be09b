"""Speed of parsing beside the bare library that each parser stands on, in one run.

Run ``python -m benchmarks.parse [FOLDER]``. With FOLDER (the difficult files) PDF is measured on a
document of 619 pages and HTML on a page of 3.4 MB; without it, and for the other formats, on files made
here. Processor time of this process, the best of three rounds, ours and theirs turn by turn.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from pathlib import Path

import pypdfium2
from markdown_it import MarkdownIt
from reportlab.pdfgen.canvas import Canvas
from selectolax.lexbor import LexborHTMLParser

from evidencedesk.adapters.parsers.html import HtmlParser
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.adapters.parsers.pdf import PdfParser

ROUNDS = 3
SENTENCE = (
    "A new bike can be returned within 30 days of delivery, if it was not ridden in the rain. "
)
GOALS = {"PDF": 0.5, "Markdown": 0.5, "HTML": 0.25}


def bare_pdf(data: bytes) -> int:
    """Characters of all pages, as pypdfium2 gives them."""
    document = pypdfium2.PdfDocument(data)
    return sum(len(page.get_textpage().get_text_range()) for page in document)


def bare_markdown(data: bytes) -> int:
    """Number of block tokens."""
    rules = MarkdownIt("commonmark").enable("table")
    rules.core.ruler.enableOnly(["normalize", "block"])
    return len(rules.parse(data.decode()))


def bare_html(data: bytes) -> int:
    """Characters of the body's text."""
    body = LexborHTMLParser(data.decode("utf-8", "replace")).body
    return len(body.text()) if body else 0


def made_pdf(pages: int = 100) -> bytes:
    """Pages of 45 lines."""
    made = io.BytesIO()
    canvas = Canvas(made)
    for _ in range(pages):
        for line in range(45):
            canvas.drawString(72, 760 - 15 * line, SENTENCE)
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def made_markdown(sections: int = 2_000) -> bytes:
    """Sections of prose, lists, tables and code."""
    parts = (
        f"## Part {number}\n\n{SENTENCE * 4}\n\n- {SENTENCE}\n- {SENTENCE}\n\n"
        f"| Plan | Price |\n| --- | --- |\n| Basic | {number} |\n\n```\ncode\n```\n"
        for number in range(sections)
    )
    return "\n".join(parts).encode()


def made_html(sections: int = 2_000) -> bytes:
    """The same as a page."""
    parts = (
        f"<h2>Part {number}</h2><p>{SENTENCE * 4}</p><ul><li>{SENTENCE}<li>{SENTENCE}</ul>"
        f"<table><tr><th>Plan<th>Price<tr><td>Basic<td>{number}</table>"
        for number in range(sections)
    )
    return f"<!doctype html><body><main>{''.join(parts)}</main>".encode()


def best_of(rounds: int, *tasks: Callable[[], object]) -> list[float]:
    """Least processor seconds of each task, the tasks taking turns."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for index, task in enumerate(tasks):
            started = time.process_time()
            task()
            best[index] = min(best[index], time.process_time() - started)
    return best


def main() -> None:
    """Print a row for each format: their rate, ours, and the share of theirs that we reach."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("folder", type=Path, nargs="?")
    folder = arguments.parse_args().folder
    pdf = (folder / "pdf/huge_619p.pdf").read_bytes() if folder else made_pdf()
    html = (folder / "html/beijing_chinese.html").read_bytes() if folder else made_html()
    markdown = made_markdown()
    pages = len(pypdfium2.PdfDocument(pdf))
    megabytes = {"Markdown": len(markdown) / 1e6, "HTML": len(html) / 1e6}
    rows: list[tuple[str, Callable[[], object], Callable[[], object], float, str]] = [
        ("PDF", lambda: bare_pdf(pdf), lambda: PdfParser().parse(pdf, "a.pdf"), pages, "pages/s"),
        (
            "Markdown",
            lambda: bare_markdown(markdown),
            lambda: MarkdownParser().parse(markdown, "a.md"),
            megabytes["Markdown"],
            "MB/s",
        ),
        (
            "HTML",
            lambda: bare_html(html),
            lambda: HtmlParser().parse(html, "a.html"),
            megabytes["HTML"],
            "MB/s",
        ),
    ]
    for name, theirs, ours, amount, unit in rows:
        bare, own = best_of(ROUNDS, theirs, ours)
        share, goal = bare / own, GOALS[name]
        print(
            f"{name:9s} bare {amount / bare:9.1f} {unit}   ours {amount / own:9.1f} {unit}"
            f"   {share:.2f} of bare (goal {goal}: {'met' if share >= goal else 'NOT met'})"
        )


if __name__ == "__main__":
    main()
