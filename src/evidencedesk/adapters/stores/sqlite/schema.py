"""Tables of an index and the numbered migrations that lead to them.

A chunk's row number is its *slot*: the generation in the high bits, a counter that only grows in
the low ones. So the chunks of a generation are one range of row numbers in the order in which they
were indexed, a slot is never used twice, and ``slot > n`` finds what is new.
"""

from __future__ import annotations

import sqlite3

from evidencedesk.errors import IndexMismatchError

APPLICATION_ID = 0x4564446B
"""``EdDk``, in the database header: how an index is told from other SQLite files."""

SLOTS_PER_GENERATION = 1 << 40

DELETE_SLOTS = (
    "DELETE FROM chunks WHERE slot BETWEEN ? AND ?",
    "DELETE FROM features WHERE slot BETWEEN ? AND ?",
    "DELETE FROM vectors WHERE slot BETWEEN ? AND ?",
    "DELETE FROM sentences WHERE slot BETWEEN ? AND ?",
    "DELETE FROM tokens WHERE slot BETWEEN ? AND ?",
)

_FIRST = """
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    sequence INTEGER NOT NULL,
    layout INTEGER NOT NULL,
    pruned INTEGER NOT NULL
) STRICT;
INSERT INTO state VALUES (1, 1, 1, 0);

CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL CHECK (state IN ('active', 'building', 'previous')),
    embedding TEXT,
    chunking TEXT NOT NULL,
    normalisation TEXT NOT NULL,
    created_at TEXT NOT NULL,
    runtime TEXT NOT NULL,
    next_slot INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_active ON generations (state) WHERE state = 'active';
CREATE UNIQUE INDEX one_building ON generations (state) WHERE state = 'building';

CREATE TABLE access_classes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    status TEXT NOT NULL,
    roles TEXT NOT NULL,
    deny TEXT NOT NULL,
    UNIQUE (tenant, status, roles, deny)
) STRICT;

CREATE TABLE documents (
    doc INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    class INTEGER NOT NULL REFERENCES access_classes (id),
    record TEXT NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

CREATE TABLE contents (
    doc INTEGER PRIMARY KEY REFERENCES documents (doc),
    text TEXT NOT NULL,
    anchors BLOB NOT NULL,
    boxes BLOB NOT NULL
) STRICT;

CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    doc INTEGER NOT NULL REFERENCES documents (doc),
    class INTEGER NOT NULL REFERENCES access_classes (id),
    content_hash TEXT NOT NULL,
    record TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX history_by_document ON history (doc);

CREATE TABLE placements (
    doc INTEGER NOT NULL REFERENCES documents (doc),
    generation INTEGER NOT NULL REFERENCES generations (id),
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    class INTEGER NOT NULL REFERENCES access_classes (id),
    vectors INTEGER NOT NULL,
    PRIMARY KEY (doc, generation)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
    slot INTEGER PRIMARY KEY,
    doc INTEGER NOT NULL REFERENCES documents (doc),
    ordinal INTEGER NOT NULL,
    location TEXT NOT NULL,
    context TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE features (
    slot INTEGER PRIMARY KEY,
    length INTEGER NOT NULL,
    terms BLOB NOT NULL,
    counts BLOB NOT NULL,
    codes BLOB NOT NULL,
    scale REAL NOT NULL
) STRICT;

CREATE TABLE vectors (
    slot INTEGER PRIMARY KEY,
    vector BLOB NOT NULL,
    embedding_key TEXT NOT NULL
) STRICT;
CREATE INDEX vectors_by_key ON vectors (embedding_key) WHERE embedding_key <> '';

CREATE TABLE sentences (
    slot INTEGER PRIMARY KEY,
    codes BLOB NOT NULL,
    scales BLOB NOT NULL
) STRICT;

CREATE TABLE changes (
    sequence INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    class INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_by_sequence ON changes (sequence);

CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    file TEXT NOT NULL,
    size INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    retired INTEGER
) STRICT;

CREATE TABLE log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    document_id TEXT NOT NULL,
    class INTEGER,
    entry TEXT NOT NULL
) STRICT;
CREATE INDEX log_by_document ON log (tenant, document_id);
"""

_RECEIPTS = """
CREATE TABLE subject_keys (
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (tenant, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    answer_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    record TEXT NOT NULL,
    content TEXT NOT NULL,
    position INTEGER NOT NULL,
    UNIQUE (tenant, answer_id)
) STRICT;
CREATE INDEX receipts_by_subject ON receipts (tenant, subject);
CREATE INDEX receipts_by_time ON receipts (tenant, at);

CREATE TABLE receipt_documents (
    tenant TEXT NOT NULL,
    document_id TEXT NOT NULL,
    receipt INTEGER NOT NULL REFERENCES receipts (number),
    PRIMARY KEY (tenant, document_id, receipt)
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_by_receipt ON receipt_documents (receipt);

CREATE TABLE audit (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    previous TEXT NOT NULL,
    event TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit chain is append-only'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit chain is append-only'); END;
"""

_FEEDBACK = """
CREATE TABLE feedback (
    tenant TEXT NOT NULL,
    receipt INTEGER NOT NULL REFERENCES receipts (number),
    subject TEXT NOT NULL,
    at TEXT NOT NULL,
    verdict TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (receipt, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_tenant ON feedback (tenant);
CREATE INDEX feedback_by_subject ON feedback (tenant, subject);

CREATE TABLE notices (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    channel TEXT NOT NULL,
    notice TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due TEXT NOT NULL,
    failure TEXT NOT NULL
) STRICT;
CREATE INDEX notices_by_time ON notices (due);
"""

_TOKENS = """
CREATE TABLE tokens (
    slot INTEGER PRIMARY KEY,
    spans BLOB NOT NULL,
    codes BLOB NOT NULL,
    scales BLOB NOT NULL
) STRICT;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _RECEIPTS, _FEEDBACK, _TOKENS)
"""Script ``n`` leads from version ``n`` (0 is blank) to ``n + 1``. Never edited once released."""

VERSION = len(MIGRATIONS)

RECEIPTS_SINCE = 2
"""First version that has receipts; an older index that cannot be written has none."""

FEEDBACK_SINCE = 3
"""First version that has feedback and notices; the same is true of them."""


def migrate(connection: sqlite3.Connection, scripts: tuple[str, ...] = MIGRATIONS) -> None:
    """Bring the database to the newest version, all of it in the transaction that is open."""
    version = version_of(connection)
    for script in scripts[version:]:
        for statement in _statements(script):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(scripts)}")


def version_of(connection: sqlite3.Connection) -> int:
    """Version of the schema, 0 for a blank database.

    Raises:
        IndexMismatchError: ``index_mismatch`` when a newer EvidenceDesk made it.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise IndexMismatchError(
            f"The index has schema version {version}, this EvidenceDesk knows up to {VERSION}.",
            hint="Update EvidenceDesk.",
        )
    return version


def is_blank(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever stored: what a crash during creation leaves behind."""
    return not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()


def application_id(connection: sqlite3.Connection) -> int:
    """The mark in the header."""
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _statements(script: str) -> list[str]:
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
