"""Stage 8: what was verified becomes an answer that a person can open and check, or an abstention."""

from evidencedesk.answering.abstention import abstention_text
from evidencedesk.answering.answer import OnFailure, answer_from, has_evidence
from evidencedesk.answering.citations import citation_label, citations_for
from evidencedesk.answering.render import render_answer, render_explanation

__all__ = [
    "OnFailure",
    "abstention_text",
    "answer_from",
    "citation_label",
    "citations_for",
    "has_evidence",
    "render_answer",
    "render_explanation",
]
