"""Access classes: each distinct rule (tenant, status, roles, denials) has a number, 1 and up."""

from __future__ import annotations

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.adapters.stores.postgres.connections import Connection


def class_of(connection: Connection, rule: AccessRule) -> int:
    """The number of ``rule``, given now if it has none."""
    values = (rule.tenant, rule.status.value, sorted(rule.roles), sorted(rule.deny))
    find = (
        "SELECT id FROM access_classes "
        "WHERE (tenant, status, roles, deny) = (%s, %s, %s::text[], %s::text[])"
    )
    found = connection.execute(find, values).fetchone()
    if found is None:
        # DO UPDATE waits for whoever is inserting the same rule, and then returns their number.
        found = connection.execute(
            "INSERT INTO access_classes (tenant, status, roles, deny) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (tenant, status, roles, deny) DO UPDATE SET tenant = excluded.tenant "
            "RETURNING id",
            values,
        ).fetchone()
    assert found is not None
    return int(found[0])


def admitted(connection: Connection, access: AccessFilter) -> tuple[frozenset[int], frozenset[int]]:
    """Numbers of the rules that ``access`` admits, and that it would with all statuses.

    The rules are weighed here, by :meth:`AccessFilter.admits`, whatever the server hides.
    """
    of_any_status = AccessFilter(
        access.tenant, access.roles, access.administrator, frozenset(Status)
    )
    rules = _read_rules(connection, access.tenant)
    return (
        frozenset(number for number, rule in rules.items() if access.admits(rule)),
        frozenset(number for number, rule in rules.items() if of_any_status.admits(rule)),
    )


def _read_rules(connection: Connection, tenant: str) -> dict[int, AccessRule]:
    rows = connection.execute(
        "SELECT id, tenant, status, roles, deny FROM access_classes WHERE tenant = %s", (tenant,)
    )
    return {
        number: AccessRule(tenant, frozenset(roles), frozenset(deny), Status(status))
        for number, tenant, status, roles, deny in rows
    }
