"""Builds the ONNX graph of a BERT sentence encoder from its weights (Devlin et al., NAACL 2019).

Inputs are ``input_ids`` and ``attention_mask``, int64, (batch, tokens). Outputs are
``sentence_embedding``, the mean of the last layer over the mask at unit length, (batch, dimensions),
and ``token_embeddings``, the last layer itself, (batch, tokens, dimensions).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from evidencedesk.adapters.models.catalogue import BertShape
from evidencedesk.adapters.models.layers import FloatLayers, Graph, Int8Layers, Layers
from evidencedesk.adapters.models.weights import Tensors, Weights

OPSET = 20
"""The first operator set with the exact GELU (Hendrycks and Gimpel, 2016) as an operator."""

_IR_VERSION = 9
_MASKED = -1e9
_WORDS = "embeddings.word_embeddings.weight"
_NORM = "embeddings.LayerNorm.bias"

PRECISIONS: dict[str, Callable[[Graph, Weights], Layers]] = {
    "int8": Int8Layers,
    "fp32": FloatLayers,
}


def build_graph(weights: Weights, shape: BertShape, precision: str, path: Path) -> None:
    """Write the graph of a BERT encoder to ``path``.

    The same weights give the same bytes on every machine. An ``fp32`` graph is small and points
    into the safetensors file, which must stay beside it; an ``int8`` graph stands alone.

    Args:
        weights: tensors named as in the original BERT.
        shape: what the tensors do not tell.
        precision: ``int8`` or ``fp32``.
        path: file to write.

    Raises:
        ModelError: ``model_damaged`` when a tensor is missing.
    """
    write_graph(PRECISIONS[precision](Graph(), weights), shape, weights, path)


def write_graph(
    layers: Layers,
    shape: BertShape,
    weights: Tensors,
    path: Path,
    *,
    centre: NDArray[np.float32] | None = None,
) -> None:
    """Write the graph whose weights ``layers`` hold; see :func:`build_graph`.

    ``centre``, shape (dimensions,), is taken from every token vector, and so from their mean: it is
    what all texts have in common, and hides what they have not (Mu and Viswanath, ICLR 2018).
    """
    encoder = _Encoder(layers, shape, weights.array(_NORM).size, centre)
    encoder.encode()
    model = helper.make_model(
        encoder.finished(),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="evidencedesk",
    )
    path.write_bytes(model.SerializeToString(deterministic=True))


class _Encoder:
    """Between layers the values are rows, (batch * tokens, dimensions)."""

    def __init__(
        self,
        layers: Layers,
        shape: BertShape,
        dimensions: int,
        centre: NDArray[np.float32] | None,
    ) -> None:
        self.centre = centre
        self.layers = layers
        self.graph = graph = layers.graph
        self.shape = shape
        self.dimensions = dimensions
        self.size = graph.node("Shape", "input_ids")
        self.row_shape = graph.integers(-1, dimensions)
        self.mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)

    def encode(self) -> None:
        """Add everything from ids to the two outputs."""
        rows = self.embeddings()
        bias = self.attention_bias()
        for layer in range(self.shape.layers):
            prefix = f"encoder.layer.{layer}"
            attended = self.attention(rows, f"{prefix}.attention", bias)
            norm = f"{prefix}.attention.output.LayerNorm"
            rows = self.normalised(self.graph.node("Add", attended, rows), norm)
            fed = self.feed_forward(rows, prefix, norm)
            rows = self.normalised(self.graph.node("Add", fed, rows), f"{prefix}.output.LayerNorm")
        self.outputs(rows)

    def embeddings(self) -> str:
        """Word, position and segment, added and normalised."""
        graph = self.graph
        words = self.layers.look_up(_WORDS, "input_ids")
        tokens = graph.node("Slice", self.size, graph.integers(1), graph.integers(2))
        table = self.layers.vector("embeddings.position_embeddings.weight")
        positions = graph.node("Slice", table, graph.integers(0), tokens, graph.integers(0))
        segments = self.layers.vector("embeddings.token_type_embeddings.weight")
        segment = graph.node("Gather", segments, graph.constant(np.array(0, np.int64)))
        total = graph.node("Add", words, graph.node("Add", positions, segment))
        return graph.node("Reshape", self.normalised(total, "embeddings.LayerNorm"), self.row_shape)

    def attention_bias(self) -> str:
        """0 for tokens that count and very negative for padding, (batch, 1, 1, tokens)."""
        graph = self.graph
        inverse = graph.node("Sub", graph.number(1), self.mask)
        bias = graph.node("Mul", inverse, graph.number(_MASKED))
        return graph.node("Unsqueeze", bias, graph.integers(1, 2))

    def attention(self, rows: str, prefix: str, bias: str) -> str:
        """Multi-head self-attention and its output layer."""
        graph = self.graph
        width = self.dimensions // self.shape.heads
        size = graph.node("Concat", self.size, graph.integers(self.shape.heads, width), axis=0)
        names = [f"{prefix}.self.{part}" for part in ("query", "key", "value")]
        query, key, value = (
            graph.node("Reshape", part, size) for part in self.layers.project(rows, names)
        )
        query = graph.node("Transpose", query, perm=[0, 2, 1, 3])
        key = graph.node("Transpose", key, perm=[0, 2, 3, 1])
        value = graph.node("Transpose", value, perm=[0, 2, 1, 3])
        scale = graph.number(width**-0.5)
        scores = graph.node("MatMul", graph.node("Mul", query, scale), key)
        weights = graph.node("Softmax", graph.node("Add", scores, bias), axis=-1)
        context = graph.node("Transpose", graph.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        context = graph.node("Reshape", context, self.row_shape)
        return self.layers.project(context, [f"{prefix}.output.dense"])[0]

    def feed_forward(self, rows: str, prefix: str, norm: str) -> str:
        """The two layers around the exact GELU."""
        wide = self.layers.project(rows, [f"{prefix}.intermediate.dense"], norm)[0]
        return self.layers.project(
            self.graph.node("Gelu", wide, approximate="none"), [f"{prefix}.output.dense"]
        )[0]

    def normalised(self, value: str, prefix: str) -> str:
        """Layer normalisation (Ba et al., 2016)."""
        return self.graph.node(
            "LayerNormalization",
            value,
            self.layers.vector(f"{prefix}.weight"),
            self.layers.vector(f"{prefix}.bias"),
            axis=-1,
            epsilon=self.shape.epsilon,
        )

    def outputs(self, rows: str) -> None:
        """The last layer, off its centre, and its mean over the mask at unit length."""
        graph = self.graph
        if self.centre is not None:
            rows = graph.node("Sub", rows, graph.constant(self.centre))
        size = graph.node("Concat", self.size, graph.integers(self.dimensions), axis=0)
        tokens = graph.node("Reshape", rows, size)
        mask = graph.node("Unsqueeze", self.mask, graph.integers(-1))
        axis = graph.integers(1)
        total = graph.node("ReduceSum", graph.node("Mul", tokens, mask), axis, keepdims=0)
        mean = graph.node("Div", total, graph.node("ReduceSum", mask, axis, keepdims=0))
        unit = graph.node("LpNormalization", mean, axis=-1, p=2)
        for source, name in ((unit, "sentence_embedding"), (tokens, "token_embeddings")):
            graph.nodes.append(helper.make_node("Identity", [source], [name]))

    def finished(self) -> onnx.GraphProto:
        """The graph with its inputs and outputs declared."""
        declare = helper.make_tensor_value_info
        ids = ["batch", "tokens"]
        return helper.make_graph(
            self.graph.nodes,
            "sentence_encoder",
            [declare(name, TensorProto.INT64, ids) for name in ("input_ids", "attention_mask")],
            [
                declare("sentence_embedding", TensorProto.FLOAT, ["batch", self.dimensions]),
                declare("token_embeddings", TensorProto.FLOAT, [*ids, self.dimensions]),
            ],
            self.graph.constants,
        )
