"""A desk as a LlamaIndex retriever (extra ``llamaindex``).

Example:
    retriever = EvidenceDeskRetriever(desk, principal=Principal(roles={"staff"}), k=4)
    retriever.retrieve("How long can a bike be returned?")
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
from evidencedesk.desk import Desk
from evidencedesk.integrations.passages import citation_of
from evidencedesk.model import Hit

_FOR_PROMPTS = ("title", "label")


class EvidenceDeskRetriever(BaseRetriever):
    """The best passages that one reader may see, each with a citation in ``metadata``.

    Prompts and embeddings are given the passage with its title and label; the rest of the citation
    is for programs.

    Args:
        desk: the desk; stays open as long as the retriever is used.
        principal: who reads; cannot be changed afterwards.
        k: how many passages.
        statuses: statuses of the documents looked at.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        principal: Principal,
        k: int = 8,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> None:
        super().__init__()
        self._desk = desk
        self._principal = principal
        self._k = k
        self._statuses = frozenset(statuses)

    @property
    def principal(self) -> Principal:
        """Who reads."""
        return self._principal

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._desk.search(
            query_bundle.query_str, principal=self._principal, statuses=self._statuses, k=self._k
        )
        return [_node(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(hit: Hit) -> NodeWithScore:
    chunk, citation = hit.chunk, citation_of(hit)
    programs_only = [name for name in citation if name not in _FOR_PROMPTS]
    node = TextNode(
        id_=chunk.id,
        text=chunk.text,
        start_char_idx=chunk.location.start,
        end_char_idx=chunk.location.end,
        metadata=citation,
        excluded_llm_metadata_keys=programs_only,
        excluded_embed_metadata_keys=programs_only,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.document_id)},
    )
    return NodeWithScore(node=node, score=hit.score)
