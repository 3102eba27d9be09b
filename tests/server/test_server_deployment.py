"""What ships for running the server names figures, settings and files that are there."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from evidencedesk.server.metrics import Metrics
from evidencedesk.settings import load_settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
COUNTED = re.compile(r"evidencedesk_[a-z_]+")


def figures() -> dict[str, frozenset[str]]:
    """Every figure that can be asked for, with its labels."""
    found: dict[str, frozenset[str]] = {}
    for collector in Metrics()._registry._collector_to_names:
        name, labels = collector._name, frozenset(collector._labelnames)
        counts = type(collector).__name__ == "Counter"
        kinds = ["total"] if counts else ["bucket", "sum", "count"]
        found.update({f"{name}_{kind}": labels for kind in kinds})
    return found


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    board = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text("utf-8"))
    return [
        *(rule["expr"] for rule in rules()),
        *(target["expr"] for panel in board["panels"] for target in panel["targets"]),
    ]


@pytest.mark.parametrize("expression", expressions())
def test_alerts_and_dashboard_name_figures_and_labels_that_are_there(expression: str) -> None:
    known = figures()
    named = set(COUNTED.findall(expression.replace('job="evidencedesk"', "")))
    assert named <= known.keys()
    assert named or expression.startswith("up{")
    labels = set(re.findall(r"(\w+)(?:=~|!~|=|!=)\"", expression)) - {"job"}
    labels |= {
        label.strip()
        for each in re.findall(r"by \(([^)]*)\)", expression)
        for label in each.split(",")
    }
    allowed = {"le"}.union(*(known[name] for name in COUNTED.findall(expression) if name in known))
    assert labels <= allowed
    assert expression.count("(") == expression.count(")")


def test_every_alert_says_what_to_do_and_is_tried_with_promtool() -> None:
    trials = yaml.safe_load((PROMETHEUS / "alerts.test.yaml").read_text("utf-8"))["tests"]
    expected = {
        (check["alertname"], bool(check["exp_alerts"]))
        for trial in trials
        for check in trial["alert_rule_test"]
    }
    stated = rules()
    assert len(stated) >= 8
    for rule in stated:
        assert {(rule["alert"], True), (rule["alert"], False)} <= expected
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["action"]
        assert rule["labels"]["severity"] in {"page", "ticket"}


def test_the_documentation_lists_every_figure() -> None:
    page = (ROOT / "docs" / "server.md").read_text("utf-8")
    shown = set(COUNTED.findall(page))
    wanted = {re.sub(r"_(bucket|sum|count)$", "", name) for name in figures()}
    assert wanted - shown == set()


def test_a_figure_that_is_asked_for_is_shown(server: Any) -> None:
    shown = server.client.get("/metrics", headers=server.key()).text
    names = set(re.findall(r"# TYPE (\S+)", shown))
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in figures()} <= names


def test_files_that_are_copied_into_the_image_are_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    lines = re.findall(r"(?m)^COPY (?!--from)(.+)$", text)
    copied = {name for line in lines for name in line.split()[:-1]}
    required = set(re.findall(r"-r (\S+)", text))
    assert {"pyproject.toml", "src"} <= copied
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    assert required
    assert {name for name in required if not (ROOT / name).is_file()} == set()


def test_settings_of_the_image_are_settings() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    named = dict(re.findall(r"(EVIDENCEDESK_\w+)=(\S+)", text))
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    named |= compose["services"]["desk"]["environment"]
    settings = load_settings(environment=named, folder=Path("/")).settings
    assert settings.server.authentication == ("keys",)
    assert settings.access.default_roles == ("everyone",)


def test_the_unit_is_hardened_and_waits_for_answers() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "evidencedesk.service", "utf-8")
    service = unit["Service"]
    assert " serve " in service["ExecStart"] + " "
    assert service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert (
        int(service["TimeoutStopSec"])
        > load_settings(environment={}, folder=Path("/")).settings.server.shutdown_s
    )
