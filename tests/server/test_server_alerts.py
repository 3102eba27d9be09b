"""Alert rules and dashboard ask for figures that the server has, and every rule is tried."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from evidencedesk.server.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yaml"
TRIALS = DEPLOY / "prometheus" / "alerts.test.yaml"
DASHBOARD = DEPLOY / "grafana" / "dashboard.json"


def names_in(expression: str) -> set[str]:
    return set(re.findall(r"\bevidencedesk_\w+", expression))


def exported() -> set[str]:
    """Names of all series, those of figures without a value yet included."""
    found = set()
    for name, kind in re.findall(r"# TYPE (\w+) (\w+)", Metrics().rendered().decode()):
        found |= {name, f"{name}_bucket"} if kind == "histogram" else {name}
    return found


def rules() -> list[dict[str, Any]]:
    return [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]


def test_alerts_ask_for_figures_that_there_are() -> None:
    asked = {name for rule in rules() for name in names_in(rule["expr"])}
    assert len(asked) >= 8
    assert asked - exported() == set()


def test_the_dashboard_asks_for_figures_that_there_are() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = {
        name for panel in panels for target in panel["targets"] for name in names_in(target["expr"])
    }
    assert len(asked) >= 12
    assert asked - exported() == set()


def test_every_alert_says_what_to_do_and_is_tried_with_promtool() -> None:
    trials = yaml.safe_load(TRIALS.read_text())["tests"]
    expected = {
        (check["alertname"], bool(check["exp_alerts"]))
        for trial in trials
        for check in trial["alert_rule_test"]
    }
    for rule in rules():
        assert {(rule["alert"], True), (rule["alert"], False)} <= expected
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["action"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
