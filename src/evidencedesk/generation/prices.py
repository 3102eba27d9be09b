"""What tokens cost, from a table in TOML that anybody can edit.

One table per model, with dollars per million tokens::

    ["gpt-4o-mini"]
    input_usd = 0.15
    output_usd = 0.60
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evidencedesk.errors import SettingsError
from evidencedesk.model import Usage

_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)\Z")
_Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """Dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_usd: _Price
    output_usd: _Price


_TABLE = TypeAdapter(dict[str, Price])


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model name."""

    models: Mapping[str, Price]

    def of(self, model: str | None) -> Price | None:
        """The price of ``model``; a dated name (``…-2024-08-06``) has that of its family."""
        name = model or ""
        return self.models.get(name) or self.models.get(_DATE.sub("", name))

    def charged(self, usage: Usage, model: str | None) -> Usage:
        """``usage`` with its cost in dollars; unchanged for a model without a price."""
        price = self.of(model)
        if price is None:
            return usage
        cost = usage.input_tokens * price.input_usd + usage.output_tokens * price.output_usd
        return replace(usage, cost_usd=cost / 1e6)


def read_prices(text: str, place: str) -> dict[str, Price]:
    """The table in ``text``, which came from ``place``.

    Raises:
        SettingsError: ``bad_prices`` when it is no such table, naming the place and what is wrong.
    """
    try:
        return _TABLE.validate_python(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise SettingsError(
            f"The prices in {place} cannot be read: {error}.",
            code="bad_prices",
            hint='One table per model: ["name"] with input_usd and output_usd per million tokens.',
        ) from error
