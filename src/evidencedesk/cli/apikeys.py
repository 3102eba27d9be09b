"""``evidencedesk apikeys``: keys for programs that use the server."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import typer

from evidencedesk.access import Principal, check_known_roles
from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.errors import UsageError
from evidencedesk.registry import load
from evidencedesk.wiring import SystemClock

app = new_app("Who may use the server: keys for programs, and people who are shut out.")

_Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom.")]
_Tenant = Annotated[str | None, typer.Option(help="His tenant.", metavar="TENANT")]
_Permissions = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", help="read, write, audit or metrics; read when not given.", metavar="PERMISSION"
    ),
]


@app.command(
    "create",
    epilog=examples(
        "apikeys create intranet --role staff",
        "apikeys create sync --role staff --allow read --allow write --days 30",
        "apikeys create prometheus --allow metrics",
    ),
)
@command()
def create(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What you call it.")],
    *,
    role: Annotated[
        list[str] | None, typer.Option(help="A role that it reads with.", metavar="ROLE")
    ] = None,
    allow: _Permissions = None,
    tenant: Annotated[str | None, typer.Option(help="Its tenant.", metavar="TENANT")] = None,
    subject: Annotated[
        str | None,
        typer.Option("--as", help="Whose questions they are; the key's own.", metavar="SUBJECT"),
    ] = None,
    administrator: Annotated[
        bool, typer.Option("--administrator", help="It sees every document of the tenant.")
    ] = False,
    days: Annotated[int, typer.Option(help="How long it works; 0: until revoked.", min=0)] = 365,
) -> None:
    """Make a key and show it, once: only its hash is kept."""
    grant = load("evidencedesk.server.state.keys:KeyGrant", extra="server")
    principal = Principal(
        tenant=tenant or call.settings.access.tenant,
        roles=check_known_roles(role or (), call.settings.access.known_roles),
        subject=subject,
        administrator=administrator,
    )
    lifetime = timedelta(days=days) if days else None
    with _state(call) as state:
        text, key = state.keys.create(
            grant(name, principal, _permissions(allow or ["read"]), lifetime)
        )
    if call.as_json:
        call.terminal.json({"key": text, **key.to_json()})
        return
    call.terminal.line((text, "bold"))
    call.terminal.note("It is shown this once. Send it as: Authorization: Bearer KEY")


@app.command("list", epilog=examples("apikeys list", "apikeys list --json"))
@command()
def list_keys(
    call: Call,
    tenant: Annotated[str | None, typer.Option(help="Of one tenant.", metavar="TENANT")] = None,
) -> None:
    """List keys: what they may do, until when, and when they were last used."""
    with _state(call) as state:
        keys = state.keys.list(tenant)
    if call.as_json:
        call.terminal.json({"keys": [key.to_json() for key in keys]})
        return
    call.terminal.table(
        ("key", "name", "tenant", "roles", "may", "expires", "last used", "revoked"),
        (
            (
                key.id,
                key.name,
                key.principal.tenant,
                "administrator"
                if key.principal.administrator
                else " ".join(sorted(key.principal.roles)),
                " ".join(sorted(key.permissions)),
                _day(key.expires_at),
                _day(key.used_at),
                _day(key.revoked_at),
            )
            for key in keys
        ),
    )


@app.command("revoke", epilog=examples("apikeys revoke 0123456789abcdef"))
@command()
def revoke(
    call: Call, key: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key.")]
) -> None:
    """Make a key worthless, at once, in every worker of a running server."""
    with _state(call) as state:
        revoked = state.keys.revoke(key)
    if call.as_json:
        call.terminal.json(revoked.to_json())
    else:
        call.terminal.line(f"Revoked {revoked.id} ({revoked.name})")


@app.command("suspend", epilog=examples("apikeys suspend erika@example.org"))
@command()
def suspend(
    call: Call,
    subject: _Subject,
    tenant: _Tenant = None,
) -> None:
    """Shut somebody out, whatever he comes with: a key, a token or a session."""
    owner = tenant or call.settings.access.tenant
    with _state(call) as state:
        state.suspensions.add(owner, subject)
        ended = state.sessions.close_all(owner, subject)
    if call.as_json:
        call.terminal.json({"tenant": owner, "subject": subject, "sessions_ended": ended})
    else:
        call.terminal.line(f"{subject} is shut out; {ended} sessions ended")


@app.command("restore", epilog=examples("apikeys restore erika@example.org"))
@command()
def restore(
    call: Call,
    subject: _Subject,
    tenant: _Tenant = None,
) -> None:
    """Let somebody in again who was shut out."""
    owner = tenant or call.settings.access.tenant
    with _state(call) as state:
        lifted = state.suspensions.lift(owner, subject)
    if call.as_json:
        call.terminal.json({"tenant": owner, "subject": subject, "restored": lifted})
    else:
        call.terminal.line(f"{subject} is {'let in again' if lifted else 'not shut out'}")


def _state(call: Call) -> Any:
    return load("evidencedesk.server.building:opened_state", extra="server")(
        call.settings, SystemClock()
    )


def _permissions(names: list[str]) -> frozenset[Any]:
    known = load("evidencedesk.server.identity:GRANTABLE", extra="server")
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise UsageError(
            f"There is no permission {unknown[0]!r}.",
            code="bad_permission",
            hint=f"Allow one or more of: {', '.join(sorted(known))}.",
        )
    return frozenset(each for each in known if each.value in names)


def _day(value: Any) -> str:
    return "" if value is None else f"{value:%Y-%m-%d}"
