"""``docs/demo.svg`` from what the demo prints: ``python scripts/demo.py | python scripts/make_picture.py``.

Run the demo with ``FORCE_COLOR=1 COLUMNS=100``. Keeps the first and the two last questions.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "demo.svg"
KEPT = ("Question 1,", "Question 8,", "Question 9,")
_REMOTE_FONT = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


def main() -> None:
    """Read the demo's output and write the picture."""
    plain = Text.from_ansi(sys.stdin.read())
    lines = plain.split("\n")
    console = Console(record=True, width=100, file=open("/dev/null", "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    shown = False
    for line in lines:
        if line.plain.startswith(("Question ", "What to type")):
            shown = line.plain.startswith(KEPT)
        if shown:
            console.print(line)
    svg = console.export_svg(title="make demo", theme=MONOKAI, code_format=_without_fonts())
    PICTURE.write_text(svg, "utf-8")


def _without_fonts() -> str:
    """Rich's own frame, less the fonts that it would load from elsewhere."""
    from rich._export_format import CONSOLE_SVG_FORMAT  # noqa: PLC0415 - private, and only needed here

    return _REMOTE_FONT.sub("", CONSOLE_SVG_FORMAT)


if __name__ == "__main__":
    main()
