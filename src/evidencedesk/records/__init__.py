"""What was answered, from what, and whether it still holds: receipts, audit chain, exports, cache.

Beside the pipeline: it composes stages of its own and is composed with the pipeline by the desk.
"""

from evidencedesk.records.cache import AnswerCache, CacheKey
from evidencedesk.records.chain import check_chain
from evidencedesk.records.export import exported, render
from evidencedesk.records.gaps import gaps_of
from evidencedesk.records.notices import concerns_documents, lapsed_citations, message_of
from evidencedesk.records.reading import UNAVAILABLE, readable
from evidencedesk.records.recheck import Lapse, Lapsed, Sources, recheck, rule_of
from evidencedesk.records.recording import (
    ANONYMOUS,
    Occasion,
    Recorder,
    permission_of,
    subject_hash,
)
from evidencedesk.records.replay import Difference, differences
from evidencedesk.records.verify import Problem, Verification, verify_file

__all__ = [
    "ANONYMOUS",
    "UNAVAILABLE",
    "AnswerCache",
    "CacheKey",
    "Difference",
    "Lapse",
    "Lapsed",
    "Occasion",
    "Problem",
    "Recorder",
    "Sources",
    "Verification",
    "check_chain",
    "concerns_documents",
    "differences",
    "exported",
    "gaps_of",
    "lapsed_citations",
    "message_of",
    "permission_of",
    "readable",
    "recheck",
    "render",
    "rule_of",
    "subject_hash",
    "verify_file",
]
