from __future__ import annotations

import warnings
from typing import Any

import pytest
from integrations_desk import HOSTILE_QUERY, QUERY, READER, STAFF_QUERY, assert_resolves
from langchain_core._api import LangChainBetaWarning
from langchain_core.load import dumps, loads
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.integrations.langchain import EvidenceDeskRetriever


class TestLangChainsOwn(RetrieversIntegrationTests):
    """LangChain's conformance tests for retrievers."""

    @pytest.fixture(autouse=True)
    def _desk(self, desk: Desk) -> None:
        self.opened = desk

    @property
    def retriever_constructor(self) -> type[EvidenceDeskRetriever]:
        return EvidenceDeskRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"desk": self.opened, "principal": READER}

    @property
    def retriever_query_example(self) -> str:
        return QUERY


def test_each_document_has_a_citation_that_resolves(desk: Desk) -> None:
    found = EvidenceDeskRetriever(desk=desk, principal=READER).invoke(QUERY)
    assert "30 days" in found[0].page_content
    for document in found:
        assert document.id == document.metadata["chunk_id"]
        assert_resolves(desk, READER, document.metadata, document.page_content)


def test_the_reader_is_fixed(desk: Desk) -> None:
    retriever = EvidenceDeskRetriever(desk=desk, principal=READER)
    staff = Principal(roles=frozenset({"staff"}))
    with pytest.raises(ValidationError):
        retriever.principal = staff
    with pytest.raises(TypeError):
        retriever.invoke(STAFF_QUERY, None, principal=staff)
    found = retriever.with_config(configurable={"principal": staff}).invoke(STAFF_QUERY)
    assert "staff-refunds" not in {document.metadata["document_id"] for document in found}


def test_what_a_document_says_stays_text_when_it_is_stored_and_loaded(desk: Desk) -> None:
    """A title that looks like LangChain's own serialised secrets (CVE-2025-68664)."""
    found = EvidenceDeskRetriever(desk=desk, principal=READER, k=1).invoke(HOSTILE_QUERY)
    title = found[0].metadata["title"]
    assert title.startswith('{"lc": 1')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainBetaWarning)
        again = loads(dumps(found[0]), allowed_objects="core")
    assert again.metadata["title"] == title
