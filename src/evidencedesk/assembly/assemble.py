"""From hits to evidence: duplicates folded, neighbours added, labelled, cut to a token budget."""

from __future__ import annotations

from collections.abc import Sequence

from evidencedesk.assembly.conflicts import find_conflicts
from evidencedesk.assembly.duplicates import collapse
from evidencedesk.model import Chunk, Evidence, EvidenceSource, Hit, Retrieval
from evidencedesk.protocols import Snapshot
from evidencedesk.text.tokens import count_tokens

DEFAULT_BUDGET_TOKENS = 3000

_MARKUP_TOKENS = 24


def assemble(
    retrieval: Retrieval,
    *,
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
    snapshot: Snapshot | None = None,
    neighbours: int = 0,
) -> Evidence:
    """The evidence that a generator may answer from.

    Args:
        retrieval: what was found, best first; all of it visible to the reader.
        budget_tokens: tokens that the sources may take together, by our model-free counter.
            A source that alone is larger is dropped first; then the weakest until the rest fits.
        snapshot: where neighbours are read from; needed for ``neighbours`` only.
        neighbours: chunks of the same document added on each side of every hit, after all hits.
            0 by default: at one budget, more separate chunks held more of the answers.

    Returns:
        Sources ``S1``, ``S2``, ... strongest first, the ranked sentences that stand in them, what
        was dropped, and where the sources disagree.
    """
    hits = [*retrieval.hits]
    if snapshot is not None and neighbours > 0:
        hits += _neighbours(hits, snapshot, neighbours)
    kept, dropped = _fit(collapse(hits), budget_tokens)
    sources = tuple(
        EvidenceSource(f"S{number}", hit, also_in)
        for number, (hit, also_in) in enumerate(kept, start=1)
    )
    shown = {source.chunk.id for source in sources}
    sentences = tuple(one for one in retrieval.sentences if one.chunk_id in shown)
    return Evidence(
        sources=sources,
        sentences=sentences,
        dropped=dropped,
        conflicts=find_conflicts(sources, sentences),
        tokens=sum(source_tokens(source.chunk) for source in sources),
    )


def source_tokens(chunk: Chunk) -> int:
    """Tokens that a chunk takes in a prompt: title, heading, context, text and the marks around."""
    parts = (chunk.title, *chunk.location.heading, chunk.context, chunk.text)
    return sum(map(count_tokens, parts)) + _MARKUP_TOKENS


_Collapsed = tuple[Hit, tuple[str, ...]]


def _fit(
    hits: Sequence[_Collapsed], budget_tokens: int
) -> tuple[list[_Collapsed], tuple[str, ...]]:
    """What fits, best first, and the ids of what does not, weakest first."""
    sizes = {hit.chunk.id: source_tokens(hit.chunk) for hit, _ in hits}
    kept = [one for one in hits if sizes[one[0].chunk.id] <= budget_tokens]
    while sum(sizes[hit.chunk.id] for hit, _ in kept) > budget_tokens:
        kept.pop()
    stays = {hit.chunk.id for hit, _ in kept}
    return kept, tuple(hit.chunk.id for hit, _ in reversed(hits) if hit.chunk.id not in stays)


def _neighbours(hits: Sequence[Hit], snapshot: Snapshot, reach: int) -> list[Hit]:
    """Chunks within ``reach`` of a hit that are no hits themselves; they carry their hit's score."""
    taken = {hit.chunk.id for hit in hits}
    found: list[Hit] = []
    for hit in hits:
        for chunk in snapshot.document_chunks(hit.chunk.document_id):
            near = abs(chunk.ordinal - hit.chunk.ordinal) <= reach
            if near and chunk.id not in taken:
                taken.add(chunk.id)
                found.append(Hit(chunk, hit.score, None, 0.0))
    return found
