from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest
from postgres_stores import URL_FILE, URL_VARIABLE

from evidencedesk.testing.postgres_server import temporary_server


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for the whole run: the one given, else one of our own."""
    given = os.environ.get(URL_VARIABLE)
    if given:
        yield given
        return
    with temporary_server() as server:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        (tmp_path_factory.getbasetemp() / URL_FILE).write_text(server.url())
        os.environ[URL_VARIABLE] = server.url()
        yield server.url()
        del os.environ[URL_VARIABLE]
