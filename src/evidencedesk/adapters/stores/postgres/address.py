"""Where an index on PostgreSQL is: a libpq address, and the schema in it that holds the index.

    postgresql://desk@db.example/company?schema=handbook

``schema`` is ours, everything else is libpq's. A database may hold many indexes, one per schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from evidencedesk.errors import SettingsError

SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "evidencedesk"

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,47}")


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address.

    Attributes:
        conninfo: what libpq is given; may hold a password.
        schema: the schema that holds the index.
        shown: the address for people, without password.
    """

    conninfo: str
    schema: str
    shown: str

    @classmethod
    def parse(cls, url: str) -> Address:
        """The address that ``url`` writes.

        Raises:
            SettingsError: ``bad_index_url``.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise _bad("it is malformed") from error
        if parts.scheme not in SCHEMES:
            raise _bad(f"it does not begin with {SCHEMES[0]}://")
        query = parse_qsl(parts.query, keep_blank_values=True)
        schema = dict(query).get("schema", DEFAULT_SCHEMA)
        if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
            raise _bad(f"{schema!r} is not a schema name of ours (a-z, 0-9, _; at most 48)")
        theirs = urlencode([(name, value) for name, value in query if name != "schema"])
        user = f"{parts.username}@" if parts.username else ""
        place = f"{host or dict(query).get('host', '')}{f':{port}' if port else ''}"
        return cls(
            conninfo=f"{SCHEMES[0]}://{parts.netloc}{parts.path}{'?' if theirs else ''}{theirs}",
            schema=schema,
            shown=f"{SCHEMES[0]}://{user}{place}{parts.path}?schema={schema}",
        )


def _bad(why: str) -> SettingsError:
    return SettingsError(
        f"The address in [index] url cannot be used: {why}.",
        code="bad_index_url",
        hint="Write postgresql://USER@HOST/DATABASE?schema=NAME.",
    )
