from __future__ import annotations

from pathlib import Path
from typing import Any

from test_server_documents import brought

from evidencedesk.desk import Desk
from evidencedesk.testing.serving import settings_for

NOTE = b"# Parking\n\nParking is paid to jana@mail.example.org by the tenth of each month.\n"
MASKING = {"masking": {"default": "mask"}}


def test_the_file_of_a_masked_document_is_for_administrators(
    serve: Any, index: Path, tmp_path: Path
) -> None:
    file = tmp_path / "files" / "parking.md"
    file.parent.mkdir()
    file.write_bytes(NOTE)
    with Desk.open(index, settings=settings_for(index, MASKING)) as desk:
        desk.ingest(file.parent, roles={"staff"})
    server = serve()
    staff, chief = server.key("staff"), server.key(administrator=True)
    address = "/v1/documents/parking/content"
    masked = server.client.get(address, headers=staff)
    assert "[EMAIL_1]" in masked.text
    assert "jana@" not in masked.text
    refused = server.client.get(f"{address}?original=true", headers=staff)
    assert (refused.status_code, refused.json()["code"]) == (404, "no_original")
    opened = server.client.get(f"{address}?original=true", headers=chief)
    assert opened.content == NOTE


def test_an_upload_that_is_masked_is_not_kept(serve: Any) -> None:
    server = serve(tables=MASKING)
    staff = server.key("staff")
    job = brought(
        server, staff, ("a.md", NOTE), ("b.md", b"# B\n\nNothing to hide.\n"), roles="staff"
    )
    (masked,), (plain,) = (file["outcome"]["added"] for file in job["files"])
    kept = [server.services.originals.folder(name.partition("~")[2]) for name in (masked, plain)]
    assert [folder.exists() for folder in kept] == [False, True]
    content = server.client.get(f"/v1/documents/{masked}/content", headers=staff)
    assert "[EMAIL_1]" in content.text
