"""The sample corpora through the real parsers and the default chunking."""

import pytest
import yaml
from sample_files import SAMPLES, declared, files_of

from evidencedesk.adapters.parsers.docx import DocxParser
from evidencedesk.adapters.parsers.html import HtmlParser
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.chunking import STRATEGIES, chunk_document
from evidencedesk.model import BlockKind, Chunk, Document
from evidencedesk.text.tokens import count_tokens

PARSERS = {
    ".md": MarkdownParser(),
    ".html": HtmlParser(),
    ".docx": DocxParser(),
    ".pdf": PdfParser(),
}


def read(path) -> Document:
    parsed = PARSERS[path.suffix].parse(path.read_bytes(), path.name)
    return Document(
        id=str(declared(path)["id"]),
        text=parsed.text,
        blocks=parsed.blocks,
        first_line=parsed.first_line,
        pages=parsed.pages,
        page_boxes=parsed.page_boxes,
    )


DOCUMENTS = {d.id: d for name in ("kestrel", "academy") for d in map(read, files_of(name))}
GOLDEN = [
    each
    for name in ("kestrel", "academy")
    for each in yaml.safe_load((SAMPLES / "golden" / f"{name}.yaml").read_text("utf-8"))[
        "questions"
    ]
    if "document" in each
]


def folded(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("each", GOLDEN, ids=lambda each: each["id"])
def test_an_answer_and_its_condition_stand_whole_in_one_chunk(each):
    chunks = chunk_document(DOCUMENTS[each["document"]])
    wanted = [each["quote"], each.get("also", "")]
    assert any(all(quote in folded(chunk.text) for quote in wanted) for chunk in chunks)


@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=list(DOCUMENTS))
def test_no_text_is_lost_and_no_heading_is_crossed(document, strategy):
    chunks = chunk_document(document, strategy)
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    held = {index for chunk in chunks for index in range(*chunk.span)}
    named = {index for block in headings for index in range(block.start, block.end)}
    assert not held & named
    inked = {index for index, letter in enumerate(document.text) if not letter.isspace()}
    assert inked <= held | named


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=list(DOCUMENTS))
def test_default_chunks_keep_to_their_budget_and_know_their_heading(document):
    chunks = chunk_document(document)
    assert chunks
    for chunk in chunks:
        assert count_tokens(chunk.text) <= 150
        assert chunk.location.heading


def test_the_default_cuts_the_help_centre_into_its_36_sections():
    shop = [document for key, document in DOCUMENTS.items() if key.startswith("kc-")]
    assert sum(len(chunk_document(document)) for document in shop) == 36


def test_a_table_cut_by_a_small_budget_sends_its_header_along():
    first, second, *_ = table_chunks(chunk_document(DOCUMENTS["ac-fees"], max_tokens=40))
    assert first.text.startswith("Course | Length | Fee")
    assert first.context == ""
    assert second.context == "Course | Length | Fee"


def table_chunks(chunks: tuple[Chunk, ...]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.location.row]
