"""What retrieval takes and gives: queries, chunks, hits, ranked sentences."""

from __future__ import annotations

from dataclasses import dataclass

from evidencedesk.model.location import Location, Span


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document's canonical text, with what a reader needs to know of its document.

    Attributes:
        id: ``<document id>:c<n>``.
        document_id: id of the document within its tenant.
        ordinal: n of the id, counting from 0 through the document.
        text: the canonical text of the span, verbatim.
        location: where it stands; ``location.start`` and ``.end`` are the span.
        context: a repeated table header, embedded and shown but never quotable; may be empty.
        title: the document's title.
        source: path or URL of the document.
        version: the document's declared version.
        status: ``current superseded draft archived``.
        lang: BCP 47 language of the document, ``und`` when unknown.
        tenant: the document's tenant.
        roles: roles that may see it.
        deny: roles that may not.
        content_hash: of the document's canonical text.
    """

    id: str
    document_id: str
    ordinal: int
    text: str
    location: Location
    context: str = ""
    title: str = ""
    source: str = ""
    version: str = ""
    status: str = "current"
    lang: str = "und"
    tenant: str = "default"
    roles: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    content_hash: str = ""

    @property
    def span(self) -> Span:
        """The span of the document's canonical text."""
        return Span(self.location.start, self.location.end)


@dataclass(frozen=True, slots=True)
class Query:
    """A question on its way to retrieval.

    Attributes:
        text: the question as asked, checked to be neither empty nor over-long.
        languages: languages whose stems are searched when the question's script does not tell.
    """

    text: str
    languages: tuple[str, ...] = ("en",)


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its scores.

    Attributes:
        chunk: the chunk.
        score: the fused score F; orders the hits of one query, means nothing across queries.
        vector_score: cosine with the question in [-1, 1], None without vectors.
        keyword_score: BM25 over what the reader may see; 0 when no word matches.
    """

    chunk: Chunk
    score: float
    vector_score: float | None
    keyword_score: float


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence of one of the best chunks, scored against the question.

    Attributes:
        chunk_id: chunk it stands in.
        span: span of the document's canonical text.
        text: the sentence, verbatim.
        score: recipe S's s; higher answers better.
    """

    chunk_id: str
    span: Span
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The outcome of retrieval for one question and one reader.

    Attributes:
        hits: the best ``k``, best first.
        sentences: sentences of the top three hits, best first; the second is chosen by gain over
            the first (recipe S), the rest by score.
        confidence: calibrated probability in [0, 1] that what was found answers the question;
            0.0 when nothing was found.
        calibration: name and version of the calibration used.
        degraded: what was missing ("embedding: ..."), empty when everything worked.
    """

    hits: tuple[Hit, ...]
    sentences: tuple[RankedSentence, ...]
    confidence: float
    calibration: str
    degraded: tuple[str, ...] = ()
