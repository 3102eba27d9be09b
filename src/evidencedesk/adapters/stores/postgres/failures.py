"""PostgreSQL's errors said as ours, with what to do about them. Never a partial answer instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.shared import refusals
from evidencedesk.errors import (
    EvidenceDeskError,
    IndexDamagedError,
    IndexMismatchError,
    IndexUnavailableError,
)

_BUSY = {"53300", "55P03", "40001", "40P01"}
_FULL_HOUSE = ("too many clients", "remaining connection slots", "too many connections")
"""A server that takes no more connections says so without a code that libpq hands on."""

_READ_ONLY = {"42501", "25006"}
_FULL = {"53100", "53000", "53200", "53400"}
_CANCELLED = {"57014", "25P03", "25P04"}
_DAMAGED = {"42P01", "42703", "42883", "XX001", "XX002"}


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Raise our errors in place of those of PostgreSQL for the index at ``address``."""
    try:
        yield
    except PoolTimeout as error:
        raise busy(address, "no connection became free in time") from error
    except TooManyRequests as error:
        raise busy(address, "too many are waiting for a connection") from error
    except PoolClosed as error:
        raise closed(address) from error
    except psycopg.Error as error:
        raise _translation(error, address) from error


def busy(address: Address, detail: str) -> IndexUnavailableError:
    """Somebody else holds what we need for longer than we wait."""
    return IndexUnavailableError(
        f"The index {address.shown!r} is busy ({detail}).",
        code="index_busy",
        hint="Try again; if it lasts, look for long transactions and at max_connections.",
    )


def timed_out(address: Address, detail: str) -> IndexUnavailableError:
    """A statement ran longer than it may, or a transaction lay idle for too long."""
    return IndexUnavailableError(
        f"The index {address.shown!r} took too long ({detail}).",
        code="index_timeout",
        hint="Try again; `docs/postgres.md` says how to find what is slow.",
    )


def unreachable(address: Address, detail: str) -> IndexUnavailableError:
    """There is no server, or it went away."""
    return IndexUnavailableError(
        f"The index server of {address.shown!r} cannot be reached ({detail}).",
        code="index_unreachable",
        hint="Check the address and that the server runs; nothing half-done was kept.",
    )


def read_only(address: Address) -> IndexUnavailableError:
    """This login may not write, or the server is a replica."""
    return IndexUnavailableError(
        f"The index {address.shown!r} cannot be written with this login or on this server.",
        code="index_read_only",
        hint="Log in as the owner of the schema, on the primary.",
    )


def disk_full(address: Address, detail: str) -> IndexUnavailableError:
    """The server is out of something; the transaction was rolled back."""
    return refusals.disk_full(address.shown, detail, where="the server")


def missing(address: Address) -> IndexUnavailableError:
    """There is no index in the schema."""
    return refusals.missing(address.shown)


def closed(address: Address) -> IndexUnavailableError:
    """The store was closed."""
    return refusals.closed(address.shown)


def not_ours(address: Address, what: str) -> IndexDamagedError:
    """Something else is in the schema."""
    return refusals.not_ours(address.shown, what, other="schema")


def damaged(address: Address, detail: str) -> IndexDamagedError:
    """The database contradicts itself or lacks what it should have."""
    return refusals.damaged(address.shown, detail, drop="drop the schema")


def other_schema(version: int, known: int) -> IndexMismatchError:
    """Tables of another version."""
    update = version > known
    return IndexMismatchError(
        f"The index has schema version {version}, this EvidenceDesk works with {known}.",
        hint="Update EvidenceDesk."
        if update
        else "Write to it once as its owner: that updates it.",
    )


def unprepared(address: Address, what: str, statement: str) -> IndexUnavailableError:
    """The server lacks something that only its administrator can give it."""
    return IndexUnavailableError(
        f"The server of {address.shown!r} {what}.",
        code="server_unprepared",
        hint=f"Let its administrator run: {statement}",
    )


@contextmanager
def unprepared_if_refused(address: Address, what: str, statement: str) -> Iterator[None]:
    """Say what the server lacks where this login may not give it, or it cannot be had."""
    try:
        yield
    except psycopg.Error as error:
        raise unprepared(address, what, statement) from error


def _translation(error: psycopg.Error, address: Address) -> EvidenceDeskError:
    state = error.sqlstate or ""
    detail = " ".join(str(error).split()) or type(error).__name__
    if state in _BUSY or any(words in detail for words in _FULL_HOUSE):
        return busy(address, detail)
    if state in _READ_ONLY:
        return read_only(address)
    if state in _FULL:
        return disk_full(address, detail)
    if state in _CANCELLED:
        return timed_out(address, detail)
    if state.startswith(("08", "57P", "28", "HV")) or isinstance(error, psycopg.OperationalError):
        return unreachable(address, detail)
    return damaged(address, detail)
