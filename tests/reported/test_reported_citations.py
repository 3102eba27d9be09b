"""Wrong or missing citations that users of comparable products reported; see docs/reported_problems.md."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docx import Document as DocxFile
from reportlab.pdfgen.canvas import Canvas

from evidencedesk import Answer, Desk, Principal, Reason
from evidencedesk.generation import build_request
from evidencedesk.model import Evidence, Reply, Request
from evidencedesk.testing.recorded import RecordedGenerator

QUESTION = "How long is the notice period for tenants?"
FACT = "The notice period for tenants is 90 days."


class Scripted:
    """A generator that answers from the request it is given."""

    name = "scripted"

    def __init__(self, script: Callable[[Request], object]) -> None:
        self._script = script

    def generate(self, request: Request) -> Reply:
        return Reply(json.dumps(self._script(request)))


def asked(desk: Desk, script: Callable[[Request], object], staff: Principal) -> Answer:
    with Desk.open(desk.path, settings=desk.settings, generator=Scripted(script)) as other:
        return other.ask(QUESTION, principal=staff, threshold=0.0)


def claims(*cited: tuple[str, str, str]) -> dict[str, Any]:
    return {
        "insufficient": False,
        "claims": [
            {"text": text, "citations": [{"source": source, "quote": quote}]}
            for text, source, quote in cited
        ],
    }


@pytest.fixture(scope="module")
def library(shared: tuple[Desk, Callable[..., Path]]) -> Desk:
    """Four documents; the fact stands in the second only."""
    desk, write = shared
    write("a-parking", "Tenants park in the yard behind the house, one car each.")
    write("b-notice", FACT)
    write("c-keys", "Tenants return the keys of the house to the office.")
    desk.ingest(write("d-pets", "Tenants ask the office before they keep a dog."))
    return desk


def test_r2r_2224_ids_of_the_prompts_own_examples_are_no_sources(library: Desk, staff: Principal):
    rules = build_request("x", Evidence(()), canary="").rules
    examples = set(re.findall(r"\bS\d+\b|\b[0-9a-f]{7}\b", rules)) | {"c910e2e", "S9", "doc_1"}
    for label in examples - {"S1", "S2", "S3", "S4"}:
        answer = asked(library, lambda _, label=label: claims((FACT, label, FACT)), staff)
        assert answer.reason is Reason.UNKNOWN_CITATION
        assert answer.citations == ()


def test_onyx_1543_a_label_out_of_range_or_swapped_is_not_shown(library: Desk, staff: Principal):
    for label in ("S5", "S7", "S0", "[5]", "[5, 7]", "S1.5", "b-notice", "b-notice:c0"):
        answer = asked(library, lambda _, label=label: claims((FACT, label, FACT)), staff)
        assert (answer.abstained, answer.reason) == (True, Reason.UNKNOWN_CITATION), label

    def swapped(request: Request) -> object:
        wrong = next(s for s in request.evidence.sources if s.chunk.document_id != "b-notice")
        return claims((FACT, wrong.label, FACT))

    assert asked(library, swapped, staff).reason is Reason.QUOTE_NOT_FOUND


def test_open_webui_11204_the_fact_in_the_second_file_is_cited_there(
    library: Desk, staff: Principal
):
    answer = library.ask(QUESTION, principal=staff)
    assert answer.reason is Reason.OK
    assert [c.document_id for c in answer.citations][:1] == ["b-notice"]
    assert answer.citations[0].source == "b-notice.md"


def test_open_webui_10979_the_first_and_the_last_source_are_cited_as_themselves(
    library: Desk, staff: Principal
):
    for position in (0, -1):

        def script(request: Request, position: int = position) -> object:
            source = request.evidence.sources[position]
            return claims((source.chunk.text, source.label, source.chunk.text))

        answer = asked(library, script, staff)
        with Desk.open(library.path, settings=library.settings) as other:
            hits = other.search(QUESTION, principal=staff)
        assert answer.reason is Reason.OK
        assert answer.citations[0].chunk_id == hits[position].chunk.id
        assert answer.claims[0].citations == (0,)


def test_open_webui_14170_the_shape_of_an_answer_is_a_snapshot(library: Desk, staff: Principal):
    answer = library.ask(QUESTION, principal=staff).to_json()
    location = {
        "heading": ["Rules"], "first_line": 8, "last_line": 8, "page": None, "last_page": None,
        "paragraph": None, "row": None, "element": None, "sheet": None, "slide": None,
        "boxes": [], "start": 9, "end": 50,
    }  # fmt: skip
    citation = dict(answer["citations"][0])
    assert citation.pop("content_hash").startswith("sha256:")
    assert citation == {
        "label": "b-notice (Rules, line 8) [b-notice:c0]",
        "chunk_id": "b-notice:c0", "document_id": "b-notice", "title": "b-notice",
        "source": "b-notice.md", "version": "", "location": location, "quote": FACT,
        "quote_location": location, "occurrences": [location], "also_in": [],
    }  # fmt: skip
    assert answer["claims"][0] == {"text": FACT, "support": "extractive", "citations": [0]}
    assert {
        "answer_id", "question", "abstained", "reason", "confidence", "threshold", "text",
        "claims", "dropped_claims", "citations", "retrieved", "checks", "generator", "model",
        "fallback_from", "attempts", "degraded", "usage", "timing_ms",
    } <= set(answer)  # fmt: skip


def test_open_webui_20435_a_citation_names_a_passage_and_its_offsets(
    library: Desk, staff: Principal
):
    citation = library.ask(QUESTION, principal=staff).citations[0]
    text = library.document("b-notice", principal=staff).text
    place = citation.quote_location
    assert citation.chunk_id == "b-notice:c0"
    assert text[place.start : place.end] == citation.quote == FACT


def test_ragflow_9549_every_mark_resolves_within_the_answer(library: Desk, staff: Principal):
    answer = library.ask(QUESTION, principal=staff).to_json()
    cited = [index for claim in answer["claims"] for index in claim["citations"]]
    assert cited
    assert set(cited) == set(range(len(answer["citations"])))


def test_ragflow_12005_the_same_question_is_answered_or_refused_alike_every_time(
    library: Desk, staff: Principal
):
    good, bad = claims((FACT, "S1", FACT)), {"insufficient": False, "claims": [{"text": FACT, "citations": []}]}  # fmt: skip
    replies = iter([good, bad, good, "prose", good])
    answers = [asked(library, lambda _, reply=reply: reply, staff) for reply in replies]
    assert [answer.abstained for answer in answers] == [False, True, False, True, False]
    for answer in answers:
        assert answer.abstained != bool(answer.citations)


def test_ragflow_3415_documents_that_agree_are_all_named(
    desk: Desk, write: Callable[..., Path], staff: Principal
):
    for name in ("north", "south"):
        write(name, FACT)
    desk.ingest(write("west", FACT))
    answer = desk.ask(QUESTION, principal=staff)
    citation = answer.citations[0]
    assert {citation.document_id, *citation.also_in} == {"north", "south", "west"}


def test_ragflow_3415_documents_that_agree_and_are_closed_are_not_named(
    desk: Desk, write: Callable[..., Path], staff: Principal
):
    write("north", FACT)
    write("south", FACT, roles="[board]")
    desk.ingest(write("west", FACT, more="deny: [staff]"))
    answer = desk.ask(QUESTION, principal=staff)
    assert answer.citations[0].also_in == ()
    assert "south" not in str(answer.to_json())


def two_pages(path: Path) -> None:
    canvas = Canvas(str(path))
    for line in range(40):
        canvas.drawString(72, 780 - 17 * line, f"Paragraph {line} speaks of gardens and of fences.")
    canvas.drawString(72, 60, "The notice period for tenants is")
    canvas.showPage()
    canvas.drawString(72, 780, "90 days, counted from the first of the month.")
    canvas.save()


def test_ragflow_16735_a_quote_across_a_page_break_is_marked_on_both_pages(
    desk: Desk, tmp_path: Path, staff: Principal
):
    two_pages(tmp_path / "lease.pdf")
    desk.ingest(tmp_path / "lease.pdf", roles={"staff"}, lang="en")
    quote = "The notice period for tenants is 90 days"

    def script(request: Request) -> object:
        holder = next(
            s.label
            for s in request.evidence.sources
            if "tenants is" in s.chunk.text and "90 days" in s.chunk.text
        )
        return claims((f"{quote}.", holder, quote))

    answer = asked(desk, script, staff)
    assert answer.reason is Reason.OK
    place = answer.citations[0].quote_location
    assert (place.page, place.last_page) == (1, 2)
    assert [box.page for box in place.boxes] == [1, 2]
    assert place.label == "pages 1-2"


def test_paper_qa_823_the_fact_on_page_k_is_cited_there(
    desk: Desk, tmp_path: Path, staff: Principal
):
    canvas = Canvas(str(tmp_path / "book.pdf"))
    for page in range(1, 8):
        canvas.drawString(72, 700, f"Chapter {page} is about house number {page * 11}.")
        if page == 5:
            canvas.drawString(72, 680, FACT)
        canvas.showPage()
    canvas.save()
    desk.ingest(tmp_path / "book.pdf", roles={"staff"}, lang="en")
    citation = desk.ask(QUESTION, principal=staff).citations[0]
    assert (citation.quote_location.page, citation.quote) == (5, FACT)


def test_ragflow_13097_offsets_cut_the_chunk_out_of_the_text_in_every_format(
    desk: Desk, tmp_path: Path, staff: Principal
):
    folder = tmp_path / "formats"
    folder.mkdir()
    body = f"Ünïcödé 😀 goes first.\n\n{FACT}\n"
    (folder / "a.md").write_text(f"# Heading\r\n\r\n{body}", "utf-8", newline="")
    (folder / "b.txt").write_bytes(b"\xef\xbb\xbf" + body.encode())
    (folder / "c.html").write_text(f"<p>Ünïcödé 😀 goes first.</p><p>{FACT}</p>", "utf-8")
    two_pages(folder / "d.pdf")
    document = DocxFile()
    document.add_paragraph("Ünïcödé 😀 goes first.")
    document.add_paragraph(FACT)
    document.save(str(folder / "e.docx"))
    assert desk.ingest(folder, roles={"staff"}, lang="en").failed == ()
    hits = desk.search("notice period gardens first", principal=staff, k=100)
    for hit in hits:
        text = desk.document(hit.chunk.document_id, principal=staff).text
        assert text[hit.chunk.location.start : hit.chunk.location.end] == hit.chunk.text
    assert {hit.chunk.document_id for hit in hits} == {"a", "b", "c", "d", "e"}


def test_anything_llm_2027_the_position_is_the_one_in_the_file(library: Desk, staff: Principal):
    citation = library.ask(QUESTION, principal=staff).citations[0]
    record = next(d for d in library.documents(principal=staff) if d.id == "b-notice")
    lines = Path(record.root, record.source).read_text("utf-8").split("\n")
    assert lines[(citation.quote_location.first_line or 0) - 1] == citation.quote


@pytest.mark.parametrize("mark", ["1", "[1]", "[[1]]", "【1】", "１", "١", "১", "[S1]"])
def test_haystack_11002_a_mark_in_another_notation_is_the_source_it_names(
    library: Desk, staff: Principal, mark: str
):
    answer = asked(library, lambda _: claims((FACT, mark, FACT)), staff)
    assert [c.document_id for c in answer.citations] == ["b-notice"]
    shifted = mark.replace("1", "2").replace("１", "２").replace("١", "٢").replace("১", "২")
    other = asked(library, lambda _: claims((FACT, shifted, FACT)), staff)
    assert (other.abstained, other.reason) == (True, Reason.QUOTE_NOT_FOUND)


@pytest.mark.parametrize("mark", ["[6-10]", "[1-3,7-9]", "S1-S9999999999", "[4-1]", "1-"])
def test_haystack_11002_a_range_that_leads_out_of_the_sources_is_refused_at_once(
    library: Desk, staff: Principal, mark: str
):
    answer = asked(library, lambda _: claims((FACT, mark, FACT)), staff)
    assert (answer.abstained, answer.reason) == (True, Reason.UNKNOWN_CITATION)


def test_vane_845_a_true_label_does_not_carry_a_number_that_is_not_there(
    library: Desk, staff: Principal
):
    wrong = "The notice period for tenants is 120 days."
    for quote, reason in ((wrong, Reason.QUOTE_NOT_FOUND), (FACT, Reason.UNSUPPORTED_NUMBER)):
        answer = asked(library, lambda _, quote=quote: claims((wrong, "S1", quote)), staff)
        assert (answer.abstained, answer.reason) == (True, reason)
        assert "120" not in answer.text


def test_llama_index_7299_citations_are_numbered_in_the_order_of_first_use(
    library: Desk, staff: Principal
):
    def script(request: Request) -> object:
        sources = request.evidence.sources
        order = [sources[2], sources[0], sources[2], sources[1]]
        return claims(*((s.chunk.text, s.label, s.chunk.text) for s in order))

    answer = asked(library, script, staff)
    assert [claim.citations for claim in answer.claims] == [(0,), (1,), (0,), (2,)]
    assert len(answer.citations) == 3


def test_recorded_replies_are_asked_for_once_only(library: Desk, staff: Principal):
    generator = RecordedGenerator({QUESTION: claims((FACT, "S1", FACT))})
    with Desk.open(library.path, settings=library.settings, generator=generator) as other:
        assert other.ask(QUESTION, principal=staff).attempts == 1
    assert len(generator.requests) == 1
