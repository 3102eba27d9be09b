"""A real server behind a real sign-in, and a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from evidencedesk.desk import Desk
from evidencedesk.server.pages import PAGES
from evidencedesk.testing.oidc_provider import OidcProvider
from evidencedesk.testing.serving import ServedDesk, listening, served, settings_for

SAMPLES = Path(__file__).parents[2] / "samples"
USERS = {
    "ada": {"roles": ["staff", "everyone", "chiefs", "writers", "auditors"]},
    "bob": {"roles": ["everyone"]},
    "carl": {"roles": ["everyone"]},
    "dora": {"roles": ["everyone"]},
}
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)


@dataclass(frozen=True, slots=True)
class Site:
    """The server under test.

    Attributes:
        address: where it listens.
        server: its parts.
        folder: the files that were ingested.
        provider: where people sign in.
    """

    address: str
    server: ServedDesk
    folder: Path
    provider: str

    @property
    def desk(self) -> Desk:
        return self.server.services.desk


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The sample corpora behind sign-in; nobody's answers yet."""
    folder = tmp_path_factory.mktemp("site")
    files = folder / "files"
    shutil.copytree(SAMPLES / "kestrel", files)
    for name in ("student-handbook.pdf", "fees.docx"):
        shutil.copy(SAMPLES / "academy/documents" / name, files)
    (files / "wages.md").write_text(
        "---\nid: wages\ntitle: Wages\nlang: en\nroles: [staff]\n---\n"
        "# Wages\n\nBike mechanics are paid 31 euros per hour.\n",
        "utf-8",
    )
    (files / "arabic.md").write_text(
        "---\nid: arabic\ntitle: سياسة الإرجاع\nlang: ar\nroles: [everyone]\n---\n"
        "# الإرجاع\n\nيمكن إرجاع الدراجة الجديدة خلال 30 يومًا من التسليم.\n",
        "utf-8",
    )
    with ExitStack() as running:
        provider = running.enter_context(OidcProvider(USERS, client_secret=""))
        settings = settings_for(
            folder / "index.desk",
            {"access": {"default_roles": ("everyone",)}},
            authentication=("oidc",),
            oidc={
                "issuer": provider.issuer,
                "client_id": provider.client_id,
                "administrator_roles": ("chiefs",),
                "writer_roles": ("writers",),
                "auditor_roles": ("auditors",),
            },
        )
        with Desk.open(folder / "index.desk", settings=settings, create=True) as desk:
            desk.ingest(files / "student-handbook.pdf", files / "fees.docx", roles={"everyone"})
            desk.ingest(files)
        server = running.enter_context(served(settings, pages=PAGES))
        address = running.enter_context(listening(server, PAGES))
        yield Site(address, server, files, provider.issuer)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium: ``apt-get install chromium``; CHROMIUM names another."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert path, "There is no Chromium here: apt-get install chromium, or set CHROMIUM."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass(frozen=True, slots=True)
class Visitors:
    """Opens pages as somebody who has signed in, in a window of a given kind."""

    browser: Browser
    site: Site
    opened: list[BrowserContext]
    states: dict[str, Any]
    complaints: list[str]

    def __call__(
        self,
        user: str = "ada",
        *,
        size: tuple[int, int] = (1440, 900),
        dark: bool = False,
        language: str = "en-GB",
    ) -> Page:
        """A new window on the room Ask."""
        if user not in self.states:
            self.states[user] = self._signed_in(user)
        context = self.browser.new_context(
            base_url=self.site.address,
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            locale=language,
            storage_state=self.states[user],
        )
        context.set_default_timeout(PATIENCE_MS)
        self.opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self._hear(said.text))
        page.on("request", lambda request: self._follow(request.url))
        page.goto("/")
        return page

    def _hear(self, text: str) -> None:
        """What the policy forbids is told on the console only."""
        if "Policy" in text:
            self.complaints.append(text)

    def _follow(self, url: str) -> None:
        if not url.startswith((self.site.address, self.site.provider, "data:")):
            self.complaints.append(f"the page asked for {url}")

    def _signed_in(self, user: str) -> Any:
        """What a browser keeps once ``user`` has gone through the sign-in provider."""
        context = self.browser.new_context(base_url=self.site.address)
        page = context.new_page()
        page.goto("/library")
        page.get_by_role("textbox").first.fill(user)
        page.get_by_role("button").first.click()
        page.wait_for_url("**/library")
        state = context.storage_state()
        context.close()
        return state


@pytest.fixture(scope="session")
def _states() -> dict[str, Any]:
    return {}


@pytest.fixture
def visit(chromium: Browser, site: Site, _states: dict[str, Any]) -> Iterator[Visitors]:
    visitors = Visitors(chromium, site, [], _states, [])
    yield visitors
    for context in visitors.opened:
        context.close()
    assert visitors.complaints == [], "a script failed, was forbidden, or asked elsewhere"


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """What axe-core finds serious or critical on a page, in words."""

    def look(page: Page) -> list[str]:
        found = Axe().run(page).response["violations"]
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}"
            for each in found
            if each["impact"] in {"serious", "critical"}
            for node in each["nodes"]
        ]

    return look


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept: SCREENSHOTS, for people to look at, or a temporary folder."""
    named = os.environ.get("SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
