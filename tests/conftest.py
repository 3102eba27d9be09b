"""What every test may use."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.cache import cache_directory
from evidencedesk.adapters.models.pull import pull
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.memory import MemoisedEmbedder

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A suite started in the background ignores Ctrl-C and hands that on to every process it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture(scope="session")
def minilm_directory() -> Path:
    """The semantic model, pulled once into the user's real cache; without it tests fail."""
    return pull("minilm", cache_dir=cache_directory()).directory


@pytest.fixture(scope="session")
def minilm(minilm_directory: Path) -> OnnxEmbedder:
    return OnnxEmbedder(minilm_directory)


@pytest.fixture(scope="session")
def memoised_minilm(minilm: OnnxEmbedder) -> MemoisedEmbedder:
    return MemoisedEmbedder(minilm)
