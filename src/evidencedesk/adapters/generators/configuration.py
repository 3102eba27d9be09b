"""What an adapter needs to know to call a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

StructuredOutput = Literal["auto", "schema", "prompt"]
"""``schema`` sends the schema to the provider, ``prompt`` puts it among the rules, ``auto`` tries."""


@dataclass(frozen=True, slots=True)
class ModelConfiguration:
    """One model at one provider.

    Attributes:
        model: its name as the provider knows it; the path of a GGUF file for ``local``.
        base_url: address of the API, None for the provider's own.
        api_key: the secret, None for none; never shown and never logged.
        temperature: of sampling, None for the provider's default.
        structured_output: how the model is held to the schema.
        context_tokens: context window of a local model.
        threads: threads of a local model, 0 for one per core.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float | None = None
    structured_output: StructuredOutput = "auto"
    context_tokens: int = 8192
    threads: int = 0
