"""``evidencedesk`` and ``python -m evidencedesk``."""

from __future__ import annotations

import io
import sys

from evidencedesk.cli.app import report_unforeseen, run
from evidencedesk.cli.commands import EXIT_INTERRUPTED


def main() -> None:
    """Run the command line and exit with its code."""
    sys.excepthook = report_unforeseen
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
