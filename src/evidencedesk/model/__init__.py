"""Values that flow through EvidenceDesk: frozen, free of storage, free of models.

Units, everywhere: offsets count Unicode code points in a document's canonical text, start
included, end excluded; lines, pages, paragraphs, rows and slides count from 1; boxes are PDF points
from the top left of the page after rotation; scores are higher-is-better; times are UTC.
"""

from evidencedesk.model.answer import (
    Answer,
    Check,
    Citation,
    Claim,
    DroppedClaim,
    Reason,
    RetrievedChunk,
    Support,
    Usage,
)
from evidencedesk.model.call import CallBounds, StreamBreak, StreamItem
from evidencedesk.model.conversation import RewrittenBy, Turn
from evidencedesk.model.document import (
    Block,
    BlockKind,
    Document,
    PageBoxes,
    PageSpan,
    ParsedDocument,
    Section,
    content_hash_of,
)
from evidencedesk.model.evidence import (
    Draft,
    DraftCitation,
    DraftClaim,
    Evidence,
    EvidenceSource,
    Reply,
    Request,
    SourceConflict,
    StopReason,
    Verdict,
    VerifiedCitation,
    VerifiedClaim,
)
from evidencedesk.model.index import (
    Candidates,
    ChunkingSettings,
    DocumentRecord,
    EmbeddingSpec,
    Generation,
    IndexedChunk,
    LogEntry,
    ScoreStatistics,
    StoreQuery,
    TokenVectors,
)
from evidencedesk.model.locate import Locator, line_starts, locate
from evidencedesk.model.location import Box, Location, Span
from evidencedesk.model.report import (
    FailedSource,
    Finding,
    IngestReport,
    Progress,
    ProgressCallback,
)
from evidencedesk.model.retrieval import Chunk, Hit, Query, RankedSentence, Retrieval

__all__ = [
    "Answer",
    "Block",
    "BlockKind",
    "Box",
    "CallBounds",
    "Candidates",
    "Check",
    "Chunk",
    "ChunkingSettings",
    "Citation",
    "Claim",
    "Document",
    "DocumentRecord",
    "Draft",
    "DraftCitation",
    "DraftClaim",
    "DroppedClaim",
    "EmbeddingSpec",
    "Evidence",
    "EvidenceSource",
    "FailedSource",
    "Finding",
    "Generation",
    "Hit",
    "IndexedChunk",
    "IngestReport",
    "Location",
    "Locator",
    "LogEntry",
    "PageBoxes",
    "PageSpan",
    "ParsedDocument",
    "Progress",
    "ProgressCallback",
    "Query",
    "RankedSentence",
    "Reason",
    "Reply",
    "Request",
    "Retrieval",
    "RetrievedChunk",
    "RewrittenBy",
    "ScoreStatistics",
    "Section",
    "SourceConflict",
    "Span",
    "StopReason",
    "StoreQuery",
    "StreamBreak",
    "StreamItem",
    "Support",
    "TokenVectors",
    "Turn",
    "Usage",
    "Verdict",
    "VerifiedCitation",
    "VerifiedClaim",
    "content_hash_of",
    "line_starts",
    "locate",
]
