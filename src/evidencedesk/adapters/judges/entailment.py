"""A judge that runs an entailment model by ONNX Runtime, from a folder on this machine.

The quotes are the premise, the claim is the hypothesis; the claim is borne out when the model gives
entailment at least the folder's threshold (Dagan et al., The PASCAL Recognising Textual Entailment
Challenge, 2006). No model of this kind is right much more than three times in four on public sets of
claims: a second opinion, not proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as failures
from tokenizers import Encoding, Tokenizer

from evidencedesk.adapters.embedders.encoder import open_session
from evidencedesk.adapters.judges.manifest import read_judge_manifest
from evidencedesk.errors import ModelError

_FAILURES = (failures.Fail, failures.InvalidArgument, failures.RuntimeException)
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class EntailmentJudge:
    """The ``Judge`` port over a folder with ``judge.json``, a graph and a tokenizer.

    Safe for several threads: a run keeps nothing.
    """

    def __init__(self, directory: Path) -> None:
        """Open the model.

        Raises:
            ModelError: ``judge_directory``; ``model_damaged`` when a file cannot be opened;
                ``model_incompatible`` when the graph is no classifier of word pieces.
        """
        self._manifest = read_judge_manifest(directory)
        self._path = directory / self._manifest.graph
        self.name = self._manifest.name
        self._tokenizer = _open_tokenizer(directory / self._manifest.tokenizer)
        self._tokenizer.enable_truncation(self._manifest.max_tokens, strategy="only_first")
        self._session = open_session(self._path)
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        unknown = sorted(set(self._inputs) - _INPUTS)
        if unknown or "input_ids" not in self._inputs:
            raise self._incompatible(f"its inputs are {', '.join(self._inputs)}")

    def supports(self, claim: str, quotes: Sequence[str]) -> bool:
        """Whether the quotes entail the claim.

        Raises:
            ModelError: ``claim_too_long``, ``model_failed``, ``model_incompatible`` or
                ``model_output``.
        """
        return self.entailment(" ".join(quotes), claim) >= self._manifest.threshold

    def entailment(self, premise: str, hypothesis: str) -> float:
        """Probability that ``premise`` entails ``hypothesis``, in [0, 1]; a long premise is cut.

        Raises:
            ModelError: see ``supports``.
        """
        logits = self._run(self._encoded(premise, hypothesis))
        if self._manifest.entailment >= logits.size:
            raise self._incompatible(f"it has {logits.size} outputs")
        if not np.isfinite(logits).all():
            raise ModelError(
                f"{str(self._path)!r} gave a value that is no number.", code="model_output"
            )
        odds = np.exp(logits - logits.max())
        return float(odds[self._manifest.entailment] / odds.sum())

    def _encoded(self, premise: str, hypothesis: str) -> Encoding:
        # A lone surrogate is one code point that UTF-8 cannot carry.
        first, second = (
            text.encode("utf-8", "replace").decode("utf-8") for text in (premise, hypothesis)
        )
        alone = len(self._tokenizer.encode(second, add_special_tokens=False).ids)
        if alone > self._manifest.max_tokens // 2:
            raise ModelError(
                f"The claim has {alone} word pieces; {self.name!r} reads "
                f"{self._manifest.max_tokens} with its quotes.",
                code="claim_too_long",
            )
        return self._tokenizer.encode(first, second)

    def _run(self, encoding: Encoding) -> NDArray[np.float64]:
        values = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([values[name]], np.int64) for name in self._inputs}
        try:
            outputs = self._session.run(None, feed)
        except _FAILURES as error:
            raise ModelError(
                f"Running {str(self._path)!r} failed: {str(error).strip().splitlines()[0][:300]}",
                code="model_failed",
            ) from error
        logits = np.asarray(outputs[0], np.float64)
        if logits.ndim != 2 or len(logits) != 1 or logits.size < 2:
            raise self._incompatible(f"its output has the shape {logits.shape}")
        return np.asarray(logits[0])

    def _incompatible(self, why: str) -> ModelError:
        return ModelError(
            f"{str(self._path)!r} is no entailment model that we can run: {why}.",
            code="model_incompatible",
            hint=f"Inputs must be among {', '.join(sorted(_INPUTS))}; the first output is one row "
            "with a number per label, and judge.json says which is entailment.",
        )


def _open_tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{str(path)!r} cannot be opened: {error}",
            code="model_damaged",
            hint="Put the tokenizer.json of the model there.",
        ) from error
    tokenizer.no_padding()
    return tokenizer
