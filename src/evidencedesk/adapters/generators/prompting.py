"""The two messages that a model gets: the rules, and the sources with the question."""

from __future__ import annotations

import json

from evidencedesk.model import Request


def system_message(request: Request, *, with_schema: bool) -> str:
    """The rules; with the JSON schema of the reply where the provider does not hold the model to it."""
    if not with_schema:
        return request.rules
    schema = json.dumps(request.schema, ensure_ascii=False)
    return f"{request.rules}\n\nThe JSON schema of your reply:\n{schema}"
