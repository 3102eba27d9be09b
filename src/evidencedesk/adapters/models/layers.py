"""The ways in which a graph holds its weights: float32 in place, int8 per channel, four-bit rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from evidencedesk.adapters.models.packed import ZERO, PackedModel
from evidencedesk.adapters.models.weights import Tensors, Weights

INT8_LIMIT = 63
"""Weights use seven of eight bits. On x86 without VNNI two products of a full uint8 and a full int8
are added in 16 bits and saturate; with 63 the sum fits, so every machine computes the same integers."""


class Graph:
    """Nodes and constants in the order in which they were added; names are given here."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output; the output's name."""
        return self.nodes_out(operator, 1, *inputs, **attributes)[0]

    def nodes_out(self, operator: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """Add an operator; the names of its outputs."""
        names = [f"{operator}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def constant(self, array: NDArray[Any]) -> str:
        """Add a constant that lies in the graph's own file; its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def number(self, value: float) -> str:
        """Add a float32 scalar; its name."""
        return self.constant(np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        """Add a vector of int64; its name."""
        return self.constant(np.array(values, np.int64))


class Layers(Protocol):
    """Adds the parts that hold weights to a graph. Values are (rows, features)."""

    graph: Graph

    def vector(self, name: str) -> str:
        """A small weight as it is: a bias, a scale, a position table."""

    def look_up(self, name: str, ids: str) -> str:
        """Rows ``ids`` of the embedding table ``name``."""

    def project(self, rows: str, prefixes: Sequence[str], norm: str | None = None) -> list[str]:
        """``rows @ weight.T + bias`` for the linear layer at each prefix.

        ``norm`` is the prefix of the layer normalisation that ``rows`` come from, if they do.
        """


class FloatLayers:
    """Float32 weights that stay in the safetensors file, which the graph points into.

    The weights that run are then the original file, byte for byte.
    """

    def __init__(self, graph: Graph, weights: Weights) -> None:
        self.graph = graph
        self._weights = weights

    def vector(self, name: str) -> str:
        """See :class:`Layers`."""
        offset, length, shape = self._weights.place(name)
        tensor = onnx.TensorProto(
            name=name,
            data_type=onnx.TensorProto.FLOAT,
            dims=shape,
            data_location=onnx.TensorProto.EXTERNAL,
        )
        places = {"location": self._weights.path.name, "offset": offset, "length": length}
        for key, value in places.items():
            tensor.external_data.add(key=key, value=str(value))
        self.graph.constants.append(tensor)
        return name

    def look_up(self, name: str, ids: str) -> str:
        """See :class:`Layers`."""
        return self.graph.node("Gather", self.vector(name), ids)

    def project(self, rows: str, prefixes: Sequence[str], norm: str | None = None) -> list[str]:
        """See :class:`Layers`; ``norm`` is not needed."""
        del norm
        return [
            self.graph.node(
                "Gemm",
                rows,
                self.vector(f"{prefix}.weight"),
                self.vector(f"{prefix}.bias"),
                transB=1,
            )
            for prefix in prefixes
        ]


class Int8Layers:
    """Int8 weights with one scale per output channel; activations are quantised when they run.

    The scale of the activations is taken over all rows of a run, so that a text's vector depends
    on what it runs with: a run must hold one text. Layers of several prefixes share one product.
    Where the input is a layer normalisation, its loud channels are evened out against the weights
    before both are rounded (SmoothQuant, Xiao et al., ICML 2023, with alpha 0.75), the loudness
    taken from the normalisation's own scale and offset instead of sample texts.
    """

    def __init__(self, graph: Graph, weights: Tensors) -> None:
        self.graph = graph
        self._weights = weights

    def vector(self, name: str) -> str:
        """See :class:`Layers`."""
        return self.graph.constant(self._weights.array(name))

    def look_up(self, name: str, ids: str) -> str:
        """See :class:`Layers`; the table has one scale per row, at eight bits."""
        table, scales = quantise(self._weights.array(name).T, limit=127)
        rows = self.graph.node("Gather", self.graph.constant(table.T), ids)
        scale = self.graph.node("Gather", self.graph.constant(scales[:, None]), ids)
        return self.graph.node("Mul", self._cast(rows), scale)

    def project(self, rows: str, prefixes: Sequence[str], norm: str | None = None) -> list[str]:
        """See :class:`Layers`."""
        graph = self.graph
        weight = np.concatenate([self._weights.array(f"{p}.weight").T for p in prefixes], axis=1)
        bias = np.concatenate([self._weights.array(f"{p}.bias") for p in prefixes])
        if norm is not None:
            factors = self._smoothing(norm, weight)
            weight = weight * factors[:, None]
            rows = graph.node("Mul", rows, graph.constant(np.float32(1) / factors))
        result = graph.node("Add", self._product(rows, weight), graph.constant(bias))
        if len(prefixes) == 1:
            return [result]
        return graph.nodes_out("Split", len(prefixes), result, axis=-1, num_outputs=len(prefixes))

    def _product(self, rows: str, weight: NDArray[np.float32]) -> str:
        graph = self.graph
        integers, scales = quantise(weight, limit=INT8_LIMIT)
        quantised, scale, zero = graph.nodes_out("DynamicQuantizeLinear", 3, rows)
        zeros = graph.constant(np.zeros(integers.shape[1], np.int8))
        product = graph.node("MatMulInteger", quantised, graph.constant(integers), zero, zeros)
        return graph.node(
            "Mul", self._cast(product), graph.node("Mul", scale, graph.constant(scales))
        )

    def _smoothing(self, norm: str, weight: NDArray[np.float32]) -> NDArray[np.float32]:
        # Square roots only: they are exact to the last bit everywhere, so the file's hash is too.
        loudness = np.abs(self._weights.array(f"{norm}.bias")) + np.float32(4) * np.abs(
            self._weights.array(f"{norm}.weight")
        )
        root = np.sqrt(loudness)
        factors: NDArray[np.float32] = (
            root * np.sqrt(root) / np.sqrt(np.sqrt(np.abs(weight).max(axis=1)))
        )
        return factors

    def _cast(self, value: str) -> str:
        return self.graph.node("Cast", value, to=onnx.TensorProto.FLOAT)


class PackedLayers(Int8Layers):
    """As :class:`Int8Layers`, from weights that are in four bits already.

    The embedding table, three quarters of a multilingual model, stays as it is: the graph unpacks
    the rows that a text asks for.
    """

    def __init__(self, graph: Graph, weights: PackedModel) -> None:
        super().__init__(graph, weights)
        self._packed = weights

    def look_up(self, name: str, ids: str) -> str:
        """See :class:`Layers`."""
        graph = self.graph
        scales, halves = self._packed.blocks(name)
        rows = graph.node("Gather", graph.constant(halves), ids)
        low = graph.node("BitwiseAnd", rows, graph.constant(np.array(15, np.uint8)))
        shift = graph.constant(np.array(4, np.uint8))
        high = graph.node("BitShift", rows, shift, direction="RIGHT")
        whole = self._cast(graph.node("Concat", low, high, axis=-1))
        scale = self._cast(graph.node("Gather", graph.constant(scales[:, :, None]), ids))
        values = graph.node("Mul", graph.node("Sub", whole, graph.number(ZERO)), scale)
        return graph.node("Reshape", values, graph.integers(0, 0, -1))


def quantise(
    weight: NDArray[np.float32], *, limit: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round a matrix to integers in [-limit, limit], symmetric, one scale per column.

    Args:
        weight: shape (inputs, outputs).
        limit: largest integer used, at most 127.

    Returns:
        Integers of the same shape, and float32 scales, shape (outputs,): ``integers * scales`` is
        ``weight`` to within half a scale.
    """
    scales = np.abs(weight).max(axis=0) / np.float32(limit)
    scales[scales == 0] = 1
    return np.rint(weight / scales).astype(np.int8), scales.astype(np.float32)
