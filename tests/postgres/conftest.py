from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from postgres_partitions import TOGETHER_FILE, TOGETHER_VARIABLE
from postgres_stores import GIVEN_VARIABLE, URL_FILE, URL_VARIABLE

from evidencedesk.adapters.stores.postgres.connections import READER
from evidencedesk.testing.postgres_server import PostgresServer, servers_together, temporary_server

# The property of the spine is held here to another store; pytest adds that folder only when it
# collects it.
sys.path.append(str(Path(__file__).parents[1] / "properties"))
sys.path.append(str(Path(__file__).parents[1] / "end_to_end"))


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for the whole run: the one given, else one of our own."""
    with ExitStack() as stack:
        url = os.environ.get(GIVEN_VARIABLE) or stack.enter_context(temporary_server()).url()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        (tmp_path_factory.getbasetemp() / URL_FILE).write_text(url)
        os.environ[URL_VARIABLE] = url
        yield url
        del os.environ[URL_VARIABLE]


@pytest.fixture(scope="session")
def postgres_together(
    postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[PostgresServer]]:
    """Three servers that reach one another; on the second and third readers have a login."""
    with servers_together(3) as servers:
        for server in servers:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION vector")
                connection.execute(f"CREATE ROLE {READER}".encode())
                connection.execute(f"CREATE ROLE far_reader LOGIN IN ROLE {READER}".encode())
        urls = json.dumps([server.url() for server in servers])
        (tmp_path_factory.getbasetemp() / TOGETHER_FILE).write_text(urls)
        os.environ[TOGETHER_VARIABLE] = urls
        yield servers
        del os.environ[TOGETHER_VARIABLE]
