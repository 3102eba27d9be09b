"""Sentence vectors by ONNX Runtime, from a directory on this machine.

One text per run, several runs side by side on one session, one thread each. A quantised graph takes
the scale of its activations from everything in the run, so a batch would change the vector of a
text; alone, the same text gives the same bytes whatever it is embedded with and on however many
threads. Measured by ``python -m benchmarks.embed`` on two cores, MiniLM, texts per second:

====================================  ===============  ===============  =========
int8 / fp32                           14 tokens        98 tokens        drift
====================================  ===============  ===============  =========
alone, two single-thread sessions     1507 / 439       304 / 97         none
alone, one session on two threads     718 / 435        173 / 63         none
padded batches of 32, two sessions    1694 / 582       164 / 63         .972 / 1
this module                           1316 / 559       301 / 85         none
====================================  ===============  ===============  =========

Drift is the smallest cosine of a text alone and in its batch. Eight in nine parts of the best rate
are worth having no drift. To open takes 80 ms, a question 1.6 ms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.cores import usable_cores
from evidencedesk.adapters.embedders.checks import checked_unit_vectors
from evidencedesk.adapters.embedders.encoder import SentenceEncoder
from evidencedesk.adapters.embedders.token_projection import TokenProjection, shipped_projection
from evidencedesk.adapters.models.manifest import ModelManifest, read_manifest, sha256_of
from evidencedesk.errors import ModelError
from evidencedesk.model import EmbeddingSpec, Span, TokenVectors

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What settings may say in place of a model's own declaration; None keeps it."""

    languages: tuple[str, ...] | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None


class OnnxEmbedder:
    """The ``Embedder`` port over a model directory (see ``adapters.models.manifest``).

    Safe for use by several threads.

    Args:
        directory: the model directory.
        precision: which of its graphs to run; its first when None.
        threads: how many texts are embedded side by side; one per available core when None.
        overrides: settings that replace the model's own languages and prefixes.
        keep_tokens: token vectors are to be stored with each chunk, shortened where a matrix for
            this model ships, else as they are.

    Raises:
        ModelError: ``model_directory``; ``model_damaged`` when a file cannot be opened or does not
            have its recorded hash; ``model_incompatible`` when it is not a sentence encoder.
    """

    def __init__(
        self,
        directory: Path,
        *,
        precision: str | None = None,
        threads: int | None = None,
        overrides: Overrides | None = None,
        keep_tokens: bool = False,
    ) -> None:
        manifest = read_manifest(directory)
        chosen = _precision(directory, manifest, precision)
        self._threads = max(1, threads or usable_cores())
        revision = _checked_revision(directory, manifest, chosen)
        self._encoder = SentenceEncoder(
            directory / manifest.graphs[chosen][0],
            directory / manifest.tokenizer,
            max_tokens=manifest.max_tokens,
            pooling=manifest.pooling,
        )
        dimensions = manifest.dimensions or self._encoder.sentence("width").size
        self._projection = shipped_projection(manifest) if keep_tokens else None
        spec = _spec(manifest, chosen, revision, dimensions, overrides or Overrides())
        self._spec = _keeping_tokens(spec, self._projection) if keep_tokens else spec

    @property
    def spec(self) -> EmbeddingSpec:
        """What the model is."""
        return self._spec

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts, shape (len(texts), dimensions), float32.

        Raises:
            ModelError: ``model_output``, ``model_failed``.
        """
        return self._unit_vectors([self._spec.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector of the question, shape (dimensions,), float32.

        Raises:
            ModelError: ``model_output``, ``model_failed``.
        """
        vector: NDArray[np.float32] = self._unit_vectors([self._spec.query_prefix + text])[0]
        return vector

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """Token vectors of each text, as encoded inside it; special and prefix tokens left out.

        Raises:
            ModelError: ``model_output``, ``model_failed``, or ``model_incompatible`` when the graph
                gives sentences only.
        """
        prefix = self._spec.query_prefix if query else self._spec.passage_prefix
        return self._side_by_side(lambda text: self._tokens(prefix, text), texts)

    def stored_tokens(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """Token vectors as an index keeps them, unit length, shape (tokens, ``token_dimensions``).

        Raises:
            ModelError: as :meth:`token_vectors`.
        """
        tokens = self.token_vectors(texts, query=query)
        if self._projection is None:
            return tokens
        return [replace(each, vectors=self._projection.applied(each.vectors)) for each in tokens]

    def _unit_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = self._side_by_side(self._encoder.sentence, texts)
        if not rows:
            return np.empty((0, self._spec.dimensions), np.float32)
        return checked_unit_vectors(
            np.stack(rows), len(texts), self._spec.dimensions, self._spec.name
        )

    def _tokens(self, prefix: str, text: str) -> TokenVectors:
        encoding, vectors = self._encoder.tokens(prefix + text)
        # Special tokens have the empty span (0, 0), the prefix's tokens end within it.
        shift = len(prefix)
        kept = [n for n, (start, end) in enumerate(encoding.offsets) if end > max(start, shift)]
        unit = checked_unit_vectors(
            vectors[kept], len(kept), self._spec.dimensions, self._spec.name
        )
        spans = (encoding.offsets[index] for index in kept)
        return TokenVectors(
            unit, tuple(Span(max(start - shift, 0), end - shift) for start, end in spans)
        )

    def _side_by_side(self, work: Callable[[str], _Result], texts: Sequence[str]) -> list[_Result]:
        workers = min(self._threads, len(texts))
        if workers <= 1:
            return [work(text) for text in texts]
        waiting = deque(enumerate(texts))
        results: dict[int, _Result] = {}
        with ThreadPoolExecutor(workers) as pool:
            try:
                for done in pool.map(lambda _: _drain(work, waiting), range(workers)):
                    results.update(done)
            finally:
                waiting.clear()  # after an error or Ctrl-C the workers stop at their current text
        return [results[index] for index in range(len(texts))]


def _drain(
    work: Callable[[str], _Result], waiting: deque[tuple[int, str]]
) -> list[tuple[int, _Result]]:
    results: list[tuple[int, _Result]] = []
    while True:
        try:
            index, text = waiting.popleft()
        except IndexError:
            return results
        results.append((index, work(text)))


def _precision(directory: Path, manifest: ModelManifest, wanted: str | None) -> str:
    chosen = wanted or next(iter(manifest.graphs))
    if chosen not in manifest.graphs:
        raise ModelError(
            f"The model in {str(directory)!r} has no precision {chosen!r}.",
            code="model_directory",
            hint=f"It has: {', '.join(manifest.graphs)}.",
        )
    return chosen


def _checked_revision(directory: Path, manifest: ModelManifest, precision: str) -> str:
    """Hash of the files that will run; for one file, its own SHA-256."""
    names = manifest.graphs[precision]
    hashes = {name: sha256_of(directory / name) for name in (*names, manifest.tokenizer)}
    for name, found in hashes.items():
        if manifest.sha256.get(name, found) != found:
            raise ModelError(
                f"{str(directory / name)!r} is damaged: its SHA-256 is {found}, "
                f"not {manifest.sha256[name]}.",
                code="model_damaged",
                hint=f"Pull it again: evidencedesk models pull {manifest.name}.",
            )
    if len(names) == 1:
        return f"sha256:{hashes[names[0]]}"
    return f"sha256:{sha256_of(*(directory / name for name in names))}"


def _keeping_tokens(spec: EmbeddingSpec, projection: TokenProjection | None) -> EmbeddingSpec:
    if projection is None:
        return replace(spec, token_dimensions=spec.dimensions)
    return replace(
        spec,
        token_dimensions=projection.matrix.shape[1],
        token_projection=projection.revision,
    )


def _spec(
    manifest: ModelManifest, precision: str, revision: str, dimensions: int, overrides: Overrides
) -> EmbeddingSpec:
    default = precision == next(iter(manifest.graphs))
    own = (manifest.languages, manifest.query_prefix, manifest.passage_prefix)
    said = (overrides.languages, overrides.query_prefix, overrides.passage_prefix)
    languages, query_prefix, passage_prefix = (
        declared if setting is None else setting
        for declared, setting in zip(own, said, strict=True)
    )
    return EmbeddingSpec(
        name=manifest.name if default else f"{manifest.name}:{precision}",
        revision=revision,
        dimensions=dimensions,
        max_tokens=manifest.max_tokens,
        query_prefix=str(query_prefix),
        passage_prefix=str(passage_prefix),
        languages=tuple(languages),
    )
