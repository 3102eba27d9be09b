"""An index that cannot be written answers all the same, and says that there is no receipt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from records_library import RETURNS

from evidencedesk.desk import Desk
from evidencedesk.records.recording import NO_RECEIPT
from evidencedesk.settings import Settings

ASKING = """
import os, sys, tempfile
from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.settings import Settings
settings = Settings.model_validate({"embedding": {"model": "none"}})
anna = Principal(roles=frozenset({"everyone"}), subject="anna")
with tempfile.TemporaryDirectory() as folder:  # imports all that is needed while it may be read
    with Desk.open(folder + "/x.desk", settings=settings, create=True) as desk:
        desk.ask("What?", principal=anna)
if os.geteuid() == 0:
    os.seteuid(65534)
with Desk.open(sys.argv[1], settings=settings) as desk:
    answer = desk.ask("How long do I have to return a new bike?", principal=anna)
    print(answer.text)
    print(answer.degraded[-1])
    print(desk.answers.list(principal=anna), desk.answers.recheck(principal=anna))
    print([finding.ok for finding in desk.answers.audit()])
    chief = Principal(subject="chief", administrator=True)
    print(desk.gaps(principal=chief).groups, desk.activity(principal=chief))
"""
DROPS = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    newer = "tokens feedback notices receipt_documents receipts subject_keys audit"
    for table in newer.split():
        connection.execute(f"DROP TABLE {table}")
    connection.execute("PRAGMA user_version = 1")
"""


def asked_read_only(folder: Path, *, older: bool) -> list[str]:
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    (folder / "returns.md").write_text(RETURNS, "utf-8")
    path = folder / "x.desk"
    with Desk.open(path, settings=settings) as desk:
        desk.ingest(folder / "returns.md")
    if older:
        subprocess.run([sys.executable, "-c", DROPS, path / "index.sqlite3"], check=True)
    for file in (folder, path, *path.rglob("*")):
        file.chmod(0o555 if file.is_dir() else 0o444)
    try:
        ran = subprocess.run(
            [sys.executable, "-c", ASKING, path],
            check=False,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "EVIDENCEDESK_CACHE": str(folder)},
        )
        assert ran.stderr == ""
        return ran.stdout.splitlines()
    finally:
        for file in (folder, path, *path.rglob("*")):
            file.chmod(0o755)


def test_asking_a_read_only_index_says_that_no_receipt_was_written() -> None:
    for older in (False, True):
        folder = Path(tempfile.mkdtemp(prefix="evidencedesk-"))
        try:
            text, degraded, *rest = asked_read_only(folder, older=older)
        finally:
            shutil.rmtree(folder)
        assert "30 days" in text
        assert degraded == NO_RECEIPT
        assert rest == ["() ()", "[True]", "() ()"]


def test_an_index_of_before_there_were_receipts_is_brought_up_to_date(tmp_path: Path) -> None:
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    Desk.open(tmp_path / "x.desk", settings=settings, create=True).close()
    database = tmp_path / "x.desk" / "index.sqlite3"
    subprocess.run([sys.executable, "-c", DROPS, database], check=True)
    with Desk.open(tmp_path / "x.desk", settings=settings) as desk:
        assert [finding.message for finding in desk.answers.audit()] == ["nothing was recorded yet"]
