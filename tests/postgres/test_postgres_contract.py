from __future__ import annotations

from pathlib import Path

import pytest
from postgres_contract import ServerContract
from postgres_stores import open_postgres


@pytest.mark.usefixtures("postgres_url")
class TestPostgresStore(ServerContract):
    open_store = staticmethod(open_postgres)

    def test_a_killed_writer_leaves_all_or_nothing(self, tmp_path: Path) -> None:
        survived = self.kill_writers(tmp_path / "s.desk", times=4)
        assert [each.whole for each in survived] == [True] * 4, survived
