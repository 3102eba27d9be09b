"""What a model directory says of itself.

A directory of ours holds ``evidencedesk-model.json``, which names every other file with its hash.
A directory saved by sentence-transformers with an ONNX export has the same facts in several files,
and is read as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evidencedesk.errors import ModelError

MANIFEST = "evidencedesk-model.json"
POOLINGS = ("mean", "cls")

_HINT = (
    "A model directory holds tokenizer.json and either evidencedesk-model.json or, as saved by "
    "sentence-transformers, onnx/model.onnx."
)


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What is known of a model before it is opened.

    Attributes:
        name: its name; that of the directory when nothing says otherwise.
        graphs: precision to the files of its weights, the graph first; the first entry is the
            default. Paths are relative to the directory.
        tokenizer: file of the tokenizer.
        max_tokens: texts are cut at this many word pieces.
        languages: primary BCP 47 subtags that the model knows.
        query_prefix: put before a question.
        passage_prefix: put before a passage.
        pooling: ``mean`` of the token vectors or the first one, ``cls``; for graphs that give
            tokens only.
        dimensions: length of a vector, 0 while unknown.
        sha256: file to its hash, hex; empty where the directory came without.
    """

    name: str
    graphs: Mapping[str, tuple[str, ...]]
    tokenizer: str = "tokenizer.json"
    max_tokens: int = 256
    languages: tuple[str, ...] = ("en",)
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"
    dimensions: int = 0
    sha256: Mapping[str, str] = field(default_factory=dict)

    def write(self, directory: Path) -> None:
        """Write it to its file in ``directory``."""
        text = json.dumps({"format": 1, **asdict(self)}, indent=2, ensure_ascii=False)
        (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")


class _ManifestFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: int
    name: str
    graphs: dict[str, list[str]]
    tokenizer: str = "tokenizer.json"
    max_tokens: int = 256
    languages: list[str] = ["en"]
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"
    dimensions: int = 0
    sha256: dict[str, str] = {}


def read_manifest(directory: Path) -> ModelManifest:
    """What the directory says of itself.

    Raises:
        ModelError: ``model_directory`` when it is not a model directory or its manifest is wrong;
            ``model_incompatible`` when it describes a model that we cannot run.
    """
    if not directory.is_dir():
        raise _not_a_model(directory, "it is not a directory")
    manifest = _ours(directory) if (directory / MANIFEST).exists() else _plain(directory)
    inside = [name for files in manifest.graphs.values() for name in files]
    for name in (*inside, manifest.tokenizer):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise _not_a_model(directory, f"it names {name!r}, which lies outside")
        if not (directory / name).is_file():
            raise _not_a_model(directory, f"{name!r} is missing")
    if manifest.pooling not in POOLINGS:
        raise ModelError(
            f"The model in {str(directory)!r} pools by {manifest.pooling!r}.",
            code="model_incompatible",
            hint=f"Only these poolings are supported: {', '.join(POOLINGS)}.",
        )
    return manifest


def sha256_of(*paths: Path) -> str:
    """SHA-256 of the files one after the other, hex."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _ours(directory: Path) -> ModelManifest:
    try:
        text = (directory / MANIFEST).read_text(encoding="utf-8")
        read = _ManifestFile.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise _not_a_model(directory, f"{MANIFEST} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise _not_a_model(directory, f"{MANIFEST} is wrong at {where}: {first['msg']}") from error
    if read.format != 1 or not read.graphs or not all(read.graphs.values()):
        raise _not_a_model(directory, f"{MANIFEST} is not of format 1 with at least one graph")
    fields = read.model_dump(exclude={"format", "graphs", "languages"})
    graphs = {precision: tuple(files) for precision, files in read.graphs.items()}
    return ModelManifest(graphs=graphs, languages=tuple(read.languages), **fields)


def _plain(directory: Path) -> ModelManifest:
    graph = _only_graph(directory)
    prompts = _json(directory, "config_sentence_transformers.json").get("prompts") or {}
    limit = _json(directory, "sentence_bert_config.json").get("max_seq_length")
    limit = limit or _json(directory, "config.json").get("max_position_embeddings")
    pooling = _json(directory, "1_Pooling/config.json")
    modes = [
        key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for key, value in pooling.items()
        if key.startswith("pooling_mode_") and value is True
    ]
    return ModelManifest(
        name=directory.resolve().name,
        graphs={"onnx": (graph, *_external_data(directory, graph))},
        max_tokens=limit if isinstance(limit, int) and limit > 2 else 256,
        query_prefix=str(prompts.get("query") or ""),
        passage_prefix=str(prompts.get("passage") or prompts.get("document") or ""),
        pooling="+".join(modes) or "mean",
    )


def _only_graph(directory: Path) -> str:
    for name in ("onnx/model.onnx", "model.onnx"):
        if (directory / name).is_file():
            return name
    found = sorted(
        str(path.relative_to(directory))
        for path in (*directory.glob("*.onnx"), *directory.glob("onnx/*.onnx"))
    )
    if len(found) == 1:
        return found[0]
    raise _not_a_model(
        directory, f"there are several graphs: {', '.join(found)}" if found else "no graph in it"
    )


def _external_data(directory: Path, graph: str) -> list[str]:
    # A graph may keep its weights in files beside it; exporters name them after the graph.
    beside = (directory / graph).parent.glob(f"{Path(graph).stem}*")
    return sorted(
        str(path.relative_to(directory))
        for path in beside
        if path.is_file() and path.suffix not in (".onnx", ".json")
    )


def _json(directory: Path, name: str) -> dict[str, Any]:
    path = directory / name
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _not_a_model(directory, f"{name} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _not_a_model(directory, f"{name} is not a JSON object")
    return value


def _not_a_model(directory: Path, why: str) -> ModelError:
    return ModelError(
        f"{str(directory)!r} is not a model directory: {why}.", code="model_directory", hint=_HINT
    )
