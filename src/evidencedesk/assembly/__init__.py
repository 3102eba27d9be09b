"""Stage 5: hits become labelled evidence within a token budget, with duplicates folded together."""

from evidencedesk.assembly.assemble import assemble
from evidencedesk.assembly.conflicts import find_conflicts

__all__ = ["assemble", "find_conflicts"]
