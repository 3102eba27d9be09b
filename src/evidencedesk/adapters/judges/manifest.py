"""What a folder with an entailment model says of itself: ``judge.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evidencedesk.errors import ModelError

FILE_NAME = "judge.json"


class JudgeManifest(BaseModel):
    """One entailment model.

    Attributes:
        name: what answers call it.
        graph: the ONNX file, in the folder.
        tokenizer: the tokenizer's file, in the folder.
        entailment: index of the output that means "the premise entails the hypothesis".
        threshold: least probability of entailment that counts as borne out, in (0, 1].
        max_tokens: word pieces of premise and hypothesis together, special ones counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1)]
    graph: str = "model.onnx"
    tokenizer: str = "tokenizer.json"
    entailment: Annotated[int, Field(ge=0)]
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5
    max_tokens: Annotated[int, Field(ge=8)] = 512


def read_judge_manifest(directory: Path) -> JudgeManifest:
    """What ``judge.json`` in ``directory`` says.

    Raises:
        ModelError: ``judge_directory`` when it is missing or says something else.
    """
    path = directory / FILE_NAME
    try:
        return JudgeManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise _unusable(path, type(error).__name__) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise _unusable(path, f"{place}: {first['msg']}") from error


def _unusable(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{str(path)!r} cannot be used: {why}.",
        code="judge_directory",
        hint="A judge is a folder with an ONNX graph, a tokenizer.json and a judge.json; "
        "docs/verification.md says what that holds.",
    )
