"""One text in, its vectors out: a tokenizer and an ONNX graph, opened and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as failures
from tokenizers import Encoding, Tokenizer

from evidencedesk.errors import ModelError

_FAILURES = (
    failures.Fail,
    failures.InvalidArgument,
    failures.InvalidGraph,
    failures.InvalidProtobuf,
    failures.NoSuchFile,
    failures.NotImplemented,
    failures.RuntimeException,
)
_SENTENCE = "sentence_embedding"
_TOKENS = ("token_embeddings", "last_hidden_state")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class SentenceEncoder:
    """Runs a graph on one text at a time, on the calling thread. Safe for several threads.

    Args:
        graph: the ONNX file.
        tokenizer: the ``tokenizer.json`` file.
        max_tokens: texts are cut at this many word pieces, special ones counted.
        pooling: ``mean`` or ``cls``, for a graph without an output of its own for sentences.

    Raises:
        ModelError: ``model_damaged`` when a file cannot be opened; ``model_incompatible`` when the
            graph wants inputs that we do not know or gives no output that we do.
    """

    def __init__(self, graph: Path, tokenizer: Path, *, max_tokens: int, pooling: str) -> None:
        self._path = graph
        self._pooling = pooling
        self._tokenizer = _open_tokenizer(tokenizer, max_tokens)
        self._session = open_session(graph)
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        outputs = [entry.name for entry in self._session.get_outputs()]
        self._sentence_output = _SENTENCE if _SENTENCE in outputs else None
        self._token_output = next((name for name in _TOKENS if name in outputs), None)
        unknown = sorted(set(self._inputs) - _INPUTS)
        if unknown or "input_ids" not in self._inputs:
            raise _incompatible(graph, f"its inputs are {self._inputs}")
        if self._sentence_output is None and self._token_output is None:
            raise _incompatible(graph, f"its outputs are {outputs}")

    def sentence(self, text: str) -> NDArray[np.float32]:
        """The pooled vector of the text, of any length (not normalised), shape (dimensions,).

        Raises:
            ModelError: ``model_failed`` when the runtime refuses.
        """
        encoding = self._encode(text)
        if self._sentence_output is not None:
            return self._run(encoding, self._sentence_output)
        tokens = self._run(encoding, str(self._token_output))
        pooled: NDArray[np.float32] = tokens[0] if self._pooling == "cls" else tokens.mean(axis=0)
        return pooled

    def tokens(self, text: str) -> tuple[Encoding, NDArray[np.float32]]:
        """The text's encoding and the last layer's vector of each token, special ones included.

        Raises:
            ModelError: ``model_failed``, or ``model_incompatible`` for a graph without that output.
        """
        if self._token_output is None:
            raise _incompatible(self._path, "it gives no token vectors")
        encoding = self._encode(text)
        return encoding, self._run(encoding, self._token_output)

    def _encode(self, text: str) -> Encoding:
        # A lone surrogate is one code point that UTF-8 cannot carry; "?" keeps every offset.
        return self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"))

    def _run(self, encoding: Encoding, output: str) -> NDArray[np.float32]:
        values = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([values[name]], np.int64) for name in self._inputs}
        try:
            result: NDArray[np.float32] = self._session.run([output], feed)[0]
        except _FAILURES as error:
            raise ModelError(
                f"Running {str(self._path)!r} failed: {_first_line(error)}",
                code="model_failed",
                hint="Check the model: evidencedesk models verify.",
            ) from error
        return np.asarray(result[0], np.float32)


def open_session(graph: Path) -> onnxruntime.InferenceSession:
    """A session in which every run stays on the thread that asks for it.

    The runtime's own memory pool is off: runs side by side would wait for its lock.

    Raises:
        ModelError: ``model_damaged``.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except _FAILURES as error:
        raise _damaged(graph, _first_line(error)) from error


def _open_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from error
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise _damaged(path, _first_line(error)) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300]


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{str(path)!r} cannot be opened: {why}",
        code="model_damaged",
        hint="Pull the model again (evidencedesk models pull) or repair the directory.",
    )


def _incompatible(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{str(path)!r} is not a sentence encoder that we can run: {why}.",
        code="model_incompatible",
        hint=f"Inputs must be among {', '.join(sorted(_INPUTS))}; outputs: "
        f"{_SENTENCE} or one of {', '.join(_TOKENS)}.",
    )
