from __future__ import annotations

from pathlib import Path

import pytest
from postgres_stores import open_postgres

from evidencedesk.protocols import Store
from evidencedesk.testing.store_contract import StoreContract


@pytest.mark.usefixtures("postgres_url")
class TestPostgresStore(StoreContract):
    open_store = staticmethod(open_postgres)

    def test_a_killed_writer_leaves_all_or_nothing(self, tmp_path: Path) -> None:
        self.kill_writers(tmp_path / "s.desk", times=4)

    @pytest.mark.slow
    def test_a_writer_killed_twenty_times(self, tmp_path: Path) -> None:
        self.kill_writers(tmp_path / "s.desk", times=20)

    @pytest.mark.slow
    def test_eight_readers_beside_a_writer(self, tmp_path: Path) -> None:
        super().test_eight_readers_beside_a_writer(tmp_path)

    @pytest.mark.slow
    def test_five_thousand_tiny_documents(self, store: Store) -> None:
        super().test_five_thousand_tiny_documents(store)
