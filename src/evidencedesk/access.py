"""Who may see what: pure functions over values, deny beats allow, nothing known means nothing seen.

A document carries an :class:`AccessRule`. A reader is a :class:`Principal`. Before anything is
read, the principal and the statuses asked for become an :class:`AccessFilter`, and a store resolves
that filter to the set of access classes (distinct rules) that it admits. No chunk is scored before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from evidencedesk.errors import AccessRuleError

_NAME = re.compile(r"[^\W_][\w.@:/+-]{0,127}")


class Status(StrEnum):
    """Life cycle of a document. Only ``current`` documents are evidence by default."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DRAFT = "draft"
    ARCHIVED = "archived"


DEFAULT_TENANT = "default"
DEFAULT_STATUSES = frozenset({Status.CURRENT})


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Who may see a document.

    Attributes:
        tenant: the one tenant it belongs to; never taken from a document's content.
        roles: any one suffices; empty means administrators of the tenant only.
        deny: any one excludes, whatever else the reader has, administrators included.
        status: life cycle; readers see ``current`` unless they ask for others.
    """

    tenant: str = DEFAULT_TENANT
    roles: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    status: Status = Status.CURRENT


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller.

    Attributes:
        tenant: the one tenant whose documents can be seen at all.
        roles: names of the caller's roles; a role called ``admin`` means nothing special.
        subject: who it is, for receipts and logs; gives no right by itself.
        administrator: sees every document of the tenant that does not deny one of ``roles``.
        auditor: may read other people's answers, the gaps, the ingestion log and the audit chain;
            sees no document, and no quote of one, that ``roles`` do not admit.
    """

    tenant: str = DEFAULT_TENANT
    roles: frozenset[str] = field(default_factory=frozenset)
    subject: str | None = None
    administrator: bool = False
    auditor: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", check_known_roles(self.roles, None))
        check_tenant(self.tenant)

    @property
    def oversees(self) -> bool:
        """Whether others' answers, gaps, log and audit chain may be read: administrator or auditor."""
        return self.administrator or self.auditor


@dataclass(frozen=True, slots=True)
class AccessFilter:
    """A principal together with the statuses asked for: what every read on a store is given.

    ``AccessFilter.for_principal`` is the ordinary way to make one. ``AccessFilter()`` admits nothing
    but documents whose roles it holds, and it holds none: it admits nothing.
    """

    tenant: str = DEFAULT_TENANT
    roles: frozenset[str] = frozenset()
    administrator: bool = False
    statuses: frozenset[Status] = DEFAULT_STATUSES
    auditor: bool = False

    @classmethod
    def for_principal(
        cls, principal: Principal, statuses: Iterable[Status] = DEFAULT_STATUSES
    ) -> AccessFilter:
        """The filter of what ``principal`` may see among documents with one of ``statuses``.

        Raises:
            AccessRuleError: ``bad_status``.
        """
        return cls(
            tenant=principal.tenant,
            roles=principal.roles,
            administrator=principal.administrator,
            statuses=frozenset(parse_status(status) for status in statuses),
            auditor=principal.auditor,
        )

    def admits(self, rule: AccessRule) -> bool:
        """Whether a document with this rule may be seen: tenant, then deny, then roles, then status."""
        if rule.tenant != self.tenant or rule.status not in self.statuses:
            return False
        if rule.deny & self.roles:
            return False
        return self.administrator or bool(rule.roles & self.roles)


def check_role(name: object) -> str:
    """``name`` if it is a well-formed role name, stripped of nothing.

    Raises:
        AccessRuleError: ``bad_role`` when it is not a string of 1 to 128 letters, digits and
            ``_ . @ : / + -`` that starts with a letter or digit.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise AccessRuleError(
            f"{name!r} is not a role name.",
            code="bad_role",
            hint="Use letters, digits and _ . @ : / + - (at most 128), starting with a letter or digit.",
        )
    return name


def check_known_roles(roles: Iterable[str], known: Iterable[str] | None) -> frozenset[str]:
    """``roles`` as a set, each well formed and, where ``known`` is given and not empty, one of it.

    Raises:
        AccessRuleError: ``bad_role`` or ``unknown_role``, naming the role and the known ones.
    """
    if isinstance(roles, str):
        raise AccessRuleError(
            f"{roles!r} is one role where a set of roles is wanted.",
            code="bad_role",
            hint=f"Write {{{roles!r}}}.",
        )
    checked = frozenset(check_role(role) for role in roles)
    allowed = frozenset(known or ())
    unknown = sorted(checked - allowed) if allowed else []
    if unknown:
        raise AccessRuleError(
            f"Unknown role {unknown[0]!r}. Known roles: {', '.join(sorted(allowed))}.",
            code="unknown_role",
            hint="Correct the name, or add it to [access] known_roles.",
        )
    return checked


def check_tenant(name: object) -> str:
    """``name`` if it is a well-formed tenant name (same letters as a role).

    Raises:
        AccessRuleError: ``bad_tenant``.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise AccessRuleError(
            f"{name!r} is not a tenant name.",
            code="bad_tenant",
            hint="Use letters, digits and _ . @ : / + - (at most 128), starting with a letter or digit.",
        )
    return name


def parse_status(name: object) -> Status:
    """The status called ``name``.

    Raises:
        AccessRuleError: ``bad_status``, listing the four there are.
    """
    try:
        return Status(str(name))
    except ValueError:
        raise AccessRuleError(
            f"{name!r} is not a status.",
            code="bad_status",
            hint=f"Use one of: {', '.join(status.value for status in Status)}.",
        ) from None
