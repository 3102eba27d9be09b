"""The pages, asked for as each kind of reader: what is on them, and above all what is not."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from starlette.responses import Response

from evidencedesk.desk import Desk
from evidencedesk.evaluation.golden import Label
from evidencedesk.evaluation.outcomes import Conditions, Outcome, Run
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.server.identity import Permission
from evidencedesk.server.pages import PAGES
from evidencedesk.testing.serving import served as serving
from evidencedesk.testing.serving import settings_for

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\" onfocus='alert(3)"
READ = frozenset({Permission.READ})
RETURNS = "kc-returns-v3"


@pytest.fixture
def served(serve: Callable) -> object:
    return serve()


def get(served, path: str, headers: dict[str, str], **more: str) -> Response:
    return served.client.get(path, headers={**headers, **more})


def staff(served, **rights) -> dict[str, str]:
    return served.key("staff", subject="ada", **rights)


def test_every_page_is_a_page_with_a_strict_policy_and_no_script_of_its_own(served) -> None:
    boss = served.key("staff", subject="eve", administrator=True)
    asked = served.client.post(
        "/v1/ask", json={"question": "What does standard delivery cost?"}, headers=boss
    ).json()
    for path in (
        "/", f"/answers/{asked['answer_id']}", "/library", "/library?status=any&q=returns",
        f"/source?document={RETURNS}&at=20-90", f"/source/part?document={RETURNS}",
        "/quality", "/quality/gaps", "/quality/lapsed", "/activity",
    ):  # fmt: skip
        for language in ("en", "de"):
            page = get(served, path, boss, **{"accept-language": language})
            assert page.status_code == 200, (path, page.text)
            assert page.headers["content-type"].startswith("text/html")
            assert page.headers["content-language"] == language
            policy = page.headers["content-security-policy"]
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert page.headers["cache-control"] == "no-store"
            assert not re.search(r"<[^>]+\s(on\w+|style)=", page.text), path
            for script in re.findall(r"<script([^>]*)>", page.text):
                assert 'src="/static/' in script or 'type="application/json"' in script
            for address in re.findall(r"""(?:src|href|action)=["']([^"']*)""", page.text):
                assert address.startswith(("/", "#")), (path, address)


def test_a_page_needs_a_caller(served) -> None:
    for path in ("/", "/library", "/source?document=x", "/source/page?document=x", "/quality"):
        assert served.client.get(path).status_code == 401
    assert served.client.get("/static/pages.css").status_code == 200


def test_rooms_of_overseers_are_closed_to_others_and_not_even_named(served) -> None:
    reader = staff(served, permissions=READ)
    page = get(served, "/", reader).text
    assert 'href="/library"' in page
    assert "/quality" not in page
    assert "/activity" not in page
    for path in ("/quality", "/quality/gaps", "/quality/lapsed", "/quality/run?id=x", "/activity"):
        assert get(served, path, reader).status_code == 403
    assert "upload-form" not in get(served, "/library", reader).text


@pytest.mark.parametrize("path", ["/source", "/source/part", "/source/page"])
def test_what_is_not_permitted_looks_like_what_is_not_there(served, path: str) -> None:
    reader = staff(served, permissions=READ)
    closed = get(served, f"{path}?document=wages", reader)
    absent = get(served, f"{path}?document=wagez", reader)
    assert closed.status_code == absent.status_code == 404
    assert closed.text.replace("wages", "X") == absent.text.replace("wagez", "X")
    assert _lasting(closed) == _lasting(absent)
    board = served.key("board")
    if path != "/source/page":
        assert "31 euros" in get(served, f"{path}?document=wages", board).text


def test_another_tenant_sees_nothing(served) -> None:
    other = served.key("staff", tenant="other", administrator=True)
    assert get(served, f"/source?document={RETURNS}", other).status_code == 404
    assert "Returns" not in get(served, "/library?status=any", other).text


def test_the_library_lists_what_its_reader_may_see_and_finds_it(served) -> None:
    reader = staff(served, permissions=READ)
    page = get(served, "/library", reader).text
    assert "Returns policy" in page
    assert "Wages" not in page
    found = get(served, "/library?q=returns+POLICY&status=any", reader).text
    assert set(re.findall(r"/source\?document=([\w-]+)", found)) >= {RETURNS, "kc-returns-v2"}
    assert "kc-shipping" not in found
    assert "kc-returns-v2" not in get(served, "/library?q=returns", reader).text


def test_the_words_of_a_quote_are_marked_where_they_stand(served) -> None:
    reader = staff(served, permissions=READ)
    answer = served.client.post(
        "/v1/ask", json={"question": "What does standard delivery cost?"}, headers=reader
    ).json()
    cited = answer["citations"][0]
    place = cited["quote_location"]
    address = (
        f"/source/part?document={cited['document_id']}&at={place['start']}-{place['end']}"
        f"&content={cited['content_hash']}"
    )
    page = get(served, address, reader).text
    assert _marked(page) == cited["quote"]
    stale = get(served, address.replace(cited["content_hash"], "sha256:0"), reader).text
    assert "<mark" not in stale
    assert "has changed since it was quoted" in stale


@pytest.mark.parametrize(
    "query",
    [
        "at=5",
        "at=-1-5",
        "at=1-" + "9" * 10,
        "start=-1",
        "page=0",
        "at=" + "&at=".join(f"{n}-{n + 1}" for n in range(21)),
    ],
)
def test_a_place_that_is_none_is_refused(served, query: str) -> None:
    page = get(served, f"/source?document={RETURNS}&{query}", staff(served))
    assert page.status_code == 422


@pytest.mark.parametrize("query", ["at=9-5", "at=0-999999999", "start=999999999"])
def test_a_place_outside_the_document_marks_nothing(served, query: str) -> None:
    page = get(served, f"/source?document={RETURNS}&{query}", staff(served))
    assert page.status_code == 200
    assert "<mark" not in page.text


def test_nothing_of_a_document_reaches_a_page_as_markup(served, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    name = "<img src=x onerror=alert(4)>.md"
    (folder / name).write_text(
        f"---\nid: hostile\ntitle: >-\n  {HOSTILE}\nversion: >-\n  {HOSTILE}\nroles: [staff]\n---\n"
        f"# {HOSTILE}\n\n{HOSTILE} The password policy asks for nine letters.\n\n"
        f"| {HOSTILE} | b |\n|---|---|\n| {HOSTILE} | [x](javascript:alert(5)) |\n",
        "utf-8",
    )
    served.services.desk.ingest(folder)
    boss = served.key("staff", subject=HOSTILE, administrator=True)
    answer = served.client.post(
        "/v1/ask", json={"question": f"{HOSTILE} password policy nine letters?"}, headers=boss
    ).json()
    for path in (
        "/", f"/answers/{answer['answer_id']}", "/library", "/source?document=hostile&at=0-90",
        "/source/part?document=hostile", "/activity", "/quality", "/quality/gaps",
        "/library?q=%22%3E%3Cscript%3Ealert(6)%3C/script%3E", "/source?document=%3Cscript%3E",
    ):  # fmt: skip
        text = get(served, path, boss).text
        assert "alert(1)</script>" not in text, path
        assert "<img src=x" not in text, path
        assert "alert(6)</script>" not in text, path
        assert 'href="javascript' not in text, path


def test_uploaded_names_and_failures_are_shown_escaped_to_overseers_only(
    served, tmp_path: Path
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "<b>broken<b>.pdf").write_bytes(b"\x00\x01nothing")
    served.services.desk.ingest(folder)
    overseer = get(served, "/library", served.key("staff", administrator=True)).text
    assert "&lt;b&gt;broken&lt;b&gt;.pdf" in overseer
    assert "broken" not in get(served, "/library", staff(served, permissions=READ)).text


def test_a_stored_answer_is_a_page_for_its_reader_only(served) -> None:
    answer = served.client.post(
        "/v1/ask", json={"question": "What does standard delivery cost?"}, headers=staff(served)
    ).json()
    path = f"/answers/{answer['answer_id']}"
    assert get(served, path, staff(served)).status_code == 200
    other = served.key("staff", subject="bob", permissions=READ)
    closed, absent = get(served, path, other), get(served, "/answers/0000", other)
    assert closed.status_code == absent.status_code == 404
    assert closed.text.replace(answer["answer_id"], "X") == absent.text.replace("0000", "X")
    assert "What does standard delivery cost?" in get(served, "/", staff(served)).text
    assert "What does standard delivery cost?" not in get(served, "/", other).text


@pytest.mark.parametrize(
    ("back", "target"),
    [
        ("/library?q=a", "/library?q=a"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
    ],
)
def test_switching_language_leads_nowhere_else(served, back: str, target: str) -> None:
    reader = staff(served)
    switched = served.client.get("/language/de", params={"back": back}, headers=reader)
    assert switched.status_code == 303
    assert switched.headers["location"] == target
    cookie = switched.headers["set-cookie"]
    assert "evidencedesk-language=de" in cookie
    assert "HttpOnly" in cookie
    assert 'lang="de"' in get(served, "/", reader).text
    assert get(served, "/language/xx", reader).status_code == 404


def test_our_own_files_are_served_by_name_and_asked_for_again(served) -> None:
    style = served.client.get("/static/pages.css")
    assert style.headers["content-type"].startswith("text/css")
    again = served.client.get("/static/pages.css", headers={"if-none-match": style.headers["etag"]})
    assert again.status_code == 304
    for name in ("nothing.css", "..%2f__init__.py", "%2e%2e/texts.py", "/etc/passwd"):
        assert served.client.get(f"/static/{name}").status_code in {401, 404}


def test_a_pdf_is_shown_as_pages_and_its_picture_only_to_whom_it_is_open(served) -> None:
    documents = Path(__file__).parents[3] / "samples/academy/documents"
    served.services.desk.ingest(documents / "student-handbook.pdf", roles={"staff"})
    record = next(
        each
        for each in served.services.desk.documents(principal=_principal(served, "staff"))
        if each.media_type == "application/pdf"
    )
    reader = staff(served, permissions=READ)
    text = served.services.desk.document(record.id, principal=_principal(served, "staff")).text
    at = text.index("There are no live sessions")
    page = get(served, f"/source/part?document={record.id}&at={at}-{at + 26}", reader).text
    assert page.count("<rect ") == 1
    assert _marked(page) == "There are no live sessions"
    picture = get(served, f"/source/page?document={record.id}&page=1", reader)
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    tag = picture.headers["etag"]
    assert (
        get(
            served, f"/source/page?document={record.id}&page=1", reader, **{"if-none-match": tag}
        ).status_code
        == 304
    )
    other = served.key("guest", permissions=READ)
    for known in ({}, {"if-none-match": tag}):
        refused = get(served, f"/source/page?document={record.id}&page=1", other, **known)
        assert refused.status_code == 404
    assert get(served, f"/source/page?document={record.id}&page=999", reader).status_code == 404
    assert get(served, f"/source/page?document={RETURNS}&page=1", reader).status_code == 404


def test_a_pdf_whose_file_is_another_now_is_shown_as_text(served, tmp_path: Path) -> None:
    source = Path(__file__).parents[3] / "samples/academy/documents/exam-rules.pdf"
    file = tmp_path / "exam.pdf"
    file.write_bytes(source.read_bytes())
    served.services.desk.ingest(file, roles={"staff"})
    file.write_bytes(source.read_bytes() + b"\n%changed")
    documents = served.services.desk.documents(principal=_principal(served, "staff"))
    record = next(each for each in documents if each.media_type == "application/pdf")
    page = get(served, f"/source?document={record.id}", staff(served)).text
    assert "<img" not in page
    assert "original file cannot be shown" in page
    assert (
        get(served, f"/source/page?document={record.id}&page=1", staff(served)).status_code == 404
    )


def test_earlier_versions_are_listed_and_compared(served, tmp_path: Path) -> None:
    file = tmp_path / "rule.md"
    file.write_text("---\nid: rule\nroles: [staff]\n---\nThe limit is <b>14</b> days.\n", "utf-8")
    served.services.desk.ingest(file)
    file.write_text("---\nid: rule\nroles: [staff]\n---\nThe limit is 30 days.\n", "utf-8")
    served.services.desk.ingest(file)
    reader = staff(served)
    page = get(served, "/source?document=rule", reader).text
    link = html.unescape(re.search(r'href="(/source\?document=rule&amp;old=[^"#]+)', page)[1])
    compared = get(served, link, reader).text
    assert "<del>-The limit is &lt;b&gt;14&lt;/b&gt; days.</del>" in compared
    assert "<ins>+The limit is 30 days.</ins>" in compared
    assert get(served, "/source?document=rule&old=sha256:00", reader).status_code == 404


def test_quality_counts_what_was_not_answered_and_shows_gaps_and_lapses(
    served, tmp_path: Path
) -> None:
    file = tmp_path / "rule.md"
    file.write_text("---\nid: rule\nroles: [staff]\n---\nThe blue form is due in May.\n", "utf-8")
    served.services.desk.ingest(file)
    reader = served.key("staff", subject="ada")
    for question in ("When is the blue form due?", "Who won the cup in 1954?"):
        served.client.post("/v1/ask", json={"question": question}, headers=reader)
    overseer = served.key("staff", administrator=True)
    assert "nothing that you may see answers it" in get(served, "/quality", overseer).text
    assert "Who won the cup in 1954?" in get(served, "/quality/gaps", overseer).text
    assert 'data-total="0"' in get(served, "/quality/lapsed", overseer).text
    file.write_text("---\nid: rule\nroles: [staff]\n---\nThe blue form is due in June.\n", "utf-8")
    served.services.desk.ingest(file)
    lapsed = get(served, "/quality/lapsed", overseer).text
    assert 'data-total="1"' in lapsed
    assert "The quoted words are not there any more" in lapsed


def test_evaluation_runs_are_shown_in_figures_without_content(served, index: Path) -> None:
    runs = RunStore.beside(index)
    for number in (1, 2):
        outcomes = (
            Outcome(
                "q1", "a secret question", Label.ANSWERABLE,
                scores={"answered": 1.0, "wrong_shown": 0.0}, text="a secret answer", confidence=0.9,
            ),
            Outcome("<i>q2", "another", Label.UNANSWERABLE, scores={"wrong_shown": 1.0}, confidence=0.6),
        )  # fmt: skip
        run = Run(
            f"run-{number}",
            f"2026-11-0{number}T10:00:00+00:00",
            Conditions("<b>set", "d"),
            outcomes,
        )
        runs.finish(f"key{number}", run)
    (index / "evaluations" / "odd.json").write_text("{}", "utf-8")
    overseer = served.key("staff", administrator=True)
    page = get(served, "/quality", overseer).text
    assert "&lt;b&gt;set" in page
    assert "polyline" in page
    shown = get(served, "/quality/run?id=run-1", overseer).text
    assert "&lt;i&gt;q2" in shown
    assert "secret" not in shown
    for missing in ("odd", "../../etc/passwd", "last"):
        assert get(served, f"/quality/run?id={missing}", overseer).status_code == 404
    elsewhere = served.key("staff", administrator=True, tenant="other")
    assert "&lt;b&gt;set" not in get(served, "/quality", elsewhere).text
    assert get(served, "/quality/run?id=run-1", elsewhere).status_code == 404


def test_activity_names_who_did_what_and_no_content(served) -> None:
    served.client.post(
        "/v1/ask", json={"question": "What does standard delivery cost?"}, headers=staff(served)
    )
    page = get(served, "/activity", served.key("staff", administrator=True)).text
    assert "ada" in page
    assert "asked" in page
    assert "delivery cost" not in page
    assert get(served, "/activity?limit=0", served.key(administrator=True)).status_code == 422


def test_a_session_finds_its_token_on_the_page(served) -> None:
    assert "csrf-token" not in get(served, "/", staff(served)).text


def _principal(served, role: str) -> object:
    identity = served.services.state.keys.identify(
        served.key(role)["Authorization"].removeprefix("Bearer ")
    )
    return identity.principal


def _marked(page: str) -> str:
    return html.unescape("".join(re.findall(r"<mark[^>]*>(.*?)</mark>", page, re.DOTALL)))


def _lasting(response: Response) -> dict[str, str]:
    skipped = {"x-request-id", "date", "content-length"}
    return {name: value for name, value in response.headers.items() if name not in skipped}


def test_no_picture_shows_what_is_masked_in_a_document(
    serve: Callable, index: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "masked"
    folder.mkdir()
    canvas = Canvas(str(folder / "parking.pdf"))
    canvas.drawString(72, 700, "Parking is paid to jana@mail.example.org each month.")
    canvas.save()
    settings = settings_for(index, {"masking": {"default": "mask"}})
    with Desk.open(index, settings=settings) as desk:
        desk.ingest(folder, roles={"staff"})
    served = serve()
    for caller in (served.key("staff", permissions=READ), served.key(administrator=True)):
        page = get(served, "/source?document=parking", caller)
        assert "[EMAIL_1]" in page.text
        assert "<img" not in page.text
        assert get(served, "/source/page?document=parking&page=1", caller).status_code == 404


def test_a_desk_without_anything_has_all_its_rooms(tmp_path: Path) -> None:
    with serving(settings_for(tmp_path / "new.desk"), pages=PAGES) as empty:
        boss = empty.key(administrator=True)
        for path in ("/", "/library", "/quality", "/quality/gaps", "/quality/lapsed", "/activity"):
            assert get(empty, path, boss).status_code == 200, path
        assert "No document here" in get(empty, "/library", boss).text
        assert "Nothing was recorded yet" in get(empty, "/activity", boss).text
        assert "<code>evidencedesk eval run</code>" in get(empty, "/quality", boss).text
