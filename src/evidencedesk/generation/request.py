"""The request: fixed rules, escaped sources, escaped question."""

from __future__ import annotations

from evidencedesk.generation.escaping import escape, escape_line
from evidencedesk.generation.rules import PROMPT_VERSION, REPLY_SCHEMA, rules
from evidencedesk.model import Evidence, EvidenceSource, Request


def build_request(
    question: str, evidence: Evidence, *, canary: str = "", max_output_tokens: int = 1024
) -> Request:
    """What a generator is asked: the rules, then one block per source, then the question.

    Nothing that comes from a document or a person can end its block or begin another one.

    Args:
        question: the question as asked.
        evidence: what may be answered from; it keeps to its token budget already.
        canary: random string put among the rules; empty for none.
        max_output_tokens: limit on the reply.
    """
    disputed = {label for conflict in evidence.conflicts for label in conflict.labels}
    blocks = [_source(one, dated=one.label in disputed) for one in evidence.sources]
    return Request(
        question=question,
        evidence=evidence,
        rules=rules(canary),
        prompt="\n".join([*blocks, f"<question>{escape(question)}</question>"]),
        schema=dict(REPLY_SCHEMA),
        prompt_version=PROMPT_VERSION,
        max_output_tokens=max_output_tokens,
        canary=canary,
    )


def _source(source: EvidenceSource, *, dated: bool) -> str:
    chunk = source.chunk
    version = " ".join(filter(None, (chunk.version, chunk.status))) if dated else ""
    context = {
        "version": version,
        "heading": " > ".join(chunk.location.heading),
        "context": chunk.context,
    }
    lines = [f"<{name}>{escape_line(text)}</{name}>" for name, text in context.items() if text]
    opening = f'<source id="{escape_line(source.label)}" title="{escape_line(chunk.title)}">'
    return "\n".join([opening, *lines, escape(chunk.text), "</source>"])
