from __future__ import annotations

import asyncio

import pytest
from integrations_desk import QUERY, READER, STAFF, STAFF_QUERY, assert_resolves
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode

from evidencedesk.desk import Desk
from evidencedesk.integrations.llamaindex import EvidenceDeskRetriever


def test_each_node_has_a_citation_that_resolves(desk: Desk) -> None:
    found = EvidenceDeskRetriever(desk, principal=READER, k=3).retrieve(QUERY)
    assert len(found) == 3
    assert [node.score for node in found] == sorted((n.score for n in found), reverse=True)
    for each in found:
        assert each.node.ref_doc_id == each.node.metadata["document_id"]
        assert_resolves(desk, READER, each.node.metadata, each.node.get_content())


def test_a_query_engine_answers_with_it_and_keeps_the_citations(desk: Desk) -> None:
    engine = RetrieverQueryEngine(
        EvidenceDeskRetriever(desk, principal=READER, k=2),
        get_response_synthesizer(llm=MockLLM()),
    )
    response = engine.query(QUERY)
    assert "30 days" in str(response)
    assert [node.metadata["document_id"] for node in response.source_nodes] == ["returns"] * 2


def test_a_prompt_gets_title_and_label_and_no_more_of_the_citation(desk: Desk) -> None:
    node = EvidenceDeskRetriever(desk, principal=READER, k=1).retrieve(QUERY)[0].node
    assert node.get_metadata_str(MetadataMode.LLM).count("\n") == 1
    assert "Returns policy (Returning a bike" in node.get_metadata_str(MetadataMode.LLM)


def test_a_reader_gets_what_he_may_see_also_without_waiting(desk: Desk) -> None:
    def sources(principal: object) -> set[str]:
        retriever = EvidenceDeskRetriever(desk, principal=principal)
        found = asyncio.run(retriever.aretrieve(STAFF_QUERY))
        return {node.metadata["document_id"] for node in found}

    assert "staff-refunds" not in sources(READER)
    assert sources(STAFF) == {"staff-refunds"}


def test_the_reader_is_fixed(desk: Desk) -> None:
    retriever = EvidenceDeskRetriever(desk, principal=READER)
    with pytest.raises(AttributeError):
        retriever.principal = STAFF
