"""What both hosted providers share: the configuration held, and one call again without a schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import ClassVar

import httpcore2

from evidencedesk.adapters.generators.configuration import ModelConfiguration
from evidencedesk.errors import ProviderError
from evidencedesk.model import CallBounds, Reply, Request


class NoSchemaError(ProviderError):
    """The model cannot be held to a schema."""


class HostedProvider(ABC):
    """The ``Provider`` port over an official client. Safe for threads: a call shares nothing."""

    default_url: ClassVar[str]
    connects = True

    def __init__(self, configuration: ModelConfiguration) -> None:
        """Hold the configuration; nothing is connected to before the first call."""
        self.model = configuration.model
        self._configuration = configuration
        self._url = configuration.base_url or self.default_url
        self._ssl = httpcore2.default_ssl_context()
        self._schema = configuration.structured_output != "prompt"

    def call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Generator[str | Reply, None, None]:
        """One attempt; see the port. A model that cannot do schemas is asked again without one."""
        try:
            yield from self._call(request, bounds, stream=stream)
        except NoSchemaError:
            self._schema = False
            yield from self._call(request, bounds, stream=stream)

    def close(self) -> None:  # noqa: B027 - nothing to do is the whole behaviour
        """Nothing is held between calls."""

    @property
    def _automatic(self) -> bool:
        return self._configuration.structured_output == "auto"

    @abstractmethod
    def _call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Generator[str | Reply, None, None]:
        """One attempt with the schema, or without it once it was refused."""
