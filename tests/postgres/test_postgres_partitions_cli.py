"""``evidencedesk db``: partitions planned, a server attached, a tenant moved, all by commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from postgres_partitions import far_url_of, together_urls

from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.cli.app import run as command_line

pytestmark = pytest.mark.usefixtures("postgres_together")


def test_an_index_is_spread_over_servers_by_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__MODEL", "none")
    (tmp_path / "hours.md").write_text("The shop opens at nine in the morning.\n", "utf-8")
    url = far_url_of(str(tmp_path))
    north = f"{together_urls(str(tmp_path))[1]}&schema={Address.parse(url).schema}"

    def command(*arguments: str, code: int = 0) -> Any:
        ended = command_line([*arguments, "--index", url, "--json"])
        out, err = capsys.readouterr()
        assert ended == code, err
        return json.loads(out or err)

    command("ingest", "hours.md", "--role", "everyone")
    asked = ("ask", "When does the shop open?", "--role", "everyone")
    before = command(*asked)
    assert "PARTITION BY" in command("db", "plan", "--partitions", "2")["statements"]
    assert command("db", "partitions") == {"partitions": []}
    command("db", "plan", "--partitions", "2", "--run")
    assert "FOREIGN TABLE" in command("db", "attach", "north", north)["statements"]
    command("db", "attach", "north", north, "--run")
    assert command("db", "move", "default", "--to", "north")["rows"] > 0
    servers = {
        each["server"]: each["tenants"] for each in command("db", "partitions")["partitions"]
    }
    assert servers == {"": 0, "north": 1}
    assert command(*asked)["text"] == before["text"]
    assert command("db", "attach", "north", north, code=2)["error"]["code"] == "server_attached"
    assert command("db", "move", "nobody", code=2)["error"]["code"] == "unknown_tenant"
    command("ingest", "hours.md", "--role", "everyone", "--role", "staff")
    assert command("verify-index") == {"problems": []}
    command("export", "moved.edx")
    folder = str(tmp_path / "moved.desk")
    assert command_line(["import", "moved.edx", "--index", folder]) == 0
    capsys.readouterr()
    assert command_line([*asked, "--index", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == before["text"]


def test_a_folder_has_no_partitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["init", str(tmp_path)]) == 0
    folder = str(tmp_path / "evidencedesk.desk")
    assert command_line(["db", "partitions", "--index", folder]) == 2
    assert "no partitions" in capsys.readouterr().err
