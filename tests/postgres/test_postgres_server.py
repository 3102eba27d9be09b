"""The server over PostgreSQL, where it differs: nothing that a caller sends is a fault of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from postgres_stores import url_of

from evidencedesk.desk import Desk
from evidencedesk.settings import Settings
from evidencedesk.testing.serving import served

QUESTION = {"question": "When does the shop open?"}


@pytest.mark.usefixtures("postgres_url")
def test_zero_bytes_are_no_fault_of_the_index(tmp_path: Path) -> None:
    file = tmp_path / "hours.md"
    file.write_text("The shop opens at nine in the morning.\n", "utf-8")
    settings = Settings.model_validate(
        {
            "index": {"url": url_of(str(tmp_path))},
            "embedding": {"model": "none"},
            "server": {"authentication": ("keys",), "state": str(tmp_path / "server.sqlite3")},
        }
    )
    with Desk.open(settings.index.url, settings=settings, create=True) as desk:
        desk.ingest(file, roles={"staff"})
    with served(settings) as server:
        staff = server.key("staff")

        def status(method: str, path: str, **body: Any) -> int:
            return server.client.request(method, path, headers=staff, **body).status_code

        answer = server.client.post("/v1/ask", json=QUESTION, headers=staff).json()
        own = f"/v1/answers/{answer['answer_id']}"
        missing = [
            status("GET", "/v1/documents/%00"),
            status("PATCH", "/v1/documents/%00", json={"status": "draft"}),
            status("DELETE", "/v1/documents/%00"),
            status("GET", "/v1/answers/%00"),
            status("POST", "/v1/answers/%00/recheck"),
            status("POST", "/v1/answers/%00/feedback", json={"verdict": "wrong"}),
            status(
                "POST", "/v1/documents", files={"files": ("a.md", b"a")}, data={"replaces": "\0"}
            ),
        ]
        assert missing == [404] * len(missing)
        assert status("POST", own + "/feedback", json={"verdict": "wrong", "note": "a\0b"}) == 201
        assert status("POST", "/v1/ask", json={"question": "When does\0 the shop open?"}) == 200
