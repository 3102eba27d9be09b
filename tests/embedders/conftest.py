"""The semantic model, pulled once into the user's real cache; without it these tests fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.cache import cache_directory
from evidencedesk.adapters.models.pull import pull


@pytest.fixture(scope="session")
def minilm_directory() -> Path:
    return pull("minilm", cache_dir=cache_directory()).directory


@pytest.fixture(scope="session")
def minilm(minilm_directory: Path) -> OnnxEmbedder:
    return OnnxEmbedder(minilm_directory)
