"""``make demo`` where no model can be had: it goes on, and says so."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "scripts" / "demo.py"


def test_the_demo_goes_on_with_keywords(tmp_path: Path, environment: dict[str, str]) -> None:
    def run() -> str:
        ran = subprocess.run(
            [sys.executable, str(DEMO), "--desk", str(tmp_path / "demo.desk")],
            env={**environment, "EVIDENCEDESK_OFFLINE": "1"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return ran.stdout

    first, second = run(), run()
    assert "The demo goes on with keywords only" in first
    assert "kestrel: 13 added; " in first
    assert "kestrel: 13 unchanged; 0 chunks" in second
    questions = runpy.run_path(str(DEMO))["QUESTIONS"]
    shown = first.split("\nQuestion ")[1:]
    assert len(shown) == len(questions) == 9
    assert [
        q.question for q, text in zip(questions, shown, strict=True) if q.question not in text
    ] == []
    assert "[kc-returns-v3:c0]" in shown[0]
    assert "Reason: no_evidence" in shown[3]
    assert "Reason: no_evidence" in shown[7]
    assert "[ac-payout:c0]" in shown[8]
    assert "What to type next" in first
