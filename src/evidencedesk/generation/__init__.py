"""Stage 6: evidence becomes a request, and a generator's reply a draft that is not yet believed."""

from evidencedesk.generation.escaping import escape
from evidencedesk.generation.reply import RejectedReply, parse_reply
from evidencedesk.generation.request import build_request
from evidencedesk.generation.rules import PROMPT_VERSION, REPLY_SCHEMA, rules

__all__ = [
    "PROMPT_VERSION",
    "REPLY_SCHEMA",
    "RejectedReply",
    "build_request",
    "escape",
    "parse_reply",
    "rules",
]
