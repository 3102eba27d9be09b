"""The errors that EvidenceDesk raises.

Every error carries a stable ``code`` (programs match on it), a ``message`` that says what is
wrong and where, and a ``hint`` that says what to do. The tree::

    EvidenceDeskError
    ├── UsageError             the caller asked for something that makes no sense
    │   ├── QuestionError      an empty or over-long question
    │   ├── AccessRuleError    a malformed or unknown role, tenant or status
    │   ├── ChunkingError      an unknown chunking strategy, or an option out of range
    │   ├── SettingsError      an unknown key or a value of the wrong kind
    │   └── GoldenSetError     labelled questions that cannot be used, or cannot show what was asked
    ├── SourceError            one file, folder or URL could not be read; the others go on
    │   ├── MetadataError      front matter or a folder manifest is wrong
    │   └── ParseError         the content could not be parsed (encrypted, damaged, unsupported, ...)
    ├── IndexingError          the index cannot be used
    │   ├── IndexMismatchError made with another model, chunking or schema
    │   ├── IndexDamagedError  not ours, or damaged
    │   └── IndexUnavailableError  busy, read-only, disk full
    ├── ModelError             a semantic model or a generator failed
    │   ├── ModelMissingError  not pulled yet, or an extra is not installed
    │   └── GenerationError    the provider failed after bounded retries
    │       ├── ProviderError  one call failed; says whether trying again can help
    │       └── CallCancelledError  whoever asked has gone
    ├── NotificationError      a notice could not be handed over; it is kept and tried again
    └── InternalError          a bug of ours

Codes are lower-case words joined by underscores and never change their meaning.
"""

from __future__ import annotations

from typing import ClassVar


class EvidenceDeskError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        code: stable identifier, for programs.
        message: what is wrong and where, for people; one sentence or two.
        hint: what to do about it; may be empty when there is nothing to do.
    """

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code if code is not None else self.default_code

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def to_json(self) -> dict[str, dict[str, str]]:
        """The stable JSON shape: ``{"error": {"code", "message", "hint"}}``."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class UsageError(EvidenceDeskError):
    """The request itself is wrong; trying again unchanged cannot help."""

    default_code = "usage"


class QuestionError(UsageError):
    """A question that cannot be asked: ``empty_question`` or ``question_too_long``."""

    default_code = "question"


class AccessRuleError(UsageError):
    """A role, tenant or status that is malformed (``bad_role``, ...) or unknown (``unknown_role``)."""

    default_code = "access_rule"


class ChunkingError(UsageError, ValueError):
    """Chunking that makes no sense: ``unknown_strategy``, ``unknown_option`` or ``bad_option``."""

    default_code = "bad_option"


class SettingsError(UsageError):
    """A setting that is unknown, unreadable or of the wrong kind."""

    default_code = "settings"


class GoldenSetError(UsageError):
    """Labelled questions that are missing, unreadable, contradictory or too few for what was asked."""

    default_code = "golden_set"


class SourceError(EvidenceDeskError):
    """One source could not be read. The other sources of the same run are not affected."""

    default_code = "source"


class MetadataError(SourceError):
    """Front matter or a folder manifest is wrong; names the file, the line and the key."""

    default_code = "metadata"


class ParseError(SourceError):
    """Content that cannot be parsed.

    Codes: ``encrypted``, ``damaged``, ``unsupported``, ``no_text``, ``too_large``, ``timeout``,
    ``memory``, ``refused`` (hostile content), ``parser_crashed``.
    """

    default_code = "damaged"


class IndexingError(EvidenceDeskError):
    """The index cannot be used as asked."""

    default_code = "index"


class IndexMismatchError(IndexingError):
    """The index was made with another model, chunking or schema; the hint rebuilds it."""

    default_code = "index_mismatch"


class IndexDamagedError(IndexingError):
    """The file is not an EvidenceDesk index (``index_not_ours``) or is damaged (``index_damaged``)."""

    default_code = "index_damaged"


class IndexUnavailableError(IndexingError):
    """The index is there but not now: ``index_busy``, ``index_read_only``, ``disk_full``, ``index_missing``."""

    default_code = "index_unavailable"


class ModelError(EvidenceDeskError):
    """A semantic model or a generator failed."""

    default_code = "model"


class ModelMissingError(ModelError):
    """A model that has not been pulled, or an extra that is not installed."""

    default_code = "model_missing"


class GenerationError(ModelError):
    """The generator failed after its bounded retries (``timeout``, ``model_error``)."""

    default_code = "model_error"


class ProviderError(GenerationError):
    """One call to a provider failed (``timeout``, ``model_error``).

    Its message is for the operator and holds nothing that the provider wrote but a short code, so
    that no key, question or document reaches a log.

    Attributes:
        retryable: whether the same call may succeed later.
        retry_after: seconds to wait before that, as the provider asked; None when it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.retryable = retryable
        self.retry_after = retry_after


class CallCancelledError(GenerationError):
    """Whoever asked has gone, so the call was stopped. Not a failure of the provider."""

    default_code = "cancelled"


class NotificationError(EvidenceDeskError):
    """A notice was not taken. Its message holds no content, no secret and nothing of the receiver's."""

    default_code = "notification_failed"


class InternalError(EvidenceDeskError):
    """A bug of ours; please report it with the command that shows it."""

    default_code = "internal"
