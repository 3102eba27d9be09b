"""Tables of an index, the numbered migrations that lead to them, and who may read which row.

Each time a document's chunks are put into a generation they get a *place*, a number that only grows.
A chunk's key, its *slot*, is its place in the high bits and its ordinal in the low ones. So the chunks
of one placement are one range of slots, slots are ordered as chunks were indexed, and none is used twice.

Every row of content has the *access class* of its document, the number of its combination of tenant,
status, roles and denials. Queries name the classes that a reader is admitted to, and row-level security
asks the same of every row once more, from the reader's tenant, roles and statuses, which it takes from
settings that a reader's transaction makes for itself. What is not set admits nothing.
"""

from __future__ import annotations

from psycopg import sql

from evidencedesk.adapters.stores.postgres import failures
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import READER, Connection

SLOT_BITS = 20
SLOTS_PER_PLACE = 1 << SLOT_BITS
STRIPES = 16
"""Rows over which the revision is spread, so that writers do not wait for one another at it."""

_FIRST = """
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);

CREATE TABLE revisions (stripe integer PRIMARY KEY, number bigint NOT NULL);
INSERT INTO revisions SELECT stripe, 0 FROM generate_series(0, 15) AS stripe;

CREATE SEQUENCE places;

CREATE TABLE generations (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('active', 'building', 'previous')),
    embedding text,
    chunking text NOT NULL,
    normalisation text NOT NULL,
    created_at text NOT NULL,
    runtime text NOT NULL
);
CREATE UNIQUE INDEX one_active ON generations (state) WHERE state = 'active';
CREATE UNIQUE INDEX one_building ON generations (state) WHERE state = 'building';

CREATE TABLE access_classes (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    status text NOT NULL,
    roles text[] NOT NULL,
    deny text[] NOT NULL,
    UNIQUE (tenant, status, roles, deny)
);

CREATE TABLE documents (
    doc bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    id text COLLATE "C" NOT NULL,
    class integer NOT NULL REFERENCES access_classes,
    record text NOT NULL,
    content_hash text NOT NULL,
    text bytea NOT NULL,
    anchors bytea NOT NULL,
    boxes bytea NOT NULL,
    UNIQUE (tenant, id)
);

CREATE TABLE history (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    doc bigint NOT NULL REFERENCES documents,
    class integer NOT NULL REFERENCES access_classes,
    content_hash text NOT NULL,
    record text NOT NULL,
    text bytea NOT NULL
);
CREATE INDEX history_by_document ON history (doc);

CREATE TABLE placements (
    doc bigint NOT NULL REFERENCES documents,
    generation integer NOT NULL REFERENCES generations,
    place bigint NOT NULL,
    class integer NOT NULL REFERENCES access_classes,
    chunks integer NOT NULL,
    length bigint NOT NULL,
    vectors integer NOT NULL,
    terms bigint[] NOT NULL,
    PRIMARY KEY (doc, generation)
);
CREATE INDEX placements_by_class ON placements (generation, class) INCLUDE (chunks, length, vectors);

CREATE TABLE chunks (
    slot bigint PRIMARY KEY,
    doc bigint NOT NULL REFERENCES documents,
    class integer NOT NULL,
    ordinal integer NOT NULL,
    location text NOT NULL,
    context bytea NOT NULL,
    text bytea NOT NULL,
    length integer NOT NULL,
    embedding_key text NOT NULL,
    vector bytea,
    sentence_codes bytea,
    sentence_scales bytea
) WITH (toast_tuple_target = 8160);
ALTER TABLE chunks ALTER vector SET STORAGE EXTERNAL, ALTER sentence_codes SET STORAGE EXTERNAL;
CREATE INDEX chunks_by_document ON chunks (doc);
CREATE INDEX chunks_by_key ON chunks (embedding_key) WHERE embedding_key <> '';

CREATE TABLE vectors (
    slot bigint PRIMARY KEY,
    generation integer NOT NULL,
    class integer NOT NULL,
    scale real NOT NULL,
    codes halfvec NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE vectors ALTER codes SET STORAGE EXTERNAL;
CREATE INDEX vectors_by_class ON vectors (generation, class);

CREATE TABLE postings (
    generation integer NOT NULL,
    term bigint NOT NULL,
    class integer NOT NULL,
    place bigint NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (generation, term, class, place)
);

CREATE TABLE log (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    document_id text NOT NULL,
    class integer,
    entry text NOT NULL
);
CREATE INDEX log_by_document ON log (tenant, document_id);

CREATE TABLE subject_keys (
    tenant text NOT NULL,
    subject text NOT NULL,
    key bytea NOT NULL,
    PRIMARY KEY (tenant, subject)
);

CREATE TABLE receipts (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    answer_id text NOT NULL,
    subject text NOT NULL,
    at text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    record text NOT NULL,
    content text NOT NULL,
    position bigint NOT NULL,
    UNIQUE (tenant, answer_id)
);
CREATE INDEX receipts_by_subject ON receipts (tenant, subject);
CREATE INDEX receipts_by_time ON receipts (tenant, at);

CREATE TABLE receipt_documents (
    tenant text NOT NULL,
    document_id text NOT NULL,
    receipt bigint NOT NULL REFERENCES receipts,
    PRIMARY KEY (tenant, document_id, receipt)
);
CREATE INDEX documents_by_receipt ON receipt_documents (receipt);

CREATE TABLE audit (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    previous text NOT NULL,
    event text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (tenant, number)
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE 'the audit chain is append-only'; END $$;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
EXECUTE FUNCTION refuse_change();

CREATE FUNCTION names_of(setting text) RETURNS text[] STABLE PARALLEL SAFE LANGUAGE sql AS $$
SELECT coalesce(array_agg(name), '{}')
FROM json_array_elements_text(nullif(current_setting(setting, true), '')::json) AS name
$$;

CREATE FUNCTION exponent_of(value double precision) RETURNS integer IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
SELECT guess + (value >= power(2::float8, guess))::integer
    - (value < power(2::float8, guess - 1))::integer
FROM (SELECT ceil(ln(value) / ln(2::float8))::integer AS guess) AS guessed
$$;

ALTER TABLE access_classes ENABLE ROW LEVEL SECURITY;
CREATE POLICY admitted ON access_classes FOR SELECT TO evidencedesk_reader USING (
    tenant = (SELECT current_setting('evidencedesk.tenant', true))
    AND NOT deny && (SELECT names_of('evidencedesk.roles'))
    AND (roles && (SELECT names_of('evidencedesk.roles'))
        OR (SELECT current_setting('evidencedesk.administrator', true)) = 'true'));

ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE placements ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE postings ENABLE ROW LEVEL SECURITY;
CREATE POLICY admitted ON documents FOR SELECT TO evidencedesk_reader USING (class IN (
    SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses'))));
CREATE POLICY admitted ON placements FOR SELECT TO evidencedesk_reader USING (class IN (
    SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses'))));
CREATE POLICY admitted ON chunks FOR SELECT TO evidencedesk_reader USING (class IN (
    SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses'))));
CREATE POLICY admitted ON vectors FOR SELECT TO evidencedesk_reader USING (class IN (
    SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses'))));
CREATE POLICY admitted ON postings FOR SELECT TO evidencedesk_reader USING (class IN (
    SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses'))));

ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY admitted ON history FOR SELECT TO evidencedesk_reader USING (
    class IN (SELECT id FROM access_classes)
    AND EXISTS (SELECT FROM documents WHERE documents.doc = history.doc));

ALTER TABLE log ENABLE ROW LEVEL SECURITY;
CREATE POLICY admitted ON log FOR SELECT TO evidencedesk_reader USING (
    tenant = (SELECT current_setting('evidencedesk.tenant', true))
    AND (SELECT current_setting('evidencedesk.administrator', true)) = 'true'
    AND (class IS NULL OR class IN (
        SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses')))));

ALTER TABLE subject_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE receipt_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;

GRANT SELECT ON facts, revisions, generations, access_classes, documents, history, placements, chunks,
    vectors, postings, log TO evidencedesk_reader;
"""

_FEEDBACK = """
CREATE TABLE feedback (
    tenant text NOT NULL,
    receipt bigint NOT NULL REFERENCES receipts ON DELETE CASCADE,
    subject text NOT NULL,
    at text COLLATE "C" NOT NULL,
    verdict text NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (receipt, subject)
);
CREATE INDEX feedback_by_tenant ON feedback (tenant);

CREATE TABLE notices (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    channel text NOT NULL,
    notice text NOT NULL,
    attempts integer NOT NULL,
    due text COLLATE "C" NOT NULL,
    failure text NOT NULL
);
CREATE INDEX notices_by_time ON notices (due);

ALTER TABLE feedback ENABLE ROW LEVEL SECURITY;
ALTER TABLE notices ENABLE ROW LEVEL SECURITY;

DROP POLICY admitted ON log;
CREATE POLICY admitted ON log FOR SELECT TO evidencedesk_reader USING (
    tenant = (SELECT current_setting('evidencedesk.tenant', true))
    AND 'true' IN (SELECT unnest(ARRAY[current_setting('evidencedesk.administrator', true),
        current_setting('evidencedesk.auditor', true)]))
    AND (class IS NULL OR class IN (
        SELECT id FROM access_classes WHERE status = ANY (names_of('evidencedesk.statuses')))));
"""

_TOKENS = """
ALTER TABLE chunks ADD token_spans bytea, ADD token_codes bytea, ADD token_scales bytea;
ALTER TABLE chunks ALTER token_codes SET STORAGE EXTERNAL;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _FEEDBACK, _TOKENS)
"""Script ``n`` leads from version ``n`` (0 is blank) to ``n + 1``. Never edited once released."""

VERSION = len(MIGRATIONS)

SCHEMA_FACT = "schema_version"


def lock(connection: Connection, schema: str) -> None:
    """Wait until nobody else migrates the schema; until the end of the transaction."""
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"evidencedesk migrate {schema}",)
    )


def version_of(connection: Connection, address: Address) -> int | None:
    """Version of the tables; None when the schema is not there or empty.

    Raises:
        IndexDamagedError: ``index_not_ours``: it holds other tables.
        IndexMismatchError: ``index_mismatch``: a newer EvidenceDesk made it.
    """
    tables = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE nspname = %s AND relkind IN ('r', 'p', 'v', 'm', 'f')",
        (address.schema,),
    ).fetchall()
    if not tables:
        return None
    if ("facts",) not in tables or ("generations",) not in tables:
        raise failures.not_ours(address, "its schema holds other tables")
    version = recorded_version(connection)
    if not version:
        raise failures.not_ours(address, "its schema holds other tables")
    if version > VERSION:
        raise failures.other_schema(version, VERSION)
    return version


def recorded_version(connection: Connection) -> int:
    """Version that the tables say they have; 0 when they do not say."""
    row = connection.execute("SELECT value FROM facts WHERE name = %s", (SCHEMA_FACT,)).fetchone()
    return 0 if row is None else int(row[0])


def migrate(
    connection: Connection, address: Address, scripts: tuple[str, ...] = MIGRATIONS
) -> None:
    """Bring the schema to the newest version, all of it in the transaction that is open.

    Raises:
        IndexUnavailableError: ``server_unprepared``: no pgvector, or no role of the reader, and this
            login may not make them.
    """
    version = version_of(connection, address) or 0
    if not version:
        _prepare(connection, address)
    for script in scripts[version:]:
        connection.execute(script.encode())
    connection.execute(
        "INSERT INTO facts VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (SCHEMA_FACT, str(len(scripts))),
    )


def _prepare(connection: Connection, address: Address) -> None:
    _ensure_vector(connection, address)
    _ensure_reader(connection, address)
    schema, reader = sql.Identifier(address.schema), sql.Identifier(READER)
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, reader))


def _ensure_vector(connection: Connection, address: Address) -> None:
    if connection.execute("SELECT FROM pg_extension WHERE extname = 'vector'").fetchone() is None:
        statement = "CREATE EXTENSION vector"
        _or_unprepared(connection, address, "has no pgvector in this database", statement)


def _ensure_reader(connection: Connection, address: Address) -> None:
    exists = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (READER,)).fetchone()
    if exists is None:
        # Another database of the server may be making it now; roles are the server's.
        statement = (
            f"DO $$ BEGIN CREATE ROLE {READER} NOLOGIN NOBYPASSRLS; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
        _or_unprepared(connection, address, f"has no role {READER!r}", statement)
    member = "SELECT pg_has_role(%s, 'MEMBER')"
    if connection.execute(member, (READER,)).fetchone() != (True,):
        statement = f"GRANT {READER} TO CURRENT_USER"
        _or_unprepared(connection, address, f"gave this login no part in {READER!r}", statement)


def _or_unprepared(connection: Connection, address: Address, what: str, statement: str) -> None:
    with failures.unprepared_if_refused(address, what, statement):
        connection.execute(statement.encode())
