"""Reading a safetensors file: an 8-byte header length, a JSON header, then the raw tensors."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evidencedesk.errors import ModelError

_LENGTH = struct.Struct("<Q")


class Tensors(Protocol):
    """Float32 tensors by the names that the original BERT gives them."""

    def array(self, name: str) -> NDArray[np.float32]:
        """The tensor, in its own shape."""


class Weights:
    """The float32 tensors of one safetensors file, mapped into memory, not read.

    Raises:
        ModelError: ``model_damaged`` when the file is not in the safetensors format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
                self._header: dict[str, Any] = json.loads(file.read(length))
            self._start = _LENGTH.size + length
            self._data = np.memmap(path, np.uint8, mode="r")
        except (struct.error, ValueError, OverflowError) as error:
            raise _damaged(path, str(error)) from error

    def place(self, name: str) -> tuple[int, int, tuple[int, ...]]:
        """Byte offset in the file, length in bytes, and shape of a tensor.

        Raises:
            ModelError: ``model_damaged`` when there is none of this name in float32.
        """
        entry = self._header.get(name)
        if entry is None or entry.get("dtype") != "F32":
            raise _damaged(self.path, f"no float32 tensor {name!r}")
        first, last = entry["data_offsets"]
        if self._start + last > self._data.size:
            raise _damaged(self.path, f"tensor {name!r} ends after the file does")
        return self._start + first, last - first, tuple(entry["shape"])

    def array(self, name: str) -> NDArray[np.float32]:
        """The tensor, float32, in its own shape.

        Raises:
            ModelError: as :meth:`place`.
        """
        offset, length, shape = self.place(name)
        return self._data[offset : offset + length].view("<f4").reshape(shape)


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{str(path)!r} does not hold the weights expected: {why}.",
        code="model_damaged",
        hint="Pull the model again: evidencedesk models pull minilm.",
    )
