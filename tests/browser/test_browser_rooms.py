"""Library, Quality and Activity in a real browser; every page looked at by axe-core and by camera."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from playwright.sync_api import Page, expect
from reportlab.pdfgen.canvas import Canvas
from test_browser_asking import ask

from evidencedesk.access import Principal

pytestmark = pytest.mark.browser

RULE = "---\nid: lockers\nlang: en\n---\n# Lockers\n\nA locker key costs a deposit of {amount} euros.\n"


@pytest.fixture
def handouts(tmp_path: Path) -> list[Path]:
    """A PDF, a Word file and a Markdown file that the desk does not know yet."""
    canvas = Canvas(str(tmp_path / "Parking rules.pdf"))
    canvas.drawString(72, 700, "Cargo bikes are parked in the yard behind gate seven.")
    canvas.save()
    word = docx.Document()
    word.add_paragraph("Sandwiches are served in the canteen until half past two.")
    word.save(str(tmp_path / "Canteen.docx"))
    (tmp_path / "Showers.md").write_text(
        "# Showers\n\nShowers are in the cellar of house B.\n", "utf-8"
    )
    return [tmp_path / name for name in ("Parking rules.pdf", "Canteen.docx", "Showers.md")]


def test_files_are_uploaded_watched_asked_and_shown(visit: Any, handouts: list[Path]) -> None:
    page = visit()
    page.goto("/library")
    states: list[str] = []

    def tell(state: str) -> None:
        states.append(state)

    page.expose_function("tell", tell)
    page.evaluate(
        "new MutationObserver(() => { for (const each of document.querySelectorAll('.uploads .state'))"
        " tell(each.textContent); }).observe(document.querySelector('.uploads'),"
        " {subtree: true, childList: true, characterData: true})"
    )
    page.locator("input[type=file]").set_input_files(handouts)
    expect(page.locator(".uploads .done")).to_have_count(3)
    assert any(state.startswith("sending") for state in states)
    assert "being read" in states
    page.get_by_role("link", name="Show the library of now").click()
    expect(page.get_by_role("link", name="Parking rules")).to_be_visible()
    page.goto("/")
    ask(page, "Until when are sandwiches served in the canteen?")
    expect(page.locator(".claim").last).to_contain_text("half past two")
    ask(page, "Where are cargo bikes parked?")
    turn = page.locator(".turn").last
    expect(turn.locator(".claim").first).to_contain_text("behind gate seven")
    turn.locator(".cite").first.click()
    expect(page.locator(".boxes rect").first).to_be_in_viewport()


def test_files_are_dropped_and_one_that_cannot_be_read_says_why(visit: Any) -> None:
    page = visit()
    page.goto("/library")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(['# Bells\\n\\nEvery bike has a bell.'], 'bells.md'));
          data.items.add(new File([new Uint8Array([0, 1, 2, 3])], 'noise.pdf'));
          const drop = document.querySelector('.drop');
          for (const kind of ['dragenter', 'dragover', 'drop'])
            drop.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data}));
        }"""
    )
    expect(page.locator(".uploads li.done")).to_contain_text("bells.md")
    expect(page.locator(".uploads li.failed")).to_contain_text("noise.pdf")
    expect(page.locator(".uploads li.failed .state")).to_contain_text("failed:")
    page.reload()
    problems = page.get_by_role("region", name="Files that were not read").first
    expect(problems).to_contain_text("noise.pdf")


def test_who_may_not_write_sees_no_place_to_drop_files(visit: Any) -> None:
    page = visit("bob")
    page.goto("/library")
    expect(page.get_by_role("link", name="Returns policy", exact=True)).to_be_visible()
    expect(page.locator(".upload")).to_have_count(0)
    assert "Wages" not in page.locator("main").inner_text()


def test_feedback_becomes_a_gap_and_a_changed_document_a_lapse(
    visit: Any, site: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "lockers.md").write_text(RULE.format(amount=20), "utf-8")
    site.desk.ingest(folder, roles={"everyone"})
    bob = visit("bob")
    ask(bob, "What deposit does a locker key cost?")
    expect(bob.locator(".claim").first).to_contain_text("20 euros")
    bob.get_by_role("button", name="Missing").click()
    bob.keyboard.type("Is it given back?")
    bob.get_by_role("button", name="Send").click()
    expect(bob.locator(".answer-foot")).to_contain_text("noted")
    (folder / "lockers.md").write_text(RULE.format(amount=25), "utf-8")
    site.desk.ingest(folder, roles={"everyone"})
    ada = visit("ada")
    ada.goto("/quality")
    gap = ada.locator(".gap", has_text="What deposit does a locker key cost?")
    expect(gap).to_contain_text("Is it given back?")
    lapsed = ada.locator(".lapsed tr", has_text="lockers")
    expect(lapsed).to_contain_text("not there any more")
    assert int(ada.locator("[data-count=lapsed]").inner_text()) >= 1
    ada.goto("/activity")
    expect(ada.locator("tr", has_text="gave feedback").first).to_contain_text("bob")
    assert "locker key" not in ada.locator("main").inner_text()


def test_signing_out_ends_the_session(visit: Any) -> None:
    page = visit("carl")
    assert page.evaluate("document.cookie") == "", "scripts must not see the session"
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{visit.site.provider}/**")


LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft?"
PAGES = {
    "ask": "/",
    "library": "/library?status=any",
    "source": "/source?document=kc-returns-v3&at=21-60",
    "pages": "/source?document=student-handbook",
    "table": "/source?document=fees",
    "quality": "/quality",
    "activity": "/activity",
    "missing": "/source?document=nothing",
}
WINDOWS = [
    pytest.param((1440, 900), False, "en-GB", id="wide-light"),
    pytest.param((1440, 900), True, "de-DE", id="wide-dark"),
    pytest.param((390, 844), False, "de-DE", id="narrow-light"),
    pytest.param((390, 844), True, "en-GB", id="narrow-dark"),
]


def settle(page: Page) -> None:
    """Wait for the parts and pictures that come after the page."""
    expect(page.locator("[data-part] > p.hint")).to_have_count(0)
    for picture in page.locator(".sheet img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", value=True)
    page.evaluate("scrollTo(0, 0)")


@pytest.mark.parametrize(("size", "dark", "language"), WINDOWS)
def test_axe_finds_nothing_serious_and_nothing_overflows(
    visit: Any,
    axe: Callable[[Page], list[str]],
    pictures: Path,
    site: Any,
    request: pytest.FixtureRequest,
    size: tuple[int, int],
    dark: bool,
    language: str,
) -> None:
    kind = request.node.callspec.id
    page = visit(size=size, dark=dark, language=language)
    site.desk.ask(LONG_WORD, principal=Principal(subject="ada"))
    for name, path in PAGES.items():
        page.goto(path)
        settle(page)
        page.screenshot(path=pictures / f"{name}-{kind}.png", full_page=True)
        assert axe(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], name
    page.goto("/")
    for name, question in (
        ("answer", "When are there no live sessions?"),
        ("abstention", "Who won the football world cup in 1954?"),
    ):
        page.locator("#question").fill(question)
        page.keyboard.press("Enter")
        page.locator(".turn").last.locator(".answer-foot").wait_for()
        page.screenshot(path=pictures / f"{name}-{kind}.png")
        assert axe(page) == [], name
    page.locator(".cite").first.click()
    page.locator(".source-body .source-part").wait_for()
    settle(page)
    page.screenshot(path=pictures / f"beside-{kind}.png")
    assert axe(page) == [], "beside"
