from __future__ import annotations

from pathlib import Path

import pytest
from web_site import Site

from evidencedesk import Desk, Principal
from evidencedesk.adapters.sources.web import Sitemap, WebPages
from evidencedesk.errors import SourceError, UsageError
from evidencedesk.model import IngestReport
from evidencedesk.settings import Settings
from evidencedesk.source_wiring import web_sources

ADMINISTRATOR = Principal(administrator=True)
FEES = "<html><title>Fees</title><body><h1>Fees</h1><p>The yearly fee is 40 euros.</p>"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    return Desk.open(tmp_path / "a.desk", settings=settings, create=True)


def ingest(desk: Desk, site: Site, *paths: str, **options: object) -> IngestReport:
    pages = WebPages([site.url(path) for path in paths], site.fetcher())
    return desk.ingest(sources=[pages], **options)  # type: ignore[arg-type]


def ids(desk: Desk) -> list[str]:
    return [record.id for record in desk.documents(principal=ADMINISTRATOR)]


def test_a_page_becomes_a_document_that_answers(desk: Desk, site: Site) -> None:
    site.page("/fees.html", FEES)
    report = ingest(desk, site, "/fees.html", roles={"staff"})
    (document_id,) = report.added
    answer = desk.ask(
        "How much is the yearly fee?", principal=Principal(roles=frozenset({"staff"}))
    )
    assert "40 euros" in answer.text
    (record,) = desk.documents(principal=ADMINISTRATOR)
    assert (record.id, record.title) == (document_id, "Fees")
    assert record.source == site.url("/fees.html")


def test_nothing_inside_a_page_is_fetched(desk: Desk, site: Site) -> None:
    site.page(
        "/a",
        "<link rel=stylesheet href=/style.css><img src=/image.png><iframe src=/frame></iframe>"
        "<script src=/script.js></script><p>Words of the page itself.</p><a href=/b>more</a>",
    )
    ingest(desk, site, "/a")
    assert [path for path, _ in site.asked] == ["/a"]


def test_the_next_run_is_cheap_and_sees_changes(desk: Desk, site: Site) -> None:
    site.page("/a", FEES, ETag='"1"')
    ingest(desk, site, "/a")
    again = ingest(desk, site, "/a")
    assert (again.unchanged, again.added, again.changed) == (1, (), ())
    assert site.asked[-1][1]["If-None-Match"] == '"1"'
    site.page("/a", FEES.replace("40", "45"), ETag='"2"')
    assert len(ingest(desk, site, "/a").changed) == 1
    assert ingest(desk, site, "/a").unchanged == 1
    assert site.asked[-1][1]["If-None-Match"] == '"2"'


def test_last_modified_is_asked_about_too(desk: Desk, site: Site) -> None:
    site.page("/a", FEES, Last_Modified="Mon, 05 May 2025 10:00:00 GMT")
    ingest(desk, site, "/a")
    ingest(desk, site, "/a")
    assert site.asked[-1][1]["If-Modified-Since"] == "Mon, 05 May 2025 10:00:00 GMT"


def test_changed_rights_take_effect_although_the_page_did_not_change(
    desk: Desk, site: Site
) -> None:
    site.page("/a", FEES, ETag='"1"')
    ingest(desk, site, "/a", roles={"staff"})
    report = ingest(desk, site, "/a", roles={"board"})
    assert len(report.metadata) == 1
    assert desk.documents(principal=Principal(roles=frozenset({"staff"}))) == ()


def test_a_page_cannot_give_itself_rights_or_the_id_of_another(desk: Desk, site: Site) -> None:
    text = "---\nid: stolen\nroles: [everybody, staff]\ntitle: Mine\n---\nSome words to be found.\n"
    site.page("/a.md", text, kind="text/markdown")
    ingest(desk, site, "/a.md", roles={"staff"})
    (record,) = desk.documents(principal=ADMINISTRATOR)
    assert record.id != "stolen"
    assert record.roles == {"staff"}
    assert record.title == "Mine"


def test_a_page_that_is_gone_stays_until_it_is_pruned(desk: Desk, site: Site) -> None:
    site.page("/a", FEES)
    site.page("/b", FEES)
    ingest(desk, site, "/a", "/b")
    site.page("/a", "gone", status=410)
    report = ingest(desk, site, "/a", "/b")
    assert [failure.code for failure in report.failed] == ["gone"]
    assert len(ids(desk)) == 2
    report = ingest(desk, site, "/a", "/b", prune=True)
    assert len(report.removed) == 1
    assert [record.source for record in desk.documents(principal=ADMINISTRATOR)] == [site.url("/b")]
    assert any("410" in entry.message for entry in desk.log(principal=ADMINISTRATOR))


def test_a_server_that_fails_costs_nothing_but_a_report(desk: Desk, site: Site) -> None:
    site.page("/a", FEES)
    ingest(desk, site, "/a")
    site.page("/a", "busy", status=503)
    report = ingest(desk, site, "/a", prune=True)
    assert [failure.code for failure in report.failed] == ["unreachable"]
    assert len(ids(desk)) == 1


def test_what_the_rule_forbids_is_refused_in_the_report(desk: Desk, site: Site) -> None:
    pages = WebPages(["http://elsewhere.test/a"], site.fetcher())
    report = desk.ingest(sources=[pages])
    assert [each.code for each in report.refused] == ["refused"]
    assert "host" in report.refused[0].message


def sitemap_of(site: Site, *paths: str) -> str:
    entries = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in paths)
    return (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{entries}</urlset>"
    )


def test_a_sitemap_names_pages_and_their_removal(desk: Desk, site: Site) -> None:
    for path in ("/a", "/b", "/c?x=1&y=2"):
        site.page(path, FEES.replace("Fees", path.strip("/")))
    site.page("/map.xml", sitemap_of(site, "/a", "/b", "/c?x=1&amp;y=2"), kind="text/xml")
    source = Sitemap(site.url("/map.xml"), site.fetcher())
    assert len(desk.ingest(sources=[source]).added) == 3
    site.page("/map.xml", sitemap_of(site, "/a", "/c?x=1&amp;y=2"), kind="text/xml")
    assert desk.ingest(sources=[source]).removed == ()
    assert len(desk.ingest(sources=[source], prune=True).removed) == 1
    sources = {record.source for record in desk.documents(principal=ADMINISTRATOR)}
    assert sources == {site.url("/a"), site.url("/c?x=1&y=2")}


def test_a_sitemap_that_cannot_be_read_removes_nothing(desk: Desk, site: Site) -> None:
    site.page("/a", FEES)
    site.page("/map.xml", sitemap_of(site, "/a"))
    source = Sitemap(site.url("/map.xml"), site.fetcher())
    desk.ingest(sources=[source])
    site.page("/map.xml", "busy", status=500)
    report = desk.ingest(sources=[source], prune=True, force=True)
    assert [failure.code for failure in report.failed] == ["unreachable"]
    assert len(ids(desk)) == 1


def test_pruning_most_of_a_site_needs_force(desk: Desk, site: Site) -> None:
    for path in ("/a", "/b", "/c"):
        site.page(path, FEES)
    site.page("/map.xml", sitemap_of(site, "/a", "/b", "/c"))
    source = Sitemap(site.url("/map.xml"), site.fetcher())
    desk.ingest(sources=[source])
    site.page("/map.xml", sitemap_of(site, "/a"))
    with pytest.raises(UsageError) as caught:
        desk.ingest(sources=[source], prune=True)
    assert caught.value.code == "prune_refused"
    assert len(ids(desk)) == 3
    assert len(desk.ingest(sources=[source], prune=True, force=True).removed) == 2


def test_maps_of_maps_and_lists_in_plain_text(desk: Desk, site: Site) -> None:
    site.page("/a", FEES)
    site.page("/b", FEES)
    index = f"<sitemapindex><sitemap><loc>{site.url('/one.txt')}</loc></sitemap></sitemapindex>"
    site.page("/map.xml", index)
    site.page("/one.txt", f"{site.url('/a')}\n{site.url('/b')}\n", kind="text/plain")
    assert len(desk.ingest(sources=[Sitemap(site.url("/map.xml"), site.fetcher())]).added) == 2


def test_a_map_that_names_other_hosts_leads_nowhere(desk: Desk, site: Site) -> None:
    site.page("/map.xml", "<urlset><url><loc>http://10.0.0.1/admin</loc></url></urlset>")
    report = desk.ingest(sources=[Sitemap(site.url("/map.xml"), site.fetcher())])
    assert [each.code for each in report.refused] == ["refused"]
    assert [path for path, _ in site.asked] == ["/map.xml"]


def test_the_encoding_that_only_the_header_tells_is_used(desk: Desk, site: Site) -> None:
    site.page("/a", "<p>Die Gebühr für Räder".encode("iso-8859-1"), kind="text/html; charset=iso-8859-1")  # fmt: skip
    ingest(desk, site, "/a")
    (record,) = desk.documents(principal=ADMINISTRATOR)
    assert "Gebühr für Räder" in desk.document(record.id, principal=ADMINISTRATOR).text


def test_settings_say_what_may_be_fetched() -> None:
    with pytest.raises(SourceError) as caught:
        web_sources(Settings(), urls=["https://example.org/"])
    assert caught.value.code == "host_not_allowed"
    listed = Settings.model_validate({"web": {"hosts": ("example.org",)}})
    assert len(web_sources(listed, urls=["https://example.org/"])) == 1
    assert len(web_sources(Settings(), urls=["https://a.test/"], hosts=["a.test"])) == 1
    with pytest.raises(UsageError) as refused:
        web_sources(Settings(offline=True), urls=["https://example.org/"], hosts=["example.org"])
    assert refused.value.code == "offline"
