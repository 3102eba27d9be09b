"""The open index: a store with the models and settings that go with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evidencedesk import wiring
from evidencedesk.access import AccessFilter, Principal, Status
from evidencedesk.desk.notifying import Notifying
from evidencedesk.desk.pinned import PinnedStore
from evidencedesk.errors import IndexingError
from evidencedesk.generator_wiring import generator_finding, generator_of, judge_of
from evidencedesk.ingestion.sandbox import ParserPool
from evidencedesk.model import Finding
from evidencedesk.pipeline import (
    Answering,
    Indexing,
    check_chunking,
    check_normalisation,
    examine,
)
from evidencedesk.protocols import Clock, Embedder, Generator, Judge, Snapshot, Store, Writer
from evidencedesk.settings import Settings
from evidencedesk.text.analysis import NORMALISATION


class OpenIndex:
    """Opens the store when it is first needed and hands out its two sides."""

    def __init__(
        self, path: str | Path, settings: Settings, clock: Clock, generator: Generator | None
    ) -> None:
        self.path = path
        self.settings = settings
        self.clock = clock
        self.models = wiring.Models(settings)
        self.notifying = Notifying(settings, clock, self.store)
        self._generator = generator
        self._made_generator = generator is None
        self._judge: Judge | None = None
        self._store: Store | None = None
        self._lock = threading.RLock()

    def store(self, *, create: bool = False) -> Store:
        """The store.

        Raises:
            IndexingError: ``index_missing`` unless it may be created; not ours, damaged, ...
        """
        with self._lock:
            if self._store is None:
                self._store = wiring.open_store(
                    self.path, self.settings, self.clock, create=create, models=self.models
                )
            return self._store

    def generator(self) -> Generator:
        """Who writes replies: the one given, else one made once from the settings.

        Raises:
            SettingsError: the settings name none that can be made.
            ModelMissingError: an extra that is not installed, or a model file that is not there.
        """
        with self._lock:
            if self._generator is None:
                self._generator = generator_of(self.settings, self.clock, os.environ)
            return self._generator

    def judge(self) -> Judge | None:
        """The judge of the settings, made once; None where they name none.

        Raises:
            SettingsError: the settings name none that can be made.
            ModelError: its model cannot be run.
        """
        with self._lock:
            if self._judge is None:
                self._judge = judge_of(self.settings, self.clock, os.environ)
            return self._judge

    def with_settings(self, settings: Settings) -> OpenIndex:
        """The same index, opened anew with other settings."""
        given = None if self._made_generator else self._generator
        return OpenIndex(self.path, settings, self.clock, given)

    def pinned(self, generation: int) -> OpenIndex:
        """The same index as ``generation`` would answer; for reading, while this one is open."""
        other = self.with_settings(self.settings)
        other.models, other._store = self.models, PinnedStore(self.store(), generation)  # noqa: SLF001
        return other

    def close(self) -> None:
        """Release the store, and the generator if it was made here; see notices off first."""
        self.notifying.close()
        with self._lock:
            if self._made_generator and self._generator is not None:
                close = getattr(self._generator, "close", None)
                if close is not None:
                    close()
                self._generator = None
            self._close_judge()
            if self._store is not None:
                self._store.close()
                self._store = None

    def _close_judge(self) -> None:
        close = getattr(self._judge, "close", None)
        if close is not None:
            close()
        self._judge = None

    @contextmanager
    def reading(self, principal: Principal, statuses: Iterable[Status]) -> Iterator[Snapshot]:
        """What ``principal`` may see, as it is now."""
        access = AccessFilter.for_principal(principal, statuses)
        with self.store().read(access=access) as snapshot:
            yield snapshot

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Writer]:
        """The operator's side."""
        with self.store(create=create).write() as writer:
            yield writer

    @contextmanager
    def ingesting(self) -> Iterator[tuple[Indexing, ParserPool, tuple[str, ...]]]:
        """What an ingestion works with, and what it should warn of; makes the index if need be.

        Raises:
            IndexMismatchError: made with another model or another analysis of words.
        """
        with self.writing(create=True) as writer, wiring.parser_pool(self.settings) as parsers:
            check_normalisation(writer, NORMALISATION)
            warnings = (
                *self._adopt_model(writer),
                *check_chunking(writer, wiring.chunking_of(self.settings)),
            )
            yield Indexing(writer, self.models.for_generation), parsers, warnings

    def answering(self, threshold: float | None) -> Answering:
        """What answers questions.

        Raises:
            IndexMismatchError: made with another model or another analysis of words.
        """
        store = self.store()
        with store.read(access=AccessFilter()) as snapshot:
            generation = snapshot.generation
        return wiring.answering_of(
            self.settings,
            store,
            self.clock,
            self.models.for_generation(generation),
            generator=self.generator(),
            judge=self.judge(),
            threshold=threshold,
        )

    def examined(self) -> tuple[Finding, ...]:
        """Findings about the models and the index."""
        findings = [
            wiring.model_finding(self.settings, self.models.configured),
            generator_finding(self.settings, self.clock, os.environ),
        ]
        try:
            with self.writing() as writer:
                findings += examine(
                    self.store(),
                    Indexing(writer, self.models.for_generation),
                    wants_model=self.settings.embedding.model != wiring.NO_MODEL,
                )
        except IndexingError as error:
            findings.append(Finding("index", ok=False, message=error.message, hint=error.hint))
        return (*findings, *self.notifying.findings())

    def _adopt_model(self, writer: Writer) -> tuple[str, ...]:
        """Let a keyword-only index have the model that has come; warn when one is missing."""
        active = next(each for each in writer.generations() if each.state == "active")
        configured = self.models.configured
        if active.embedding is None and configured.embedder is not None:
            writer.set_embedding(active.id, configured.embedder.spec)
            return ()
        embedder: Embedder | None = self.models.for_generation(active)
        if embedder is None and configured.missing:
            return (f"no semantic model, so search is by keywords only: {configured.missing}",)
        return ()
