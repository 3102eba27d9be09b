"""Side-by-side rebuilds: build another generation, switch, go back, drop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from evidencedesk import wiring
from evidencedesk.desk.index import OpenIndex
from evidencedesk.errors import IndexingError, UsageError
from evidencedesk.model import Generation, Progress, ProgressCallback
from evidencedesk.pipeline import Indexing, rebuild
from evidencedesk.protocols import Embedder, Writer
from evidencedesk.settings import Settings
from evidencedesk.text.analysis import NORMALISATION

Approve: TypeAlias = Callable[[OpenIndex], bool]
"""Judges a rebuild before it answers; False drops it."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """What to rebuild with.

    Attributes:
        model: semantic model, or ``none``; that of the settings when None.
        strategy: chunking strategy; that of the settings when None.
        options: options of the strategy; those of the settings where not given.
    """

    model: str | None
    strategy: str | None
    options: Mapping[str, int]


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
    wanted: Rebuild,
    *,
    yes: bool,
    progress: ProgressCallback | None,
    approve: Approve | None = None,
) -> ReindexReport:
    """See :meth:`evidencedesk.desk.Desk.reindex`."""
    if not yes and approve is None:
        raise UsageError(
            "No golden set compares the new generation with the old one.",
            code="reindex_unconfirmed",
            hint="--yes switches all the same; --rollback switches back.",
        )
    settings = index.settings
    embedder = index.models.required(wanted.model or settings.embedding.model)
    strategy = wanted.strategy or settings.chunking.strategy
    chunking = wiring.chunking_with(settings, strategy, wanted.options)
    started = index.clock.monotonic()
    with index.writing() as writer:
        discard_spare(writer)
        embedding = embedder.spec if embedder else None
        generation = writer.begin_generation(embedding, chunking, NORMALISATION)
        done = _build(writer, generation, embedder, progress)
        if not yes and approve is not None and not approve(index.pinned(generation.id)):
            writer.discard_generation(generation.id)
            raise _worse()
        writer.switch_generation(generation.id)
        switched = _generation(writer, generation.id)
    return ReindexReport(switched, done, round(index.clock.monotonic() - started, 3))


@contextmanager
def trial_index(
    index: OpenIndex, settings: Settings, progress: ProgressCallback | None
) -> Iterator[OpenIndex]:
    """The index as it would answer with other settings.

    Where chunking or model differ, from a rebuild, which is dropped at the end. Where only chunking
    differs it keeps the model that answers, so keywords are compared with keywords.

    Raises:
        IndexingError: ``generation_exists`` while another rebuild is under way.
        ModelMissingError: the model of the settings is not on this machine.
    """
    now = index.settings
    with closing(index.with_settings(settings)) as other:
        if (settings.chunking, settings.embedding) == (now.chunking, now.embedding):
            yield other
            return
        with other.writing() as writer:
            active = next(each for each in writer.generations() if each.state == "active")
            embedder = (
                other.models.for_generation(active)
                if settings.embedding == now.embedding
                else other.models.required(settings.embedding.model)
            )
            generation = writer.begin_generation(
                embedder.spec if embedder else None, wiring.chunking_of(settings), NORMALISATION
            )
            try:
                _build(writer, generation, embedder, progress)
                yield other.pinned(generation.id)
            finally:
                writer.discard_generation(generation.id)


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


def _worse() -> IndexingError:
    return IndexingError(
        "The rebuild answers the golden set worse than the index does, so it was dropped.",
        code="reindex_worse",
        hint="--yes switches all the same; --rollback switches back.",
    )


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
