"""The protocol server, spoken to by the official SDK's own client: over stdio in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.server.identity import Permission
from evidencedesk.server.mcp import URI, mcp_server
from evidencedesk.settings import Settings

RETURNS = """---
id: returns
title: Returns policy
version: "3"
roles: [everyone]
---
## Returning a bike
You can return a new bike within 30 days of delivery for a full refund. The bike must be in
its original box.
"""
STAFF = """---
id: staff-refunds
title: Large refunds
roles: [staff]
---
## Approval
A refund above 500 euros needs the approval of the shop manager.
"""
STAFF_QUESTION = "What needs the approval of the shop manager?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "files").mkdir()
    (folder / "files" / "returns.md").write_text(RETURNS, "utf-8")
    (folder / "files" / "staff.md").write_text(STAFF, "utf-8")
    path = folder / "index.desk"
    with Desk.open(path, settings=keywords_only(), create=True) as desk:
        desk.ingest(folder / "files")
    return path


def keywords_only() -> Settings:
    return Settings.model_validate({"embedding": {"model": "none"}})


def over_stdio(index: Path, *options: str) -> Any:
    """A client of ``evidencedesk mcp`` in a process of its own, with a home of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EVIDENCEDESK_")}
    return Client(
        stdio_client(
            StdioServerParameters(
                command=sys.executable,
                args=["-m", "evidencedesk", "mcp", "--index", str(index), *options],
                env={**kept, "EVIDENCEDESK_EMBEDDING__MODEL": "none"},
                cwd=index.parent,
            )
        )
    )


def talk(body: Callable[[], Any]) -> None:
    anyio.run(body)


@asynccontextmanager
async def inside(index: Path, principal: Principal) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    with Desk.open(index, settings=keywords_only()) as desk:
        async with Client(mcp_server(desk, lambda _: principal)) as client:
            yield client


def test_the_sdk_client_asks_searches_fetches_and_reads_over_stdio(index: Path) -> None:
    async def body() -> None:
        async with over_stdio(index, "--role", "everyone", "--as", "ada") as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"search", "fetch", "ask"}
            asked = await client.call_tool(
                "ask", {"question": "How long can a new bike be returned?"}
            )
            citation = asked.structured_content["citations"][0]
            assert not asked.structured_content["abstained"]
            assert "30 days" in citation["quote"]
            passage = await client.call_tool("fetch", {"id": citation["chunk_id"]})
            assert citation["quote"] in passage.structured_content["text"]
            whole = await client.call_tool("fetch", {"id": citation["document_id"]})
            place = citation["quote_location"]
            text = whole.structured_content["text"]
            assert text[place["start"] : place["end"]] == citation["quote"]
            found = await client.call_tool("search", {"query": "original box", "k": 1})
            assert [hit["document_id"] for hit in found.structured_content["hits"]] == ["returns"]
            listed = await client.list_resources()
            assert [resource.uri for resource in listed.resources] == [URI + "returns"]
            read = await client.read_resource(URI + "returns")
            assert read.contents[0].text == text

    talk(body)


def test_a_receipt_names_the_local_reader(index: Path) -> None:
    async def body() -> None:
        async with over_stdio(index, "--role", "everyone", "--as", "grace") as client:
            asked = await client.call_tool("ask", {"question": "Where must the bike be?"})
            answers.append(asked.structured_content["answer_id"])

    answers: list[str] = []
    talk(body)
    with Desk.open(index, settings=keywords_only()) as desk:
        receipt = desk.answers.show(answers[0], principal=Principal(subject="grace"))
    assert receipt["asked_by"] == "grace"
    assert receipt["roles"] == ["everyone"]


def test_what_the_reader_may_not_see_looks_like_what_is_not_there(index: Path) -> None:
    async def body() -> None:
        async with inside(index, Principal(roles=frozenset({"everyone"}))) as client:
            closed = await client.call_tool("fetch", {"id": "staff-refunds"})
            absent = await client.call_tool("fetch", {"id": "no-such-file"})
            assert closed.is_error
            assert _worded(closed, "staff-refunds") == _worded(absent, "no-such-file")
            with pytest.raises(MCPError) as closed_resource:
                await client.read_resource(URI + "staff-refunds")
            with pytest.raises(MCPError) as absent_resource:
                await client.read_resource(URI + "no-such-file")
            assert str(closed_resource.value).replace("staff-refunds", "X") == str(
                absent_resource.value
            ).replace("no-such-file", "X")
            asked = await client.call_tool("ask", {"question": STAFF_QUESTION})
            assert asked.structured_content["reason"] == "no_evidence"
            found = await client.call_tool("search", {"query": STAFF_QUESTION})
            assert "staff-refunds" not in str(found)

    talk(body)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ask", {"question": STAFF_QUESTION, "roles": ["staff"]}),
        ("ask", {"question": STAFF_QUESTION, "principal": {"administrator": True}}),
        ("search", {"query": STAFF_QUESTION, "tenant": "other"}),
        ("search", {"query": STAFF_QUESTION, "k": 0}),
        ("search", {"query": STAFF_QUESTION, "k": "8"}),
        ("fetch", {"id": "returns", "start": -1}),
        ("fetch", {}),
    ],
)
def test_arguments_that_are_not_in_the_table_are_refused(
    index: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async def body() -> None:
        async with inside(index, Principal(roles=frozenset({"everyone"}))) as client:
            refused = await client.call_tool(tool, arguments)
            assert refused.is_error
            assert refused.structured_content["error"]["code"] == "bad_arguments"

    talk(body)


def test_an_empty_question_is_an_error_of_the_tool_with_its_code(index: Path) -> None:
    async def body() -> None:
        async with inside(index, Principal()) as client:
            refused = await client.call_tool("ask", {"question": " "})
            assert refused.structured_content["error"]["code"] == "empty_question"

    talk(body)


def test_who_reads_is_asked_anew_for_every_message(index: Path) -> None:
    roles = {"staff"}

    async def body() -> None:
        with Desk.open(index, settings=keywords_only()) as desk:
            server = mcp_server(desk, lambda _: Principal(roles=frozenset(roles)))
            async with Client(server) as client:
                before = await client.call_tool("ask", {"question": STAFF_QUESTION})
                roles.clear()
                after = await client.call_tool("ask", {"question": STAFF_QUESTION})
        assert not before.structured_content["abstained"]
        assert after.structured_content["reason"] == "no_evidence"

    talk(body)


def test_over_http_each_request_is_its_sender_s(live: Any) -> None:
    address, server = live

    async def ask(key: dict[str, str]) -> dict[str, Any]:
        async with (
            httpx2.AsyncClient(headers=key) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            asked = await client.call_tool("ask", {"question": STAFF_QUESTION})
            return asked.structured_content

    async def body() -> None:
        staff, other = await ask(server.key("staff")), await ask(server.key("everyone"))
        assert staff["citations"][0]["document_id"] == "staff-refunds"
        assert other["reason"] == "no_evidence"
        assert "staff-refunds" not in str(other)

    talk(body)
    counted = server.services.metrics.rendered().decode()
    assert 'evidencedesk_answers_total{reason="no_evidence"} 1.0' in counted


def test_over_http_nobody_is_served_without_a_key(live: Any) -> None:
    address, server = live
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"accept": "application/json, text/event-stream"}
    assert httpx2.post(f"{address}/mcp", json=message, headers=accepted).status_code == 401
    key = server.key("staff", permissions=frozenset({Permission.METRICS}))
    refused = httpx2.post(f"{address}/mcp", json=message, headers={**accepted, **key})
    assert refused.status_code == 403
    too_much = {**message, "params": {"_meta": {"x": "y" * 300_000}}}
    large = httpx2.post(
        f"{address}/mcp", json=too_much, headers={**accepted, **server.key("staff")}
    )
    assert large.status_code == 413


def test_a_long_document_is_fetched_in_parts(tmp_path: Path) -> None:
    lines = [f"Rule {number} says that desk {number} is cleaned daily." for number in range(900)]
    (tmp_path / "long.md").write_text("\n\n".join(lines), "utf-8")

    async def body() -> None:
        with Desk.open(tmp_path / "i.desk", settings=keywords_only(), create=True) as desk:
            desk.ingest(tmp_path / "long.md", roles={"everyone"})
            server = mcp_server(desk, lambda _: Principal(roles=frozenset({"everyone"})))
            async with Client(server) as client:
                parts: list[str] = []
                while True:
                    start = sum(map(len, parts))
                    got = await client.call_tool("fetch", {"id": "long", "start": start})
                    parts.append(got.structured_content["text"])
                    if got.structured_content["end"] == got.structured_content["characters"]:
                        break
        assert len(parts) > 1
        assert "".join(parts).split() == "\n\n".join(lines).split()

    talk(body)


def _worded(result: Any, name: str) -> str:
    return str(result.structured_content["error"]).replace(name, "X")
