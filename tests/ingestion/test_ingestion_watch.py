from __future__ import annotations

import threading
import time
from pathlib import Path

from evidencedesk.ingestion.watch import watch


def test_changes_come_in_batches_and_hidden_files_wake_nobody(tmp_path: Path) -> None:
    stop = threading.Event()
    batches: list[frozenset[Path]] = []
    arrived = threading.Event()

    def follow() -> None:
        for batch in watch([tmp_path], stop=stop, debounce_ms=50):
            batches.append(batch)
            arrived.set()

    thread = threading.Thread(target=follow)
    thread.start()
    deadline = time.monotonic() + 10
    while not arrived.is_set() and time.monotonic() < deadline:
        (tmp_path / ".hidden").write_text("x")
        (tmp_path / "evidencedesk-folder.yaml").write_text(str(time.monotonic()))
        (tmp_path / "a.md").write_text(str(time.monotonic()))
        arrived.wait(0.2)
    stop.set()
    thread.join(timeout=10)
    assert batches
    names = {path.name for batch in batches for path in batch}
    assert names <= {"a.md", "evidencedesk-folder.yaml"}
    assert "a.md" in names
