"""What tests of security ask of a server."""

from __future__ import annotations

import json
import time
from typing import Any

from evidencedesk.server.identity import Permission

QUESTION = "How long do I have to return a bike?"
READ = frozenset({Permission.READ})
NOTE = "# Parking\n\nVisitors park behind the workshop, in rows 7 and 8.\n"


def brought(server: Any, headers: Any, name: str, data: str | bytes, **fields: str) -> Any:
    """The outcome of an upload of one file."""
    content = data.encode() if isinstance(data, str) else data
    reply = server.client.post(
        "/v1/documents",
        files=[("files", (name, content))],
        data={"roles": "staff", **fields},
        headers=headers,
    )
    assert reply.status_code == 202, reply.text
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        job = server.client.get(reply.headers["location"], headers=headers).json()
        if job["state"] in {"done", "failed"}:
            assert str(server.services.desk.path.parent) not in json.dumps(job)
            return job["files"][0]["outcome"]
        time.sleep(0.05)
    raise AssertionError(job)


def asked(server: Any, headers: Any, question: str = QUESTION) -> Any:
    return server.client.post("/v1/ask", json={"question": question}, headers=headers)
