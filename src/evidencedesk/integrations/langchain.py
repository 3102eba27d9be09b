"""A desk as a LangChain retriever (extra ``langchain``).

Example:
    retriever = EvidenceDeskRetriever(desk=desk, principal=Principal(roles={"staff"}), k=4)
    retriever.invoke("How long can a bike be returned?")
"""

from __future__ import annotations

import asyncio
import functools

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
from evidencedesk.desk import Desk
from evidencedesk.integrations.passages import citation_of
from evidencedesk.model import Hit


class EvidenceDeskRetriever(BaseRetriever):
    """The best passages that one reader may see, each with a citation in ``metadata``.

    The reader cannot be changed afterwards, and ``invoke`` takes no other than ``k``.

    Attributes:
        desk: the desk; stays open as long as the retriever is used.
        principal: who reads.
        k: how many passages.
        statuses: statuses of the documents looked at.

    Raises:
        QuestionError: an empty or over-long query.
        IndexingError: the index cannot be read.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    desk: Desk = Field(exclude=True, repr=False)
    principal: Principal = Field(exclude=True)
    k: int = Field(default=8, ge=1)
    statuses: frozenset[Status] = DEFAULT_STATUSES

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,  # noqa: ARG002 - LangChain's
        k: int | None = None,
    ) -> list[Document]:
        hits = self.desk.search(
            query, principal=self.principal, statuses=self.statuses, k=self.k if k is None else k
        )
        return [_document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        search = functools.partial(self._get_relevant_documents, query, k=k)
        return await asyncio.to_thread(search)


def _document(hit: Hit) -> Document:
    return Document(id=hit.chunk.id, page_content=hit.chunk.text, metadata=citation_of(hit))
