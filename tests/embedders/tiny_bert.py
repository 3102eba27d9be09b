"""A BERT of a few hundred numbers, and what it computes, written without ONNX."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from evidencedesk.adapters.models.catalogue import BertShape

SHAPE = BertShape(layers=2, heads=2)
WIDTH, INNER, POSITIONS = 8, 12, 16
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "bike", "refund", "##s", "query", "passage", ":")

Tensors = dict[str, NDArray[np.float32]]


def random_tensors(seed: int) -> Tensors:
    """Weights named as in the original BERT."""
    generator = np.random.default_rng(seed)

    def draw(*shape: int, mean: float = 0.0) -> NDArray[np.float32]:
        return (mean + 0.3 * generator.standard_normal(shape)).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": draw(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": draw(POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": draw(2, WIDTH),
    }
    linear = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (INNER, WIDTH),
        "output.dense": (WIDTH, INNER),
    }
    prefixes = [f"encoder.layer.{layer}" for layer in range(SHAPE.layers)]
    for prefix in prefixes:
        for name, (rows, columns) in linear.items():
            tensors[f"{prefix}.{name}.weight"] = draw(rows, columns)
            tensors[f"{prefix}.{name}.bias"] = draw(rows)
    norms = [
        "embeddings",
        *(f"{p}.{part}" for p in prefixes for part in ("attention.output", "output")),
    ]
    for norm in norms:
        tensors[f"{norm}.LayerNorm.weight"] = draw(WIDTH, mean=1.0)
        tensors[f"{norm}.LayerNorm.bias"] = draw(WIDTH)
    return tensors


def write_safetensors(path: Path, tensors: Tensors) -> None:
    """Write the format by hand: length, header, data."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_tokenizer(path: Path) -> None:
    """A word-piece tokenizer over ``WORDS``."""
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, special)
    tokenizer.save(str(path))


def encode(tensors: Tensors, ids: Sequence[int]) -> NDArray[np.float64]:
    """The last layer for one text, by the formulas of the paper, in float64."""
    get = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}

    def dense(prefix: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows @ get[f"{prefix}.weight"].T + get[f"{prefix}.bias"]

    def norm(prefix: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = rows - rows.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + SHAPE.epsilon)
        return (
            centred / deviation * get[f"{prefix}.LayerNorm.weight"]
            + get[f"{prefix}.LayerNorm.bias"]
        )

    rows = get["embeddings.word_embeddings.weight"][list(ids)]
    rows = rows + get["embeddings.position_embeddings.weight"][: len(ids)]
    rows = norm("embeddings", rows + get["embeddings.token_type_embeddings.weight"][0])
    size = WIDTH // SHAPE.heads
    for layer in range(SHAPE.layers):
        prefix = f"encoder.layer.{layer}"
        query, key, value = (
            dense(f"{prefix}.attention.self.{part}", rows) for part in ("query", "key", "value")
        )
        heads = []
        for head in range(SHAPE.heads):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, part])
        attended = dense(f"{prefix}.attention.output.dense", np.concatenate(heads, axis=1))
        rows = norm(f"{prefix}.attention.output", attended + rows)
        inner = dense(f"{prefix}.intermediate.dense", rows)
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        rows = norm(f"{prefix}.output", dense(f"{prefix}.output.dense", inner) + rows)
    return rows


def sentence(tensors: Tensors, ids: Sequence[int]) -> NDArray[np.float64]:
    """The mean of the last layer at unit length."""
    mean = encode(tensors, ids).mean(axis=0)
    return mean / np.linalg.norm(mean)
