"""A real ONNX classifier of a few nodes: a claim is entailed when nearly all its words are quoted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

TEXT_OF_WORDS = """
[PAD] [UNK] [CLS] [SEP] bikes bike can cannot be returned sent back within days day 30 14 of delivery
the a new customers may return helmets are is . , opened
"""
WORDS = TEXT_OF_WORDS.split()
SPECIAL = 4
STEEPNESS = 20.0
NEARLY_ALL = 0.6


def write_judge(folder: Path, **manifest: object) -> Path:
    """A folder with the classifier; ``manifest`` replaces what ``judge.json`` says."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph(), str(folder / "model.onnx"))
    write_tokenizer(folder / "tokenizer.json")
    said = {"name": "tiny", "entailment": 1, "max_tokens": 64, **manifest}
    (folder / "judge.json").write_text(json.dumps(said), "utf-8")
    return folder


def write_tokenizer(path: Path) -> None:
    """Whole words, with the pair template of BERT."""
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", special
    )
    tokenizer.save(str(path))


def graph() -> onnx.ModelProto:
    """Labels: contradiction, entailment. The logit grows with the share of the claim's words quoted."""
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "n"])
    types = helper.make_tensor_value_info("token_type_ids", TensorProto.INT64, [1, "n"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 2])
    constants = {
        "special": np.array(SPECIAL, np.int64),
        "zero": np.array(0, np.int64),
        "across": np.array([2], np.int64),
        "down": np.array([1], np.int64),
        "least": np.array(NEARLY_ALL, np.float32),
        "steep": np.array([[-STEEPNESS, STEEPNESS]], np.float32),
        "one": np.array(1.0, np.float32),
    }
    nodes = [
        helper.make_node("GreaterOrEqual", ["input_ids", "special"], ["is_word"]),
        helper.make_node("Equal", ["token_type_ids", "zero"], ["in_premise"]),
        helper.make_node("Not", ["in_premise"], ["in_claim"]),
        helper.make_node("And", ["is_word", "in_premise"], ["premise"]),
        helper.make_node("And", ["is_word", "in_claim"], ["claim"]),
        helper.make_node("Unsqueeze", ["input_ids", "across"], ["rows"]),
        helper.make_node("Unsqueeze", ["input_ids", "down"], ["columns"]),
        helper.make_node("Equal", ["rows", "columns"], ["same"]),
        helper.make_node("Unsqueeze", ["premise", "down"], ["premise_columns"]),
        helper.make_node("And", ["same", "premise_columns"], ["quoted_pairs"]),
        helper.make_node("Cast", ["quoted_pairs"], ["quoted_numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["quoted_numbers", "across"], ["quoted"], keepdims=0),
        helper.make_node("Cast", ["claim"], ["claim_numbers"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["quoted", "claim_numbers"], ["found"]),
        helper.make_node("ReduceSum", ["found"], ["hits"], keepdims=0),
        helper.make_node("ReduceSum", ["claim_numbers"], ["words"], keepdims=0),
        helper.make_node("Max", ["words", "one"], ["some_words"]),
        helper.make_node("Div", ["hits", "some_words"], ["share"]),
        helper.make_node("Sub", ["share", "least"], ["excess"]),
        helper.make_node("Mul", ["excess", "steep"], ["logits"]),
    ]
    initial = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    body = helper.make_graph(nodes, "tiny-judge", [ids, types], [logits], initial)
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
