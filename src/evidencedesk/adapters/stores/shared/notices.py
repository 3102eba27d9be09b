"""Notices that wait, as they are stored."""

from __future__ import annotations

import json
from datetime import datetime

from evidencedesk.model.notice import Notice, WaitingNotice

FEW = 1000
"""How many waiting notices are read at once."""

COLUMNS = "number, tenant, channel, notice, attempts, due, failure"


def decode_waiting(row: tuple[int, str, str, str, int, str, str]) -> WaitingNotice:
    """The notice of a row of :data:`COLUMNS`."""
    number, tenant, channel, stored, attempts, due, failure = row
    notice = Notice.from_json(tenant, json.loads(stored))
    return WaitingNotice(number, channel, notice, attempts, datetime.fromisoformat(due), failure)
