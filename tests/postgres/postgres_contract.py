"""The conformance suite with its long tests marked, for stores that are slower than a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencedesk.protocols import Store
from evidencedesk.testing.store_contract import StoreContract


class ServerContract(StoreContract):
    """The suite for a store on a server."""

    @pytest.mark.slow
    def test_a_writer_killed_twenty_times(self, tmp_path: Path) -> None:
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
