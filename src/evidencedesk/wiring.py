"""From settings to working parts: which adapters, with which values."""

from __future__ import annotations

import math
import platform
import secrets
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

from evidencedesk.access import check_known_roles, parse_status
from evidencedesk.adapters.models.cache import cache_directory, locate
from evidencedesk.answering import OnFailure
from evidencedesk.chunking import chunking_settings
from evidencedesk.errors import IndexMismatchError, ModelError, ModelMissingError, UsageError
from evidencedesk.ingestion.metadata import AccessDefaults, DeclaredMetadata
from evidencedesk.ingestion.sandbox import ParseLimits, ParserPool
from evidencedesk.masking_wiring import masking_of
from evidencedesk.model import ChunkingSettings, EmbeddingSpec, Finding, Generation
from evidencedesk.model.receipt import KEY_BYTES
from evidencedesk.pipeline import Answering, Reading
from evidencedesk.pipeline.calibrations import read_calibrations
from evidencedesk.protocols import Clock, Embedder, Generator, Judge, Store
from evidencedesk.registry import adapter, adapter_names, adapter_target, load
from evidencedesk.retrieval import SHIPPED, Calibrations
from evidencedesk.settings import Settings
from evidencedesk.text.analysis import NORMALISATION

NO_MODEL = "none"
_OCR_PARSER = "evidencedesk.adapters.parsers.pdf_ocr:OcrPdfParser"
SERVER_SCHEMES = ("postgresql", "postgres")

_VECTOR_INSTRUCTIONS = frozenset(
    {"avx", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "asimddp", "i8mm"}
)


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """The semantic model of the settings, or why there is none.

    Attributes:
        embedder: the model; None when there is none.
        missing: why not, for a person; empty when there is one or none is wanted.
    """

    embedder: Embedder | None
    missing: str = ""


class Models:
    """Semantic models by generation; each is loaded once, when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded: dict[tuple[str, bool], LoadedModel] = {}

    @property
    def configured(self) -> LoadedModel:
        """The model that the settings name."""
        return self.named(self._settings.embedding.model)

    def named(self, name: str) -> LoadedModel:
        """The model called ``name``: a known one, or a directory."""
        return self._either(name, keep_tokens=self._settings.embedding.token_vectors)

    def required(self, name: str) -> Embedder | None:
        """The model called ``name``; None for ``none``.

        Raises:
            ModelMissingError: it is not on this machine.
        """
        loaded = self.named(name)
        if loaded.missing:
            raise ModelMissingError(
                loaded.missing, hint="`evidencedesk models list` shows what can be had."
            )
        return loaded.embedder

    def for_generation(self, generation: Generation) -> Embedder | None:
        """The very model that made the generation's vectors, None where it cannot be had.

        Raises:
            IndexMismatchError: the active generation was made with another model than the settings
                name, and that one is there.
        """
        wanted, configured = generation.embedding, self.configured.embedder
        if wanted is None or (configured is not None and configured.spec == wanted):
            return configured if wanted is not None else None
        if configured is not None and generation.state == "active":
            raise mismatch(wanted, configured.spec)
        for name in (self._settings.embedding.model, wanted.name):
            self._either(name, keep_tokens=wanted.token_dimensions > 0)
        loaded = (model.embedder for model in self._loaded.values())
        return next((one for one in loaded if one is not None and one.spec == wanted), None)

    def _either(self, name: str, *, keep_tokens: bool) -> LoadedModel:
        if (name, keep_tokens) not in self._loaded:
            self._loaded[name, keep_tokens] = self._load(name, keep_tokens=keep_tokens)
        return self._loaded[name, keep_tokens]

    def _load(self, name: str, *, keep_tokens: bool) -> LoadedModel:
        if name == NO_MODEL:
            return LoadedModel(None)
        try:
            directory, precision = locate(name, cache_directory())
        except ModelError as error:
            return LoadedModel(None, str(error))
        settings = self._settings
        embedder: Embedder = adapter("embedders", "onnx")(
            directory,
            precision=precision,
            threads=settings.ingestion.threads or None,
            keep_tokens=keep_tokens,
            overrides=load("evidencedesk.adapters.embedders.onnx:Overrides")(
                languages=settings.embedding.languages,
                query_prefix=settings.embedding.query_prefix,
                passage_prefix=settings.embedding.passage_prefix,
            ),
        )
        return LoadedModel(embedder)


def mismatch(made_with: EmbeddingSpec, configured: EmbeddingSpec) -> IndexMismatchError:
    """The error that names both models and the command that rebuilds."""
    before = f"model back to {made_with.name!r}"
    if made_with.revision == configured.revision:
        before = "the other keys back to what they were"
    return IndexMismatchError(
        f"The index was made with the model {_described(made_with)}; "
        f"the settings name {_described(configured)}.",
        hint=f"Rebuild it: evidencedesk reindex --model {configured.name} --yes. "
        f"Or set [embedding] {before}.",
    )


def _described(spec: EmbeddingSpec) -> str:
    tokens = (
        f", token vectors of {spec.token_dimensions} by {spec.token_projection[:15] or 'the model'}"
    )
    kept = tokens if spec.token_dimensions else ""
    return f"{spec.name!r} ({spec.revision[:15]}, {spec.dimensions} dimensions{kept})"


def new_subject_key() -> bytes:
    """A key for one subject's hashes in receipts and in the audit chain."""
    return secrets.token_bytes(KEY_BYTES)


def model_finding(settings: Settings, loaded: LoadedModel) -> Finding:
    """What ``doctor`` says of the semantic model."""
    name = settings.embedding.model
    if loaded.embedder is None:
        message = loaded.missing or "no semantic model is wanted; search is by keywords only"
        hint = f"`evidencedesk models pull {name}`" if loaded.missing else ""
        return Finding("model", ok=not loaded.missing, message=message, hint=hint)
    return Finding("model", ok=True, message=f"{_described(loaded.embedder.spec)} is loaded")


def chunking_of(settings: Settings) -> ChunkingSettings:
    """The strategy of the settings with the options that it takes."""
    return chunking_with(settings, settings.chunking.strategy, {})


def chunking_with(
    settings: Settings, strategy: str, options: Mapping[str, int]
) -> ChunkingSettings:
    """``strategy`` with ``options``, and the settings' values for those not given."""
    return chunking_settings(strategy, **{**settings.chunking.options_of(strategy), **options})


def located(index: str | Path) -> str | Path:
    """Where an index is: the URL of a database server as it is written, anything else as a path."""
    text = str(index)
    return text if text.partition("://")[0] in SERVER_SCHEMES else Path(index)


def open_store(
    location: str | Path, settings: Settings, clock: Clock, *, create: bool, models: Models
) -> Store:
    """The store at ``location``; a new one records the model, if there is one, and the chunking."""
    embedding = models.configured.embedder.spec if create and models.configured.embedder else None
    kind = "sqlite" if isinstance(location, Path) else "postgres"
    store: Store = adapter("stores", kind).open(
        location,
        create=create,
        clock=clock,
        embedding=embedding,
        chunking=chunking_of(settings),
        normalisation=NORMALISATION,
        runtime=runtime_facts(),
    )
    return store


def runtime_facts() -> dict[str, str]:
    """What computes vectors here, recorded with a generation: another build may compute others."""
    return {
        "onnxruntime": version("onnxruntime"),
        "machine": platform.machine(),
        "instructions": " ".join(sorted(_VECTOR_INSTRUCTIONS & _processor_flags())),
    }


def _processor_flags() -> frozenset[str]:
    described = Path("/proc/cpuinfo")
    if not described.is_file():
        return frozenset()
    lines = described.read_text("utf-8", errors="replace").split("\n")
    named = (line for line in lines if line.startswith(("flags", "Features")))
    return frozenset(next(named, "").partition(":")[2].split())


def parser_pool(settings: Settings) -> ParserPool:
    """The child process that parses, with every installed parser by media type."""
    limits = settings.ingestion
    return ParserPool(
        {**_parser_targets(), **_by_ocr(settings)},
        ParseLimits(
            memory_bytes=limits.memory_mb << 20,
            cpu_seconds=max(1, round(limits.timeout_s)),
            wall_seconds=limits.timeout_s,
            max_pages=limits.max_pages,
        ),
    )


def reading(
    settings: Settings, parsers: ParserPool, clock: Clock, request: DeclaredMetadata, tenant: str
) -> Reading:
    """How files are read in one run."""
    return Reading(
        parsers=parsers,
        parser_version=_version_with_ocr if _by_ocr(settings) else parser_version,
        clock=clock,
        request=request,
        defaults=AccessDefaults(
            roles=frozenset(settings.access.default_roles),
            known_roles=frozenset(settings.access.known_roles),
            tenant=tenant,
        ),
        max_bytes=settings.ingestion.max_file_mb << 20,
        masking=masking_of(settings),
    )


@cache
def parser_version(media_type: str) -> tuple[str, str]:
    """Name and version of the parser of a media type; empty where there is none."""
    for name in adapter_names("parsers"):
        parser = adapter("parsers", name)
        if media_type in parser.media_types:
            return parser.name, parser.version
    return "", ""


@cache
def _parser_targets() -> Mapping[str, str]:
    return {
        media_type: adapter_target("parsers", name)
        for name in adapter_names("parsers")
        for media_type in adapter("parsers", name).media_types
    }


def _by_ocr(settings: Settings) -> Mapping[str, str]:
    """The parsers that read pages without text by OCR, where that is wanted and can be had."""
    return _ocr_targets() if settings.ingestion.ocr == "auto" else {}


@cache
def _ocr_targets() -> Mapping[str, str]:
    if not load("evidencedesk.adapters.parsers.tesseract:is_installed")():
        return {}
    return dict.fromkeys(load(_OCR_PARSER).media_types, _OCR_PARSER)


def _version_with_ocr(media_type: str) -> tuple[str, str]:
    if media_type not in _ocr_targets():
        return parser_version(media_type)
    parser = load(_OCR_PARSER)
    return parser.name, parser.version


def calibrations_of(settings: Settings) -> Calibrations:
    """The calibrations that the settings name, else those that ship.

    Raises:
        SettingsError: ``calibration_missing`` or ``calibration_unreadable``.
    """
    path = settings.retrieval.calibration
    return SHIPPED if path is None else read_calibrations(Path(path))


def rewriter_of(settings: Settings, generator: Generator) -> Generator | None:
    """The model that makes follow-up questions stand alone; None leaves it to rules."""
    is_model = settings.generation.generator != "extractive"
    return generator if is_model and settings.generation.rewriting == "model" else None


def answering_of(
    settings: Settings,
    store: Store,
    clock: Clock,
    embedder: Embedder | None,
    *,
    generator: Generator,
    judge: Judge | None = None,
    threshold: float | None = None,
) -> Answering:
    """What answers questions, with the values of the settings.

    Raises:
        UsageError: ``bad_threshold``: not a number, which every confidence would pass.
    """
    if threshold is not None and math.isnan(threshold):
        raise UsageError(
            "The threshold is not a number.",
            code="bad_threshold",
            hint="Give a probability from 0 to 1.",
        )
    retrieval, generation = settings.retrieval, settings.generation
    return Answering(
        store=store,
        embedder=embedder,
        generator=generator,
        clock=clock,
        new_id=lambda: uuid.uuid4().hex,
        new_canary=lambda: secrets.token_hex(8),
        judge=judge,
        languages=retrieval.languages,
        k=retrieval.k,
        candidates=retrieval.candidates,
        threshold=retrieval.threshold if threshold is None else threshold,
        min_vector_score=retrieval.min_vector_score,
        min_keyword_score=retrieval.min_keyword_score,
        calibrations=calibrations_of(settings),
        evidence_tokens=generation.evidence_tokens,
        max_output_tokens=generation.max_output_tokens,
        max_question_chars=retrieval.max_question_chars,
        require=settings.verification.require,
        on_failure=OnFailure(settings.verification.on_failure),
        contact=settings.notifications.contact,
    )


def declared(
    settings: Settings,
    *,
    roles: Iterable[str] | None,
    deny: Iterable[str] | None,
    status: str | None,
    lang: str | None,
    owner: str | None,
) -> DeclaredMetadata:
    """What the caller of an ingestion says of every document.

    Raises:
        AccessRuleError: a malformed or unknown role, or an unknown status.
    """
    known = settings.access.known_roles
    return DeclaredMetadata(
        origin="the request",
        roles=None if roles is None else check_known_roles(roles, known),
        deny=None if deny is None else check_known_roles(deny, known),
        status=None if status is None else parse_status(status).value,
        lang=lang,
        owner=owner,
    )
