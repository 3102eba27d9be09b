"""Fewer dimensions for token vectors that are stored: the matrices that ship with known models.

A matrix holds the leading eigenvectors of the second moments of a model's token vectors (principal
components without centring, so that products stay near to cosines; Jolliffe, Principal Component
Analysis, 2002). ``python -m benchmarks.token_projection`` fits it on our sample corpora, and on
nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.models.catalogue import CATALOGUE, TOKENIZER
from evidencedesk.adapters.models.manifest import ModelManifest, sha256_of

_SHIPPED = {"minilm": Path(__file__).with_name("minilm_tokens.npy")}


@dataclass(frozen=True, slots=True, eq=False)
class TokenProjection:
    """A matrix that shortens token vectors.

    Attributes:
        matrix: shape (the model's dimensions, dimensions kept), float32.
        revision: hash of its file, ``sha256:<hex>``.
    """

    matrix: NDArray[np.float32]
    revision: str

    def applied(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vectors in fewer dimensions, at unit length; one without a part in them stays zeros."""
        # Not by BLAS: on a busy machine its threads wait longer for one another than this takes.
        shortened = np.einsum("td,dk->tk", vectors, self.matrix)
        lengths = np.linalg.norm(shortened, axis=1, keepdims=True)
        unit: NDArray[np.float32] = shortened / np.maximum(lengths, np.finfo(np.float32).tiny)
        return unit


def read_projection(path: Path) -> TokenProjection:
    """The matrix in a ``.npy`` file."""
    return TokenProjection(
        np.load(path, allow_pickle=False).astype(np.float32), f"sha256:{sha256_of(path)}"
    )


def shipped_projection(manifest: ModelManifest) -> TokenProjection | None:
    """The matrix that ships for a known model; None for any other, whatever its name."""
    known, path = CATALOGUE.get(manifest.name), _SHIPPED.get(manifest.name)
    if known is None or path is None:
        return None
    if manifest.sha256.get(TOKENIZER) != known.files[TOKENIZER]:
        return None
    return read_projection(path)
