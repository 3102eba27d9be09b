"""Every way in that is not ours: OpenAI's client, MCP's client, three frameworks; one question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import httpx2
import openai
import pytest
from integrations_desk import QUERY, READER, assert_resolves
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from evidencedesk.desk import Desk
from evidencedesk.integrations import haystack, langchain, llamaindex
from evidencedesk.testing.serving import listening, served, settings_for

SENTENCE = "You can return a new bike within 30 days of delivery for a full refund."


@pytest.fixture(scope="module")
def door(desk: Desk) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a server over the same index, and the headers of the same reader."""
    with served(settings_for(desk.path)) as server, listening(server) as address:
        yield address, server.key(*READER.roles)


def test_each_answers_with_citations_that_resolve(
    desk: Desk, door: tuple[str, dict[str, str]]
) -> None:
    found = langchain.EvidenceDeskRetriever(desk=desk, principal=READER, k=1).invoke(QUERY)
    assert_resolves(desk, READER, found[0].metadata, SENTENCE)
    nodes = llamaindex.EvidenceDeskRetriever(desk, principal=READER, k=1).retrieve(QUERY)
    assert_resolves(desk, READER, nodes[0].node.metadata, SENTENCE)
    run = haystack.EvidenceDeskRetriever(desk, principal=READER, top_k=1).run(QUERY)
    assert_resolves(desk, READER, run["documents"][0].meta, SENTENCE)
    answers = (by_openai(*door), anyio.run(by_mcp, *door))
    assert [quote_that_resolves(desk, answer) for answer in answers] == [SENTENCE, SENTENCE]


def by_openai(address: str, key: Mapping[str, str]) -> dict[str, Any]:
    secret = key["Authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{address}/v1", api_key=secret, max_retries=0) as client:
        messages: Any = [{"role": "user", "content": QUERY}]
        done = client.chat.completions.create(model="evidencedesk", messages=messages)
    assert SENTENCE in (done.choices[0].message.content or "")
    return dict((done.model_extra or {})["evidencedesk"])


async def by_mcp(address: str, key: Mapping[str, str]) -> dict[str, Any]:
    async with (
        httpx2.AsyncClient(headers=key) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        asked = await client.call_tool("ask", {"question": QUERY})
    return dict(asked.structured_content)


def quote_that_resolves(desk: Desk, answer: Mapping[str, Any]) -> str:
    """The quote, which is the span of the document's text that it says it is."""
    cited = answer["citations"][0]
    document = desk.document(cited["document_id"], principal=READER)
    place = cited["quote_location"]
    assert cited["content_hash"] == document.content_hash
    assert cited["quote"] == document.text[place["start"] : place["end"]]
    return str(cited["quote"])
