"""How an error is said."""

from __future__ import annotations

import sys

from evidencedesk.cli.clean import clean, to_json
from evidencedesk.errors import EvidenceDeskError


def print_error(error: EvidenceDeskError, *, as_json: bool) -> None:
    """The error on stderr: message and hint, or the stable JSON shape."""
    if as_json:
        lines = [to_json(error.to_json(), indent=None)]
    else:
        lines = [f"error: {clean(error.message)}"]
        lines += [f"hint: {clean(error.hint)}"] if error.hint else []
    sys.stderr.write("\n".join(lines) + "\n")
