"""Verification: a draft becomes verdicts by pure functions of reply, evidence and stored text."""

from evidencedesk.verification.amounts import numbers_unsupported
from evidencedesk.verification.claims import Band, ClaimFinding, RuleOutcome, check_claim
from evidencedesk.verification.passages import Passage, passage_of
from evidencedesk.verification.quotes import Quotable, QuoteMatch, QuoteMiss, find_quote
from evidencedesk.verification.verify import INJECTION_SIGNALS, Locate, is_weak, verify

__all__ = [
    "INJECTION_SIGNALS",
    "Band",
    "ClaimFinding",
    "Locate",
    "Passage",
    "Quotable",
    "QuoteMatch",
    "QuoteMiss",
    "RuleOutcome",
    "check_claim",
    "find_quote",
    "is_weak",
    "numbers_unsupported",
    "passage_of",
    "verify",
]
