"""The stages composed: a document's way into the index, and a question's way to an answer.

Nothing else composes stages. Read ``ingest_document`` and ``answer_question`` from top to bottom.
"""

from evidencedesk.pipeline.answer import answer_question, search
from evidencedesk.pipeline.asking import Answering, Explanation
from evidencedesk.pipeline.chat import Standalone, recall, stand_alone, turn_of
from evidencedesk.pipeline.documents import Reading, chunk_folder, open_file, read_document
from evidencedesk.pipeline.examine import examine
from evidencedesk.pipeline.ingest import Indexing, Outcome, ingest_document, ingest_files
from evidencedesk.pipeline.reindex import rebuild
from evidencedesk.pipeline.report import merged
from evidencedesk.pipeline.run import (
    check_chunking,
    check_normalisation,
    remove_document,
    run_files,
    run_ingestion,
    run_upload,
)
from evidencedesk.pipeline.sources import run_source
from evidencedesk.pipeline.stream import (
    AnswerEvent,
    ClaimEvent,
    RetrievedEvent,
    StreamEvent,
    stream_answer,
)

__all__ = [
    "AnswerEvent",
    "Answering",
    "ClaimEvent",
    "Explanation",
    "Indexing",
    "Outcome",
    "Reading",
    "RetrievedEvent",
    "Standalone",
    "StreamEvent",
    "answer_question",
    "check_chunking",
    "check_normalisation",
    "chunk_folder",
    "examine",
    "ingest_document",
    "ingest_files",
    "merged",
    "open_file",
    "read_document",
    "rebuild",
    "recall",
    "remove_document",
    "run_files",
    "run_ingestion",
    "run_source",
    "run_upload",
    "search",
    "stand_alone",
    "stream_answer",
    "turn_of",
]
