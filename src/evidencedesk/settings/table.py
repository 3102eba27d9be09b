"""The one table of settings: each field is a row with its name, type, default, unit and help.

The commented file that ``init`` writes, ``docs/settings.md`` and ``doctor --settings`` are made from
these rows (:mod:`evidencedesk.settings.render`), so a setting exists in all of them or in none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from evidencedesk.settings.declaring import Name
from evidencedesk.settings.declaring import Table as _Table
from evidencedesk.settings.declaring import row as _row
from evidencedesk.settings.evaluating import EvaluationTable
from evidencedesk.settings.fetching import WebTable
from evidencedesk.settings.masking import MaskingTable
from evidencedesk.settings.notifying import NotificationsTable
from evidencedesk.settings.serving import ServerTable, TelemetryTable

_STRATEGY_OPTIONS: dict[str, tuple[str, ...]] = {
    "structure": ("max_tokens", "overlap_sentences"),
    "sentence": ("max_chars", "overlap_sentences"),
    "paragraph": (),
    "fixed": ("size", "overlap"),
}


class IndexTable(_Table):
    """Where the index lies."""

    url: Name = _row(
        "evidencedesk.desk",
        "The index: a folder, or `postgresql://USER@HOST/DATABASE?schema=NAME`.",
        path=True,
    )


class IngestionTable(_Table):
    """Limits within which each file is read, in a process of its own."""

    max_file_mb: int = _row(200, "Larger files are refused.", unit="MiB", gt=0)
    timeout_s: float = _row(120.0, "A file that takes longer is given up.", unit="seconds", gt=0)
    memory_mb: int = _row(1024, "Memory that reading one file may take.", unit="MiB", gt=0)
    max_pages: int = _row(20_000, "Files with more pages are refused.", unit="pages", gt=0)
    threads: int = _row(
        0, "How much is done side by side; 0 is one per core.", unit="threads", ge=0
    )
    ocr: Literal["auto", "off"] = _row(
        "auto", "Whether PDF pages without text are read by tesseract, where that is installed."
    )


class EmbeddingTable(_Table):
    """The semantic model. One model per index; changing it needs `evidencedesk reindex`."""

    model: Name = _row(
        "minilm",
        'A model that `evidencedesk models list` shows, a folder with an ONNX model, or "none" for '
        "keywords only.",
    )
    languages: tuple[str, ...] | None = _row(
        None,
        "Languages that the model knows, instead of those it declares. Text in other languages is "
        "found by its words only.",
        sample=["en"],
    )
    query_prefix: str | None = _row(
        None, "Put before a question, instead of what the model declares.", sample="query: "
    )
    passage_prefix: str | None = _row(
        None, "Put before a passage, instead of what the model declares.", sample="passage: "
    )
    token_vectors: bool = _row(
        default=False, help="Keep token vectors: quicker answers, more room."
    )


class ChunkingTable(_Table):
    """How documents are cut. Changing it needs `evidencedesk reindex`."""

    strategy: Literal["structure", "sentence", "paragraph", "fixed"] = _row(
        "structure", "Which rule cuts: see docs/chunking.md."
    )
    max_tokens: int = _row(150, "Budget of a chunk (structure).", unit="tokens", gt=0)
    overlap_sentences: int = _row(
        0, "Sentences that a chunk repeats of the one before (structure, sentence).", ge=0
    )
    max_chars: int = _row(600, "Budget of a chunk (sentence).", unit="characters", gt=0)
    size: int = _row(600, "Length of a window (fixed).", unit="characters", gt=0)
    overlap: int = _row(100, "What two windows share (fixed).", unit="characters", ge=0)

    @property
    def options(self) -> dict[str, int]:
        """The options that the strategy takes, by name."""
        return self.options_of(self.strategy)

    def options_of(self, strategy: str) -> dict[str, int]:
        """The values here of the options that ``strategy`` takes; empty for an unknown one."""
        return {name: getattr(self, name) for name in _STRATEGY_OPTIONS.get(strategy, ())}


class RetrievalTable(_Table):
    """How chunks are found and when what was found is enough to answer from."""

    candidates: int = _row(100, "Best chunks by words, and by meaning, that are scored.", gt=0)
    k: int = _row(8, "Chunks that are kept as evidence.", unit="chunks", gt=0)
    threshold: float = _row(
        0.5,
        "Probability that the evidence answers the question below which there is no answer. "
        "0 answers whatever was found.",
        ge=0,
        le=1,
    )
    min_vector_score: float | None = _row(
        None, "Drops chunks with a lower cosine (for models whose scores you know).", sample=0.3
    )
    min_keyword_score: float | None = _row(
        None, "Drops chunks with a lower BM25 score.", sample=2.0
    )
    languages: tuple[str, ...] = _row(
        ("en",), "Languages of questions whose script does not tell; words are stemmed in each."
    )
    max_question_chars: int = _row(2000, "Longer questions are refused.", unit="characters", gt=0)
    calibration: str | None = _row(
        None,
        "What `evidencedesk calibrate` wrote, instead of the calibration that ships.",
        path=True,
        sample="calibration.json",
    )


class GenerationTable(_Table):
    """Who writes the answer from the evidence."""

    generator: Name = _row(
        "extractive",
        "`extractive` answers with sentences of the evidence and needs no model; `openai` (any "
        "endpoint of that kind), `anthropic` and `local` need the extra of that name. See docs/models.md.",
    )
    model: str | None = _row(
        None, "The model's name at the provider; a GGUF file for `local`.", sample="gpt-4o-mini"
    )
    base_url: str | None = _row(
        None,
        "Address of the provider's API, instead of its own.",
        sample="http://127.0.0.1:11434/v1",
    )
    api_key_env: str | None = _row(
        None,
        "Environment variable that holds the key. Not set: OPENAI_API_KEY or ANTHROPIC_API_KEY at "
        "the provider's own address, none elsewhere.",
        sample="MY_PROVIDER_KEY",
    )
    api_key_file: str | None = _row(
        None, "File that holds the key, instead.", path=True, sample="/run/secrets/provider-key"
    )
    fallbacks: tuple[str, ...] = _row(
        (),
        "Asked in turn when the generator fails; the answer names those that did. Each is "
        "`extractive` or NAME:MODEL, with @ADDRESS and #KEY_VARIABLE after it where needed.",
    )
    timeout_s: float = _row(
        60.0, "One generator's reply takes no longer, retries included.", unit="seconds", gt=0
    )
    connect_timeout_s: float = _row(
        5.0, "A connection is made in this time or not at all.", unit="seconds", gt=0
    )
    max_retries: int = _row(
        2, "Calls after one that failed in a way that may pass.", unit="calls", ge=0
    )
    rewriting: Literal["model", "rules"] = _row(
        "model",
        'Who makes a follow-up question in `chat` stand alone: the generator\'s "model", where it is '
        'one, or "rules" alone, which cost nothing.',
    )
    structured_output: Literal["auto", "schema", "prompt"] = _row(
        "auto",
        'How a model is held to the shape of a reply: "schema" by the provider, "prompt" by the '
        'rules alone, "auto" by the provider where it can.',
    )
    temperature: float | None = _row(
        None, "Of sampling, instead of the provider's own; 0 for `local`.", sample=0.0, ge=0, le=2
    )
    context_tokens: int = _row(8192, "Context window of a `local` model.", unit="tokens", gt=0)
    threads: int = _row(
        0, "Threads of a `local` model; 0 leaves it to llama.cpp.", unit="threads", ge=0
    )
    prices: str | None = _row(
        None, "A TOML file with what models cost; its rows win.", path=True, sample="prices.toml"
    )
    evidence_tokens: int = _row(
        3000, "Evidence beyond this is left out, the weakest first.", unit="tokens", gt=0
    )
    max_output_tokens: int = _row(1024, "Limit on a reply.", unit="tokens", gt=0)
    cached_answers: int = _row(
        0,
        "Answers kept in memory and given again to readers of the same rights until any document or "
        "right changes; 0 keeps none.",
        unit="answers",
        ge=0,
    )


class VerificationTable(_Table):
    """What a statement must survive before anybody sees it."""

    require: Literal["quoted", "proven"] = _row(
        "quoted",
        '"quoted" shows a paraphrase whose quotes are verbatim and marks it so; "proven" shows only '
        "what stands in its quotes.",
    )
    on_failure: Literal["abstain", "repair", "trim"] = _row(
        "abstain",
        'What one failed check does: "abstain" rejects the whole answer, "repair" asks the model once '
        'more and tells it what failed, "trim" drops the failing statements and says so.',
    )
    judge: str | None = _row(
        None,
        "Decides paraphrases: a folder with an entailment model, or NAME:MODEL of a generator, with "
        "@ADDRESS and #KEY_VARIABLE after it where needed. A judge that fails bears nothing out.",
        sample="models/entailment",
    )


class PrivacyTable(_Table):
    """What is kept of questions and answers: see docs/receipts.md."""

    record_content: bool = _row(
        default=True,
        help="Whether a receipt keeps question, claims and quotes. Without them it has keyed hashes, "
        "and an answer can still be rechecked but neither shown nor replayed.",
    )
    retention_days: int | None = _row(
        None, "Receipts older than this are deleted.", unit="days", gt=0, sample=365
    )
    signing_key: str | None = _row(
        None,
        "Private key that signs exported answers; `evidencedesk keys init` makes one.",
        path=True,
        sample="evidencedesk-signing-key.pem",
    )


class LocalAccess(_Table):
    """Who somebody at the command line is. Whoever can read the index files is its operator."""

    subject: str | None = _row(None, "Name, for logs. Gives no right.", sample="me@example.org")
    roles: tuple[str, ...] = _row((), "Roles of a reader at the command line.")
    administrator: bool = _row(
        default=False, help="Whether such a reader sees every document of the tenant."
    )


class AccessTable(_Table):
    """Who may see what."""

    default_roles: tuple[str, ...] = _row(
        (), "Roles of a document that names none. Empty: administrators only."
    )
    known_roles: tuple[str, ...] = _row(
        (), "All role names there are; any other is then an error. Empty: any name is accepted."
    )
    tenant: Name = _row("default", "Whose documents these are, where nothing else is said.")
    local: LocalAccess = LocalAccess()


class Settings(_Table):
    """Every setting with its value. Frozen; ``Settings()`` has the defaults.

    ``index.url`` and a folder in ``embedding.model`` are as written here; loading makes them
    absolute (:func:`evidencedesk.settings.load_settings`).
    """

    offline: bool = _row(default=False, help="Forbids every connection, `models pull` too.")
    index: IndexTable = IndexTable()
    ingestion: IngestionTable = IngestionTable()
    web: WebTable = WebTable()
    masking: MaskingTable = MaskingTable()
    embedding: EmbeddingTable = EmbeddingTable()
    chunking: ChunkingTable = ChunkingTable()
    retrieval: RetrievalTable = RetrievalTable()
    generation: GenerationTable = GenerationTable()
    verification: VerificationTable = VerificationTable()
    access: AccessTable = AccessTable()
    privacy: PrivacyTable = PrivacyTable()
    evaluation: EvaluationTable = EvaluationTable()
    notifications: NotificationsTable = NotificationsTable()
    server: ServerTable = ServerTable()
    telemetry: TelemetryTable = TelemetryTable()

    def value(self, name: str) -> Any:
        """The value of the setting called ``name`` (``retrieval.k``)."""
        found: Any = self
        for part in name.split("."):
            found = getattr(found, part)
        return found


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table.

    Attributes:
        name: dotted name, ``retrieval.k``.
        table: the TOML table it stands in, ``retrieval``; empty at the top.
        key: its key there, ``k``.
        field: type, default, limits and help as pydantic knows them.
    """

    name: str
    table: str
    key: str
    field: FieldInfo

    @property
    def help(self) -> str:
        """What it does, in a sentence or two."""
        return self.field.description or ""

    @property
    def unit(self) -> str:
        """What its number counts; empty where it is none."""
        return str(self._extra.get("unit", ""))

    @property
    def default(self) -> Any:
        """The default; None means "not set"."""
        return self.field.default

    @property
    def sample(self) -> Any:
        """A value to show where the default is None."""
        return self._extra.get("sample")

    @property
    def is_path(self) -> bool:
        """Whether the value is a path, relative to the settings file."""
        return bool(self._extra.get("path"))

    @property
    def _extra(self) -> dict[str, Any]:
        extra = self.field.json_schema_extra
        return extra if isinstance(extra, dict) else {}


def rows() -> tuple[Row, ...]:
    """All rows, top-level ones first, in the order of the tables."""
    return tuple(_rows(Settings, ""))


def tables() -> dict[str, str]:
    """Name of each TOML table to what it is about, in order."""
    return dict(_tables(Settings, ""))


def _rows(model: type[BaseModel], table: str) -> Iterator[Row]:
    fields = model.model_fields.items()
    for key, field in fields:
        if not isinstance(field.default, _Table):
            yield Row(f"{table}.{key}".lstrip("."), table, key, field)
    for key, field in fields:
        if isinstance(field.default, _Table):
            yield from _rows(type(field.default), f"{table}.{key}".lstrip("."))


def _tables(model: type[BaseModel], table: str) -> Iterator[tuple[str, str]]:
    for key, field in model.model_fields.items():
        if isinstance(field.default, _Table):
            name = f"{table}.{key}".lstrip(".")
            yield name, (type(field.default).__doc__ or "").strip()
            yield from _tables(type(field.default), name)
