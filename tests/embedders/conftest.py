"""The multilingual model, for the tests beside this file."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.cache import cache_directory
from evidencedesk.adapters.models.pull import pull


@pytest.fixture(scope="session")
def e5_directory() -> Path:
    """Pulled once into the user's real cache; without it tests fail."""
    return pull("e5", cache_dir=cache_directory()).directory


@pytest.fixture(scope="session")
def e5(e5_directory: Path) -> OnnxEmbedder:
    return OnnxEmbedder(e5_directory)
