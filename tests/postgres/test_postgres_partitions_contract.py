"""The conformance suite over partitions: beside one another on one server, and on three servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from postgres_partitions import open_far, open_partitioned

from evidencedesk.protocols import Store
from evidencedesk.testing.store_contract import StoreContract


class PartitionsContract(StoreContract):
    """The suite, its long tests marked."""

    @pytest.mark.slow
    def test_a_killed_writer_leaves_all_or_nothing(self, tmp_path: Path) -> None:
        survived = self.kill_writers(tmp_path / "s.desk", times=20)
        assert [each.whole for each in survived] == [True] * 20, survived

    @pytest.mark.slow
    def test_eight_readers_beside_a_writer(self, tmp_path: Path) -> None:
        counts, problems = self.read_beside_a_writer(tmp_path / "s.desk")
        assert len(counts) == 8
        assert all(isinstance(count, int) and count > 0 for count in counts), counts
        assert problems == ()

    @pytest.mark.slow
    def test_five_thousand_tiny_documents(self, store: Store) -> None:
        best, result = self.search_five_thousand_tiny_documents(store)
        assert best == "d4321"
        assert result.group_frequencies.tolist() == [2500, 1]
        assert result.statistics.chunks == 5000


@pytest.mark.slow
@pytest.mark.usefixtures("postgres_url")
class TestPartitionsOfOneServer(PartitionsContract):
    open_store = staticmethod(open_partitioned)


@pytest.mark.usefixtures("postgres_together")
class TestPartitionsOnOtherServers(PartitionsContract):
    open_store = staticmethod(open_far)
