"""Access classes: each distinct rule (tenant, status, roles, denials) has a number, 1 and up.

Class 0 is that of removed chunks; no filter admits it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from evidencedesk.access import AccessFilter, AccessRule, Status

DEAD = 0


def class_of(connection: sqlite3.Connection, rule: AccessRule) -> int:
    """The number of ``rule``, given now if it has none."""
    values = columns_of(rule)
    found = connection.execute(
        "SELECT id FROM access_classes WHERE (tenant, status, roles, deny) = (?, ?, ?, ?)", values
    ).fetchone()
    if found is None:
        found = connection.execute(
            "INSERT INTO access_classes (tenant, status, roles, deny) VALUES (?, ?, ?, ?) "
            "RETURNING id",
            values,
        ).fetchone()
    return int(found[0])


def columns_of(rule: AccessRule) -> tuple[str, str, str, str]:
    """Tenant, status, roles and denials of ``rule`` as they are stored."""
    return rule.tenant, rule.status.value, _names(rule.roles), _names(rule.deny)


def read_rules(connection: sqlite3.Connection, above: int = DEAD) -> dict[int, AccessRule]:
    """Rules with numbers greater than ``above``."""
    rows = connection.execute(
        "SELECT id, tenant, status, roles, deny FROM access_classes WHERE id > ?", (above,)
    )
    return {
        number: AccessRule(
            tenant, frozenset(json.loads(roles)), frozenset(json.loads(deny)), Status(status)
        )
        for number, tenant, status, roles, deny in rows
    }


def admitted(rules: Mapping[int, AccessRule], access: AccessFilter) -> frozenset[int]:
    """Numbers of the rules that ``access`` admits."""
    return frozenset(number for number, rule in rules.items() if access.admits(rule))


def _names(names: frozenset[str]) -> str:
    return json.dumps(sorted(names))
