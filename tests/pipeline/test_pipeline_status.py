from __future__ import annotations

from pathlib import Path

from evidencedesk import Desk, Settings
from evidencedesk.access import Principal

SETTINGS = Settings.model_validate({"embedding": {"model": "none"}})


def test_every_file_has_a_status_and_one_not_wholly_read_is_never_ok(tmp_path: Path):
    files = {
        "good.md": b"words",
        "torn.txt": "naïve café résumé ".encode() * 9 + b"\xff words",
        "bad.pdf": b"%PDF-1.7 nothing",
        "pic.png": b"\x89PNG\r\n\x1a\n",
        "open.md": b"---\ntitle: x\n",
    }
    (tmp_path / "docs").mkdir()
    for name, data in files.items():
        (tmp_path / "docs" / name).write_bytes(data)
    with Desk.open(tmp_path / "a.desk", settings=SETTINGS) as desk:
        desk.ingest(tmp_path / "docs")
        log = desk.log(principal=Principal(administrator=True))
    assert {each.source: each.details["status"] for each in log} == {
        "good.md": "ok",
        "torn.txt": "partly",
        "bad.pdf": "damaged",
        "pic.png": "unsupported",
        "open.md": "failed",
    }
