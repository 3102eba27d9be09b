"""The conformance suite over partitions: beside one another on one server, and on three servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from postgres_contract import ServerContract
from postgres_partitions import open_far, open_partitioned


@pytest.mark.slow
@pytest.mark.usefixtures("postgres_url")
class TestPartitionsOfOneServer(ServerContract):
    open_store = staticmethod(open_partitioned)


@pytest.mark.usefixtures("postgres_together")
class TestPartitionsOnOtherServers(ServerContract):
    open_store = staticmethod(open_far)

    def test_a_killed_writer_leaves_all_or_nothing(self, tmp_path: Path) -> None:
        survived = self.kill_writers(tmp_path / "s.desk", times=2)
        assert [each.whole for each in survived] == [True] * 2, survived
