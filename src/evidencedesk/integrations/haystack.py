"""A desk as a Haystack component (extra ``haystack``).

Example:
    pipeline.add_component(
        "retriever", EvidenceDeskRetriever(desk, principal=Principal(roles={"staff"}))
    )
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from haystack import Document, component

from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
from evidencedesk.desk import Desk
from evidencedesk.integrations.passages import citation_of
from evidencedesk.model import Hit


@component
class EvidenceDeskRetriever:
    """The best passages that one reader may see, each with a citation in ``meta``.

    A pipeline with it can be run and not be saved: who reads is decided by the program that makes
    it, never by a file that somebody may edit.

    Args:
        desk: the desk; stays open as long as the component is used.
        principal: who reads; cannot be changed afterwards.
        top_k: how many passages.
        statuses: statuses of the documents looked at.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        principal: Principal,
        top_k: int = 8,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> None:
        self._desk = desk
        self._principal = principal
        self._top_k = top_k
        self._statuses = frozenset(statuses)

    @property
    def principal(self) -> Principal:
        """Who reads."""
        return self._principal

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The passages for ``query``, best first, under ``documents``.

        Args:
            query: words or a question.
            top_k: how many, instead of the number given at first.

        Raises:
            QuestionError: an empty or over-long query.
            IndexingError: the index cannot be read.
        """
        hits = self._desk.search(
            query,
            principal=self._principal,
            statuses=self._statuses,
            k=self._top_k if top_k is None else top_k,
        )
        return {"documents": [_document(hit) for hit in hits]}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """What ``run`` gives, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, top_k)


def _document(hit: Hit) -> Document:
    return Document(id=hit.chunk.id, content=hit.chunk.text, meta=citation_of(hit), score=hit.score)
