"""What is checked of vectors before anybody may store or compare them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidencedesk.errors import ModelError


def checked_unit_vectors(
    vectors: NDArray[np.float32], count: int, dimensions: int, model: str
) -> NDArray[np.float32]:
    """The vectors at unit length.

    Args:
        vectors: what a model or a provider returned.
        count: how many texts it was given.
        dimensions: length that its vectors must have.
        model: its name, for the message.

    Returns:
        float32, shape (count, dimensions).

    Raises:
        ModelError: ``model_output`` for another shape, for a value that is not a finite number and
            for a vector of length zero.
    """
    if vectors.shape != (count, dimensions):
        raise _refused(model, f"an array of shape {vectors.shape}, not {(count, dimensions)}")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if bad.size:
        raise _refused(model, f"no direction for text {int(bad[0])}: length {lengths[bad[0]]}")
    unit: NDArray[np.float32] = (vectors / lengths[:, None]).astype(np.float32)
    return unit


def _refused(model: str, what: str) -> ModelError:
    return ModelError(
        f"The model {model!r} returned {what}.",
        code="model_output",
        hint="Check the model (evidencedesk models verify) or choose another.",
    )
