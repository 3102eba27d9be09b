"""From claims to a principal and permissions, as the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from evidencedesk.access import Principal, check_role, check_tenant
from evidencedesk.errors import AccessRuleError
from evidencedesk.server.identity import Permission
from evidencedesk.settings import Settings

_SUBJECT_CHARS = 255


@dataclass(frozen=True, slots=True)
class Granted:
    """Who somebody is and what he may do."""

    principal: Principal
    permissions: frozenset[Permission]


def granted(claims: Mapping[str, Any], settings: Settings) -> Granted | None:
    """Who the claims are of; None when they do not say it, or name no tenant where one is wanted.

    A role that is not well formed, or is none of ``[access] known_roles``, is left out.
    """
    oidc = settings.server.oidc
    subject, tenant = claim(claims, oidc.subject_claim), _tenant(claims, settings)
    if not _is_name(subject) or tenant is None:
        return None
    roles = _roles(claim(claims, oidc.roles_claim), frozenset(settings.access.known_roles))
    named = frozenset(_names(claim(claims, oidc.roles_claim)))
    auditor = bool(named & set(oidc.auditor_roles))
    permissions = {Permission.READ}
    permissions |= {Permission.WRITE} if named & set(oidc.writer_roles) else set()
    permissions |= {Permission.AUDIT} if auditor else set()
    principal = Principal(
        tenant=tenant,
        roles=roles,
        subject=subject,
        administrator=bool(named & set(oidc.administrator_roles)),
        auditor=auditor,
    )
    if principal.administrator:
        permissions |= {Permission.WRITE, Permission.AUDIT}
    return Granted(principal, frozenset(permissions))


def claim(claims: Mapping[str, Any], path: str) -> Any:
    """The claim at ``path``: under that very name, else inside where its dots lead."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _tenant(claims: Mapping[str, Any], settings: Settings) -> str | None:
    path = settings.server.oidc.tenant_claim
    if path is None:
        return settings.access.tenant
    try:
        return check_tenant(claim(claims, path))
    except AccessRuleError:
        return None


def _roles(value: Any, known: frozenset[str]) -> frozenset[str]:
    found = set()
    for name in _names(value):
        try:
            found.add(check_role(name))
        except AccessRuleError:
            continue
    return frozenset(found & known) if known else frozenset(found)


def _is_name(value: Any) -> TypeGuard[str]:
    """Half characters and zero bytes are no names: not every database takes them."""
    return isinstance(value, str) and 0 < len(value) <= _SUBJECT_CHARS and value.isprintable()


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
