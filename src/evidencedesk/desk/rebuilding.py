"""Side-by-side rebuilds: build another generation, switch, go back, drop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidencedesk import wiring
from evidencedesk.desk.index import OpenIndex
from evidencedesk.errors import IndexingError, UsageError
from evidencedesk.model import Generation, Progress, ProgressCallback
from evidencedesk.pipeline import Indexing, rebuild
from evidencedesk.protocols import Embedder, Writer
from evidencedesk.text.analysis import NORMALISATION


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """The outcome of a side-by-side rebuild.

    Attributes:
        generation: the generation that was built and answers now.
        documents: how many were chunked.
        seconds: wall time.
    """

    generation: Generation
    documents: int
    seconds: float


def rebuild_index(
    index: OpenIndex,
    *,
    model: str | None,
    strategy: str | None,
    options: Mapping[str, int] | None,
    yes: bool,
    progress: ProgressCallback | None,
) -> ReindexReport:
    """See :meth:`evidencedesk.desk.Desk.reindex`."""
    if not yes:
        raise UsageError(
            "No golden set compares the new generation with the old one.",
            code="reindex_unconfirmed",
            hint="--yes switches all the same; --rollback switches back.",
        )
    settings = index.settings
    embedder = index.models.required(model or settings.embedding.model)
    chunking = wiring.chunking_with(settings, strategy or settings.chunking.strategy, options or {})
    started = index.clock.monotonic()
    with index.writing() as writer:
        discard_spare(writer)
        embedding = embedder.spec if embedder else None
        generation = writer.begin_generation(embedding, chunking, NORMALISATION)
        done = _build(writer, generation, embedder, progress)
        writer.switch_generation(generation.id)
        switched = _generation(writer, generation.id)
    return ReindexReport(switched, done, round(index.clock.monotonic() - started, 3))


def roll_back(writer: Writer) -> Generation:
    """Switch back to the generation that answered before the last rebuild.

    Raises:
        IndexingError: ``no_rollback`` when there is none.
    """
    previous = [each for each in writer.generations() if each.state == "previous"]
    if not previous:
        raise IndexingError(
            "There is no generation to go back to.",
            code="no_rollback",
            hint="Only a `reindex` that has not been discarded can be rolled back.",
        )
    writer.switch_generation(previous[-1].id)
    return _generation(writer, previous[-1].id)


def discard_spare(writer: Writer) -> None:
    """Drop every generation but the one that answers."""
    for generation in writer.generations():
        if generation.state != "active":
            writer.discard_generation(generation.id)


def _build(
    writer: Writer,
    generation: Generation,
    embedder: Embedder | None,
    progress: ProgressCallback | None,
) -> int:
    total = sum(1 for tenant in writer.tenants() for _ in writer.records(tenant))
    done = 0
    for done, document_id in enumerate(
        rebuild(generation, Indexing(writer, lambda _: embedder)), start=1
    ):
        if progress is not None:
            progress(Progress("reindex", done, total, document_id))
    return done


def _generation(writer: Writer, generation_id: int) -> Generation:
    return next(each for each in writer.generations() if each.id == generation_id)
