"""The conformance suite over partitions: beside one another on one server, and on three servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from postgres_partitions import open_far, open_partitioned

from evidencedesk.testing.store_contract import StoreContract


@pytest.mark.usefixtures("postgres_url")
class TestPartitionsOfOneServer(StoreContract):
    open_store = staticmethod(open_partitioned)


@pytest.mark.usefixtures("postgres_together")
class TestPartitionsOnOtherServers(StoreContract):
    open_store = staticmethod(open_far)

    def test_a_killed_writer_leaves_all_or_nothing(self, tmp_path: Path) -> None:
        survived = self.kill_writers(tmp_path / "s.desk", times=4)
        assert [each.whole for each in survived] == [True] * 4, survived

    @pytest.mark.slow
    def test_eight_readers_beside_a_writer(self, tmp_path: Path) -> None:
        counts, problems = self.read_beside_a_writer(tmp_path / "s.desk")
        assert len(counts) == 8
        assert all(isinstance(count, int) and count > 0 for count in counts), counts
        assert problems == ()
