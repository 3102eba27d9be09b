from __future__ import annotations

import asyncio

import pytest
from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from haystack.core.errors import SerializationError
from integrations_desk import QUERY, READER, STAFF, STAFF_QUERY, assert_resolves

from evidencedesk.desk import Desk
from evidencedesk.integrations.haystack import EvidenceDeskRetriever


def test_each_document_has_a_citation_that_resolves(desk: Desk) -> None:
    found = EvidenceDeskRetriever(desk, principal=READER).run(QUERY, top_k=3)["documents"]
    assert len(found) == 3
    for document in found:
        assert document.id == document.meta["chunk_id"]
        assert document.score == document.meta["score"]
        assert_resolves(desk, READER, document.meta, document.content)


def test_it_feeds_the_prompt_of_a_pipeline(desk: Desk) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", EvidenceDeskRetriever(desk, principal=READER, top_k=1))
    template = "{% for d in documents %}{{ d.meta.label }}: {{ d.content }}{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.connect("retriever.documents", "prompt.documents")
    prompt = pipeline.run({"retriever": {"query": QUERY}})["prompt"]["prompt"]
    assert prompt.startswith("Returns policy (Returning a bike")
    assert "30 days" in prompt


def test_a_reader_gets_what_he_may_see_also_without_waiting(desk: Desk) -> None:
    def sources(principal: object) -> set[str]:
        retriever = EvidenceDeskRetriever(desk, principal=principal)
        found = asyncio.run(retriever.run_async(STAFF_QUERY))["documents"]
        return {document.meta["document_id"] for document in found}

    assert "staff-refunds" not in sources(READER)
    assert sources(STAFF) == {"staff-refunds"}


def test_no_file_decides_who_reads(desk: Desk) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", EvidenceDeskRetriever(desk, principal=READER))
    with pytest.raises((SerializationError, TypeError)):
        pipeline.dumps()
    with pytest.raises(AttributeError):
        pipeline.get_component("retriever").principal = STAFF
