"""Models: embedders, generators, judges."""

from __future__ import annotations

from collections.abc import Generator as Iteration
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import (
    CallBounds,
    EmbeddingSpec,
    Reply,
    Request,
    StreamItem,
    TokenVectors,
)


class Embedder(Protocol):
    """A sentence embedding model. Deterministic: a text's vector does not depend on its batch."""

    @property
    def spec(self) -> EmbeddingSpec:
        """What the model is; recorded in the index."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts (passage prefix added), shape (len(texts), dimensions)."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector of the question (query prefix added), shape (dimensions,)."""

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """Token vectors of each text, as encoded inside that text."""

    def stored_tokens(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """The same as an index keeps them: of ``spec.token_dimensions``, by ``spec.token_projection``.

        Asked for only where ``spec.token_dimensions`` is above 0.
        """


class Generator(Protocol):
    """Writes a reply to a request. What it says is not believed until it is verified."""

    name: str

    def generate(self, request: Request) -> Reply:
        """The reply; provider failures after bounded retries are a reply with that stop reason."""


@runtime_checkable
class StreamingGenerator(Generator, Protocol):
    """A generator that can hand over its reply while it is being written."""

    def stream(self, request: Request) -> Iterator[StreamItem]:
        """Pieces of the reply's text, then the whole :class:`Reply` as the last item.

        Closing the iterator stops the call. After a ``StreamBreak`` the reply begins anew; the last
        reply holds only what came since.

        Raises:
            CallCancelledError: ``request.cancelled`` says that whoever asked has gone.
        """


class Provider(Protocol):
    """A model behind a client library: one attempt at a reply.

    Retries, deadlines, fallbacks and cost are :mod:`evidencedesk.generation`'s, the same for all.

    Attributes:
        name: name of the adapter.
        model: name of the model as the provider knows it.
    """

    name: str
    model: str

    def call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Iteration[str | Reply, None, None]:
        """With ``stream``, pieces of the text as they come; then, always, the whole reply.

        ``bounds.remaining()`` is asked at least every tenth of a second while waiting, and what it
        raises goes on to the caller. Closing the iterator ends the call and its connection.

        Raises:
            ProviderError: the call failed; says whether trying again can help.
            CallCancelledError: whoever asked has gone.
        """

    def close(self) -> None:
        """Release connections, threads and memory. Using the provider again opens it again."""


class Judge(Protocol):
    """A second opinion on whether quotes bear a claim out."""

    name: str

    def supports(self, claim: str, quotes: Sequence[str]) -> bool:
        """True when the quotes bear the claim out.

        Raises:
            ModelError: when the judge cannot be asked; the claim then counts as unsupported.
        """
