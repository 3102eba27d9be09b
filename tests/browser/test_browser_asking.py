"""Asking in a real browser: the very words of the source light up where they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn").last.locator(".answer-foot").wait_for()


def quote_in(page: Page) -> str:
    return " ".join("".join(page.locator(".source-body mark").all_text_contents()).split())


def test_a_citation_opens_the_source_at_the_very_words(visit: Any, site: Any) -> None:
    page = visit()
    ask(page, "How long can I return a new bike?")
    claim = page.locator(".claim").first
    expect(claim).to_contain_text("within 30 days of delivery")
    quote = page.locator(".source-card q").first.inner_text()
    claim.locator(".cite").first.click()
    mark = page.locator(".source-body mark").first
    expect(mark).to_be_in_viewport()
    assert quote_in(page) == quote
    text = (site.folder / "returns-policy.md").read_text("utf-8").split("\n")
    line = int(page.locator(".part:has(mark) > .line").first.inner_text())
    assert quote.startswith(text[line - 1][:40])
    expect(page.locator(".source-card").first).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".source-card")).not_to_have_count(0)


def test_a_quote_of_a_pdf_is_boxed_on_its_page(visit: Any) -> None:
    page = visit()
    ask(page, "When are there no live sessions?")
    card = page.locator(".source-card", has_text="Student handbook").first
    quote = card.locator("q").inner_text()
    card.click()
    picture = page.locator(".sheet img").first
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("complete", value=True)
    assert page.evaluate("document.querySelector('.sheet img').naturalWidth") > 1000
    boxes = page.locator(".boxes rect")
    expect(boxes.first).to_be_in_viewport()
    _assert_boxes_are_where_the_words_are(page, quote)
    page.locator(".page summary").first.click()
    assert quote_in(page) == quote


def _assert_boxes_are_where_the_words_are(page: Page, quote: str) -> None:
    """The boxes on the screen against those that the answer has for the same words."""
    answer = page.evaluate("document.querySelector('.turn').citations")
    cited = next(each for each in answer if each["title"] == "Student handbook")
    assert " ".join(cited["quote"].split()) == quote
    sheet = page.locator(".sheet").first.bounding_box()
    assert sheet is not None
    width = float(page.locator(".boxes").get_attribute("viewBox").split()[2])
    scale = sheet["width"] / width
    shown = [each.bounding_box() for each in page.locator(".boxes rect").all()]
    stored = cited["quote_location"]["boxes"]
    assert len(shown) == len(stored) >= 2
    for box, place in zip(shown, stored, strict=True):
        assert box["x"] - sheet["x"] == pytest.approx(place["x0"] * scale, abs=3)
        assert box["y"] - sheet["y"] == pytest.approx(place["y0"] * scale, abs=3)
        assert box["width"] == pytest.approx((place["x1"] - place["x0"]) * scale, abs=5)
        assert box["height"] == pytest.approx((place["y1"] - place["y0"]) * scale, abs=5)


def test_a_quote_of_a_word_file_is_marked_in_its_table(visit: Any) -> None:
    page = visit()
    ask(page, "What does a printed certificate by post cost?")
    card = page.locator(".source-card", has_text="fees").first
    quote = card.locator("q").inner_text()
    card.click()
    expect(page.locator(".source-body td mark").first).to_be_in_viewport()
    shown = re.sub(r"\W+", "", quote_in(page))
    assert shown == re.sub(r"\W+", "", quote)


def test_somebody_without_the_right_gets_nothing_and_cannot_tell_why(visit: Any) -> None:
    question = "What are bike mechanics paid per hour?"
    ada = visit("ada")
    ask(ada, question)
    expect(ada.locator(".claim").first).to_contain_text("31 euros")
    bob = visit("bob")
    ask(bob, question)
    expect(bob.locator(".abstention")).to_contain_text("nothing that you may see")
    assert "31 euros" not in bob.locator("main").inner_text()
    expect(bob.get_by_role("link", name="Quality")).to_have_count(0)
    closed = bob.goto("/source?document=wages")
    closed_text = bob.locator("main").inner_text()
    absent = bob.goto("/source?document=nothing")
    assert (closed.status, absent.status) == (404, 404)
    assert bob.locator("main").inner_text() == closed_text
    ada_answer = ada.get_by_role("link", name="Link to this answer").get_attribute("href")
    assert bob.goto(ada_answer).status == 404


def test_what_the_documents_do_not_say_is_not_answered(visit: Any) -> None:
    page = visit()
    ask(page, "Who won the football world cup in 1954?")
    expect(page.locator(".abstention h3")).to_have_text("No answer")
    expect(page.locator(".claim")).to_have_count(0)
    expect(page.locator(".status")).to_have_text("There is no answer.")


def test_everything_can_be_done_with_the_keyboard(visit: Any) -> None:
    page = visit()
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("How long can I return a new bike?")
    page.keyboard.press("Enter")
    page.locator(".answer-foot").wait_for()
    page.locator(".cite").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#source-title")).to_be_focused()
    expect(page.locator(".source-body mark").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".source-panel")).to_be_hidden()
    expect(page.locator(".cite").first).to_be_focused()


def test_the_source_fills_a_phone_and_goes_again(visit: Any) -> None:
    page = visit(size=(390, 844))
    ask(page, "How long can I return a new bike?")
    page.locator(".cite").first.click()
    expect(page.locator(".source-body mark").first).to_be_in_viewport()
    assert page.locator(".source-panel").bounding_box()["width"] == 390
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.asking, .top')") is None
    page.get_by_role("button", name="Close the source").click()
    expect(page.locator(".claim").first).to_be_in_viewport()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_quotes_are_stepped_through(visit: Any) -> None:
    page = visit()
    ask(page, "Which countries do we deliver to and how long does delivery take?")
    quotes = page.locator(".source-card q").all_inner_texts()
    assert len(quotes) == 2
    page.locator(".source-card").first.click()
    expect(page.locator(".position")).to_have_text("1 of 2")
    page.get_by_role("button", name="Next quote").click()
    expect(page.locator(".position")).to_have_text("2 of 2")
    expect(page.locator(".source-card").nth(1)).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".source-body mark").first).to_contain_text(quotes[1][:20])
    assert quote_in(page) == quotes[1]


def test_a_follow_up_is_asked_with_the_words_of_the_question_before(visit: Any) -> None:
    page = visit()
    ask(page, "How long can I return a new bike?")
    ask(page, "And helmets?")
    turn = page.locator(".turn").last
    expect(turn.locator("h2")).to_have_text("And helmets?")
    expect(turn.locator(".understood")).to_contain_text("helmets")
    expect(turn.locator(".claim").first).to_contain_text("helmets cannot be returned")
    turn.locator(".cite").first.click()
    expect(page.locator(".source-body mark").first).to_be_in_viewport()


def test_a_question_in_arabic_runs_from_right_to_left(visit: Any) -> None:
    page = visit()
    ask(page, "خلال كم يومًا يمكن إرجاع الدراجة الجديدة؟")
    heading = page.locator(".turn h2")
    assert heading.evaluate("each => getComputedStyle(each).direction") == "rtl"
    page.goto("/source?document=arabic")
    part = page.locator(".part p").first
    assert part.evaluate("each => getComputedStyle(each).direction") == "rtl"


def test_a_question_with_markup_stays_text(visit: Any) -> None:
    page = visit()
    question = "<img src=x onerror=\"document.title='owned'\"> How long can I return a new bike?"
    ask(page, question)
    expect(page.locator(".turn h2")).to_have_text(question)
    assert "owned" not in page.title()
    expect(page.locator(".turn img")).to_have_count(0)


def test_markup_in_a_document_stays_text_in_its_answer_and_its_source(
    visit: Any, site: Any, tmp_path: Path
) -> None:
    markup = "<img src=/x onerror=alert(1)>"
    (tmp_path / "umbrellas.md").write_text(
        f"---\nid: umbrellas\nlang: en\ntitle: 'Umbrellas {markup}'\nversion: '{markup}'\n---\n"
        f"# {markup}\n\nAn umbrella {markup} is lent for three days at the desk.\n",
        "utf-8",
    )
    site.desk.ingest(tmp_path / "umbrellas.md", roles={"everyone"})
    page = visit()
    ask(page, "For how many days is an umbrella lent at the desk?")
    card = page.locator(".source-card", has_text="Umbrellas").first
    expect(card.locator(".title")).to_have_text(f"Umbrellas {markup}")
    card.click()
    expect(page.locator(".source-body mark").first).to_contain_text("umbrella")
    expect(page.locator(".source-body")).to_contain_text(markup)
    expect(page.locator(".turn img, .source-body img")).to_have_count(0)
    expect(page.locator("#source-title")).to_have_text(f"Umbrellas {markup}")


def test_a_stored_answer_opens_again_with_its_sources(visit: Any) -> None:
    page = visit()
    ask(page, "How long can I return a new bike?")
    page.get_by_role("link", name="Link to this answer").click()
    page.locator(".answer-foot").wait_for()
    expect(page.locator(".turn h2")).to_have_text("How long can I return a new bike?")
    page.locator(".cite").first.click()
    expect(page.locator(".source-body mark").first).to_be_in_viewport()


def test_the_pages_speak_german_to_who_asks_for_it_or_switches(visit: Any) -> None:
    page = visit(language="de-DE")
    expect(page.get_by_role("heading", name="Fragen Sie Ihre Dokumente")).to_be_visible()
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    page.goto("/library")
    expect(page.get_by_role("heading", name="Library", exact=True)).to_be_visible()


def test_a_server_that_is_gone_is_said_so(visit: Any) -> None:
    page = visit()
    page.context.set_offline(True)
    page.get_by_label("Your question").fill("How long can I return a new bike?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


def test_a_session_that_has_ended_is_said_so_and_the_question_is_kept(visit: Any) -> None:
    page = visit("dora")
    page.context.clear_cookies()
    page.get_by_label("Your question").fill("How long can I return a new bike?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("not signed in any more")
    expect(page.locator("#question")).to_have_value("How long can I return a new bike?")
    page.get_by_role("link", name="Sign in again").click()
    page.wait_for_url(f"{visit.site.provider}/**")
