"""How a setting is declared: a field of a table, with default, help and unit."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1)]


def row(
    default: Any,
    help: str,  # noqa: A002 - the word that people know it by
    *,
    unit: str = "",
    sample: Any = None,
    path: bool = False,
    **limits: Any,
) -> Any:
    """One row; ``sample`` is shown in the written file where the default is "not set"."""
    extra = {"unit": unit, "sample": sample, "path": path}
    return Field(default=default, description=help, json_schema_extra=extra, **limits)


class Table(BaseModel):
    """A table of settings; its docstring says what it is about."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
