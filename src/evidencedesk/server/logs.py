"""The server's log: one line per request and per refusal, without content.

A line names routes as the table has them, codes, times and keyed hashes of callers. No question,
answer, quote, title, file name, address of a document or secret is in it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TextIO

import structlog

from evidencedesk.settings.serving import TelemetryTable

Log = structlog.typing.FilteringBoundLogger


def logger_of(settings: TelemetryTable, stream: TextIO = sys.stderr) -> Log:
    """A logger as the settings want it; nothing global is configured."""
    as_json = settings.log_format == "json" or (
        settings.log_format == "auto" and not stream.isatty()
    )
    renderer: Callable[..., Any] = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    )
    logger: Log = structlog.wrap_logger(
        structlog.PrintLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[settings.log_level.upper()]
        ),
        cache_logger_on_first_use=False,
    )
    return logger


class Pseudonyms:
    """Names for callers in the log: the same one for the same caller while ``key`` lasts."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, name: str) -> str:
        """Sixteen hex digits; empty for nobody."""
        if not name:
            return ""
        return blake2b(
            name.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8
        ).hexdigest()
