"""The desk: the object that people hold. Everything the product does, with one reader per call.

Example:
    with Desk.open("handbook.desk") as desk:
        desk.ingest("policies/", roles={"staff"})
        answer = desk.ask("How long do I have to return a bike?", principal=Principal(roles={"staff"}))
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from evidencedesk import wiring
from evidencedesk.access import (
    AccessFilter,
    check_tenant,
    parse_status,
)
from evidencedesk.desk.asking import Asking
from evidencedesk.desk.bringing import Intake, bring_in
from evidencedesk.desk.index import OpenIndex
from evidencedesk.desk.keeping import Keeping
from evidencedesk.desk.rebuilding import (
    Rebuild,
    ReindexReport,
    discard_spare,
    rebuild_index,
    roll_back,
    trial_index,
)
from evidencedesk.desk.recording import Recording
from evidencedesk.desk.versions import found_or_raise
from evidencedesk.ingestion.watch import watch
from evidencedesk.model import (
    Finding,
    Generation,
    IngestReport,
    ProgressCallback,
)
from evidencedesk.pipeline import remove_document
from evidencedesk.protocols import Clock, Generator, Source
from evidencedesk.settings import Settings


class Desk(Asking, Keeping):
    """An index with everything that can be done to it. A context manager; safe for threads.

    Reading needs a ``Principal``, and there is no other way in. Writing is the operator's business:
    whoever can write the index files.
    """

    def __init__(
        self,
        path: str | Path,
        settings: Settings,
        clock: Clock,
        generator: Generator | None = None,
    ) -> None:
        self.path = path
        self.settings = settings
        self._clock = clock
        super().__init__(OpenIndex(path, settings, clock, generator))

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        settings: Settings | None = None,
        create: bool = False,
        clock: Clock | None = None,
        generator: Generator | None = None,
    ) -> Desk:
        """The desk over the index at ``path``.

        The index is opened when it is first needed; ``ingest`` makes one where there is none.

        Args:
            path: folder of the index, or ``postgresql://...`` (docs/postgres.md).
            settings: effective settings; the defaults when None (no settings file is read).
            create: make the index now if there is none.
            clock: where time comes from; the machine's clock when None.
            generator: who writes replies; the one that the settings name when None.

        Raises:
            IndexingError: with ``create``, when it cannot be made.
        """
        desk = cls(
            wiring.located(path), settings or Settings(), clock or wiring.SystemClock(), generator
        )
        if create:
            desk._index.store(create=True)
        return desk

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the index; using the desk again opens it again."""
        self._index.close()

    def ingest(
        self,
        *paths: str | Path,
        roles: Iterable[str] | None = None,
        deny: Iterable[str] | None = None,
        tenant: str | None = None,
        status: str | None = None,
        lang: str | None = None,
        owner: str | None = None,
        prune: bool = False,
        force: bool = False,
        progress: ProgressCallback | None = None,
        sources: Sequence[Source] = (),
    ) -> IngestReport:
        """Bring the index in line with files, folders and other sources.

        A file that cannot be read keeps its last good version and is reported. Interrupted, all
        that was finished is in the index; the same call goes on from there.

        Args:
            *paths: files and folders.
            roles: who may see the documents; what front matter and manifests say when None.
            deny: who may not.
            tenant: whose documents they are; that of the settings when None.
            status: ``current superseded draft archived``.
            lang: language of documents that declare none.
            owner: owner of documents that declare none.
            prune: remove documents of the named folders whose file is gone.
            force: prune although a folder is missing, empty, or would lose over half.
            progress: told of every file.
            sources: read after the paths (:func:`evidencedesk.source_wiring.web_sources`).

        Raises:
            SourceError: ``path_missing``.
            UsageError: a malformed role, tenant or status; ``prune_refused``.
            IndexingError: the index cannot be written, or was made with another model.
        """
        owner_tenant = check_tenant(tenant or self.settings.access.tenant)
        request = wiring.declared(
            self.settings, roles=roles, deny=deny, status=status, lang=lang, owner=owner
        )
        intake = Intake(
            paths=tuple(map(Path, paths)),
            sources=tuple(sources),
            request=request,
            tenant=owner_tenant,
            prune=prune,
            force=force,
            progress=progress,
        )
        report = bring_in(self._index, intake)
        lapsed = self.answers.warnings_after(report, owner_tenant)
        return replace(report, warnings=(*report.warnings, *lapsed))

    def watch(
        self, *paths: str | Path, stop: threading.Event | None = None, **options: object
    ) -> Iterator[IngestReport]:
        """Ingest now and after every change under ``paths``, until ``stop`` is set.

        ``options`` are those of ``ingest``. A file that disappears is removed only with ``prune``.
        """
        yield self.ingest(*paths, **options)  # type: ignore[arg-type]
        for _ in watch([Path(path) for path in paths], stop=stop):
            yield self.ingest(*paths, **options)  # type: ignore[arg-type]

    def remove(self, document_id: str, *, tenant: str | None = None) -> bool:
        """Remove a document with its chunks, vectors, postings and history; False if there is none.

        Its file is left alone, so the next ``ingest`` of its folder brings it back.
        """
        with self._index.writing() as writer:
            record = writer.record(check_tenant(tenant or self.settings.access.tenant), document_id)
            return record is not None and remove_document(
                writer, record, self._clock, "removed by the operator"
            )

    def set_status(self, document_id: str, status: str, *, tenant: str | None = None) -> None:
        """Change a document's status at once; its own metadata decide again when its file changes.

        Raises:
            UsageError: ``not_found``; ``bad_status``.
        """
        wanted = parse_status(status).value
        with self._index.writing() as writer:
            tenant = check_tenant(tenant or self.settings.access.tenant)
            stored = found_or_raise(writer.document(tenant, document_id), "document", document_id)
            writer.update_document(replace(stored, status=wanted))

    def generation(self) -> Generation:
        """The generation that answers."""
        with self._index.store().read(access=AccessFilter()) as snapshot:
            return snapshot.generation

    def reindex(
        self,
        *,
        model: str | None = None,
        strategy: str | None = None,
        options: Mapping[str, int] | None = None,
        yes: bool = False,
        progress: ProgressCallback | None = None,
        approve: Callable[[Desk], bool] | None = None,
    ) -> ReindexReport:
        """Build a generation with another model or chunking beside the one that answers, and switch.

        A rebuild that was interrupted before is dropped first; its vectors come from the cache.

        Args:
            model: semantic model, or ``none``; of the settings when None, like the others.
            strategy: chunking strategy.
            options: the strategy's options.
            yes: switch although no golden set has compared the two.
            progress: told of every document.
            approve: judges the rebuild before it answers; not asked with ``yes``.

        Raises:
            UsageError: ``reindex_unconfirmed`` with neither ``yes`` nor ``approve``.
            IndexingError: ``reindex_worse`` when it was not approved of.
            ModelError: the model cannot be had.
        """
        return rebuild_index(
            self._index,
            Rebuild(model, strategy, options or {}),
            yes=yes,
            progress=progress,
            approve=approve and (lambda index: approve(self._over(index))),
        )

    @contextmanager
    def trial(self, settings: Settings, progress: ProgressCallback | None = None) -> Iterator[Desk]:
        """The desk as it would answer with other ``settings``, chunking and model included.

        Where those two differ a rebuild is made and dropped. Raises what ``reindex`` raises.
        """
        with trial_index(self._index, settings, progress) as index:
            yield self._over(index)

    def unrecorded(self) -> Desk:
        """The same index for measuring and trying out: its answers have no receipts."""
        return self._over(self._index)

    def _over(self, index: OpenIndex) -> Desk:
        desk = Desk(self.path, index.settings, self._clock)
        desk._index = index
        desk._recording = Recording(index, enabled=False)
        return desk

    def rollback(self) -> Generation:
        """Switch back to the generation that answered before the last ``reindex``.

        Raises:
            IndexingError: ``no_rollback`` when there is none.
        """
        with self._index.writing() as writer:
            return roll_back(writer)

    def discard(self) -> None:
        """Drop every generation but the one that answers."""
        with self._index.writing() as writer:
            discard_spare(writer)

    def doctor(self) -> tuple[Finding, ...]:
        """Everything that was looked at: model, index, vectors, documents."""
        return self._index.examined()
