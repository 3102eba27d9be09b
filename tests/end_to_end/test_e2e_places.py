"""What is at the place, read from the file by a reader that is not ours, is what was shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import block_at, squeezed, text_at, without_numbers
from sample_corpora import OPERATOR, folded, paths_by_id, questions_of

from evidencedesk import Chunk, Desk, EvidenceDeskError, Location, Principal, Status

PATHS = paths_by_id()
EVERYTHING = set(Status)


def chunks_of(desk: Desk, document: str) -> list[Chunk]:
    found: list[Chunk] = []
    while True:
        try:
            name = f"{document}:c{len(found)}"
            found.append(desk.chunk(name, principal=OPERATOR, statuses=EVERYTHING))
        except EvidenceDeskError:
            return found


def assert_stands_there(text: str, path: Path, place: Location) -> None:
    there = text_at(path, place)
    if path.suffix == ".md":
        assert folded(text) in there
    elif path.suffix == ".pdf":
        assert squeezed(there) == squeezed(text)
    else:
        plain = squeezed(without_numbers(text).replace("|", ""))
        assert plain in squeezed(there.replace("|", ""))
        assert plain[:12] in squeezed(block_at(path, place).replace("|", ""))


@pytest.mark.parametrize("document", PATHS)
def test_every_chunk_is_what_stands_at_its_place(samples: Desk, document: str):
    chunks = chunks_of(samples, document)
    assert chunks
    for chunk in chunks:
        assert_stands_there(chunk.text, PATHS[document], chunk.location)


@pytest.mark.parametrize("document", PATHS)
def test_offsets_are_of_the_text_that_is_shown(samples: Desk, document: str):
    text = samples.document(document, principal=OPERATOR, statuses=EVERYTHING).text
    chunks = chunks_of(samples, document)
    assert chunks
    for chunk in chunks:
        assert text[chunk.location.start : chunk.location.end] == chunk.text


def test_every_quote_of_a_real_answer_stands_at_its_place(samples: Desk):
    formats = set()
    for each in (each for name in ("kestrel", "academy") for each in questions_of(name)):
        reader = Principal(roles=frozenset(each["roles"]))
        for citation in samples.ask(each["question"], principal=reader).citations:
            path = PATHS[citation.document_id]
            assert path.as_posix().endswith(citation.source)
            assert citation.quote_location in citation.occurrences
            for place in citation.occurrences:
                assert_stands_there(citation.quote, path, place)
            formats.add(path.suffix)
    assert formats == {".md", ".html", ".pdf", ".docx"}


def test_every_line_is_named_exactly(samples: Desk):
    """Of Markdown nothing but the chunk's own lines: first and last line hold its ends."""
    written = {document: path for document, path in PATHS.items() if path.suffix == ".md"}
    assert len(written) >= 10
    for document, path in written.items():
        lines = path.read_text("utf-8").split("\n")
        chunks = chunks_of(samples, document)
        assert chunks, document
        for chunk in chunks:
            place = chunk.location
            assert place.first_line is not None
            assert place.last_line is not None
            shown = chunk.text.strip().split("\n")
            assert len(shown) == place.last_line - place.first_line + 1
            assert shown[0] in lines[place.first_line - 1]
            assert shown[-1] in lines[place.last_line - 1]
