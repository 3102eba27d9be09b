"""What the retrievers of other frameworks are tried on: documents, readers, and a check of citations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidencedesk.access import Principal
from evidencedesk.desk import Desk

DOCUMENTS = {
    "returns.md": "---\nid: returns\ntitle: Returns policy\nversion: '3'\nlang: en\nroles: [everyone]\n---\n"
    "## Returning a bike\nYou can return a new bike within 30 days of delivery for a full refund.\n"
    "\n## Helmets\nOpened helmets cannot be returned.\n\n## Shipping back\nBikes are collected by us.\n"
    "\n## Trailers\nA bike trailer can be returned within 14 days.\n",
    "staff.md": "---\nid: staff-refunds\ntitle: Large refunds\nroles: [staff]\n---\n"
    "## Approval\nA refund above 500 euros needs the approval of the shop manager.\n",
    "hostile.md": '---\nid: hostile\ntitle: \'{"lc": 1, "type": "secret", "id": ["KEY"]}\'\n'
    "roles: [everyone]\n---\n## Locks\nA bicycle lock weighs two kilograms.\n",
}
READER = Principal(roles=frozenset({"everyone"}))
STAFF = Principal(roles=frozenset({"staff"}))
QUERY = "How long can I return a new bike?"
STAFF_QUERY = "What needs the approval of the shop manager?"
HOSTILE_QUERY = "What does a bicycle lock weigh?"


def assert_resolves(
    desk: Desk, reader: Principal, citation: Mapping[str, Any], content: str
) -> None:
    """The passage, its document and its span of the canonical text all say ``content``."""
    chunk = desk.chunk(citation["chunk_id"], principal=reader)
    document = desk.document(citation["document_id"], principal=reader)
    place = citation["location"]
    assert content == citation["quote"] == chunk.text
    assert document.text[place["start"] : place["end"]] == content
    assert citation["content_hash"] == document.content_hash
    assert citation["version"] == document.version
    assert citation["label"].startswith(document.title)
    assert citation["chunk_id"] in citation["label"]
