"""What a document is called and who may see it: front matter, folder manifest, command line.

Two precedences (first wins, key by key). Descriptive metadata: front matter, manifest, command line
or request, detection; the author knows best what a document is. Access metadata: command line or
request, manifest, front matter; the operator decides who sees it. In an untrusted source front
matter can only narrow. The tenant never comes from a document.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace

from evidencedesk.access import AccessRule, Status, check_known_roles, parse_status
from evidencedesk.errors import AccessRuleError, MetadataError
from evidencedesk.model import ParsedDocument

_LANG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
_ID = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_DESCRIPTIVE = ("id", "title", "version", "lang", "owner", "supersedes")


@dataclass(frozen=True, slots=True)
class DeclaredMetadata:
    """What one authority says of a document; None where it says nothing.

    Attributes:
        origin: who says so, for errors: a file name, or "the command line".
        roles: who may see it; an empty set is a statement too (administrators only).
        deny: who may not.
        mask: name of the masking policy to apply.
    """

    origin: str = ""
    id: str | None = None
    title: str | None = None
    version: str | None = None
    lang: str | None = None
    owner: str | None = None
    supersedes: str | None = None
    roles: frozenset[str] | None = None
    deny: frozenset[str] | None = None
    status: str | None = None
    mask: str | None = None

    def over(self, other: DeclaredMetadata) -> DeclaredMetadata:
        """The two laid over each other: what this one says, else what ``other`` says."""
        said = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) is not None
        }
        origin = self.origin or other.origin
        return replace(other, **{**said, "origin": origin})


@dataclass(frozen=True, slots=True)
class AccessDefaults:
    """What the settings say of rights.

    Attributes:
        roles: given to documents about which nobody says anything.
        known_roles: the only names there are; empty when any well-formed name will do.
        tenant: the tenant that documents are ingested into.
    """

    roles: frozenset[str] = frozenset()
    known_roles: frozenset[str] = frozenset()
    tenant: str = "default"


@dataclass(frozen=True, slots=True)
class ResolvedMetadata:
    """Everything that was declared, decided. None where only detection can tell."""

    access: AccessRule
    id: str | None = None
    title: str | None = None
    version: str | None = None
    lang: str | None = None
    owner: str | None = None
    supersedes: str | None = None
    mask: str | None = None


def front_matter_metadata(parsed: ParsedDocument, origin: str) -> DeclaredMetadata:
    """What a document says of itself. Unknown keys are its own business and are left alone."""
    values: Mapping[str, object] = parsed.metadata
    known = {field.name for field in fields(DeclaredMetadata)} - {"origin", "roles", "deny"}
    said = {key: str(values[key]) for key in known if values.get(key) not in (None, "")}
    return DeclaredMetadata(
        origin=origin, roles=_names(values, "roles"), deny=_names(values, "deny"), **said
    )


def _names(values: Mapping[str, object], key: str) -> frozenset[str] | None:
    names = values.get(key)
    return frozenset(str(name) for name in names) if isinstance(names, list) else None


def resolve_metadata(
    *,
    document: DeclaredMetadata,
    manifest: DeclaredMetadata,
    request: DeclaredMetadata,
    defaults: AccessDefaults,
    trusted: bool = True,
) -> ResolvedMetadata:
    """Decide between what the document, its folder and the caller say.

    A document that is not trusted names neither its own id nor a predecessor: it could take the
    place of another.

    Raises:
        MetadataError: a malformed or unknown role, a bad status, language or id; naming the file
            that says it.
    """
    if not trusted:
        document = replace(document, id=None, supersedes=None)
    described = document.over(manifest).over(request)
    ranked = request.over(manifest)
    access = _access(ranked, document, defaults, trusted=trusted)
    _check(described.lang, _LANG, "bad_lang", f"{described.origin}: lang", "en, pt-BR, bn")
    _check(described.id, _ID, "bad_id", f"{described.origin}: id", "kc-returns-v3")
    said = {name: getattr(described, name) for name in _DESCRIPTIVE}
    return ResolvedMetadata(access=access, mask=ranked.mask or document.mask, **said)


def _check(
    value: str | None, allowed: re.Pattern[str], code: str, where: str, examples: str
) -> None:
    if value is not None and not allowed.fullmatch(value):
        raise MetadataError(
            f"{where} is {value!r}.", code=code, hint=f"Write it as in these examples: {examples}."
        )


def _access(
    ranked: DeclaredMetadata,
    document: DeclaredMetadata,
    defaults: AccessDefaults,
    *,
    trusted: bool,
) -> AccessRule:
    outer = _rule(ranked, defaults)
    inner = _rule(document, defaults)
    if trusted:
        return AccessRule(
            tenant=defaults.tenant,
            roles=outer.roles if ranked.roles is not None else inner.roles,
            deny=outer.deny if ranked.deny is not None else inner.deny,
            status=outer.status if ranked.status is not None else inner.status,
        )
    keeps_status = outer.status is not Status.CURRENT or document.status is None
    return AccessRule(
        tenant=defaults.tenant,
        roles=outer.roles if document.roles is None else outer.roles & inner.roles,
        deny=outer.deny | inner.deny,
        status=outer.status if keeps_status else inner.status,
    )


def _rule(declared: DeclaredMetadata, defaults: AccessDefaults) -> AccessRule:
    roles = defaults.roles if declared.roles is None else declared.roles
    try:
        return AccessRule(
            tenant=defaults.tenant,
            roles=check_known_roles(roles, defaults.known_roles),
            deny=check_known_roles(declared.deny or (), defaults.known_roles),
            status=Status.CURRENT if declared.status is None else parse_status(declared.status),
        )
    except AccessRuleError as error:
        where = f"{declared.origin}: " if declared.origin else ""
        raise MetadataError(where + error.message, code=error.code, hint=error.hint) from None


def inputs_hash_of(
    *,
    file_hash: str,
    parser: tuple[str, str],
    manifest: DeclaredMetadata,
    request: DeclaredMetadata,
    defaults: AccessDefaults,
    trusted: bool = True,
    others: Iterable[str] = (),
) -> str:
    """``sha256:<hex>`` of everything a document is made from; equal means nothing to do.

    Args:
        file_hash: of the raw bytes.
        parser: name and version of the parser.
        manifest: what the folder says.
        request: what the caller says.
        defaults: what the settings say.
        trusted: whether front matter counts for access.
        others: whatever else the caller makes documents from (masking policy, root, ...).
    """
    parts = [
        file_hash,
        *parser,
        _canonical(manifest),
        _canonical(request),
        [sorted(defaults.roles), sorted(defaults.known_roles), defaults.tenant],
        trusted,
        list(others),
    ]
    return "sha256:" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _canonical(declared: DeclaredMetadata) -> list[object]:
    values = (getattr(declared, field.name) for field in fields(declared) if field.name != "origin")
    return [sorted(value) if isinstance(value, frozenset) else value for value in values]


LanguageDetector = Callable[[str], str]
