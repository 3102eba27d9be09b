from __future__ import annotations

import gzip
import time
from http.server import BaseHTTPRequestHandler

import pytest
from web_site import Site

from evidencedesk.adapters.sources.addresses import is_public
from evidencedesk.adapters.sources.fetching import Bounds
from evidencedesk.errors import SourceError


def code_of(site: Site, path: str, **options: object) -> str:
    with pytest.raises(SourceError) as caught:
        site.fetcher(**options).fetch(site.url(path))  # type: ignore[arg-type]
    return caught.value.code


def test_a_page_comes_with_its_headers(site: Site) -> None:
    site.page("/a?b=c", "<p>Hello", ETag='"1"')
    response = site.fetcher().fetch(site.url("/a?b=c#part"))
    assert (response.status, response.data) == (200, b"<p>Hello")
    assert response.headers["etag"] == '"1"'
    ((path, sent),) = site.asked
    assert path == "/a?b=c"
    assert sent["Host"] == f"site.test:{site.port}"
    assert "Cookie" not in sent


def test_redirects_are_followed_within_the_rule(site: Site) -> None:
    site.page("/there", "found")
    site.redirect("/b", "/there", 308)
    site.redirect("/a", site.url("/b"), 301)
    assert site.fetcher().fetch(site.url("/a")).data == b"found"


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ("http://evil.test/", "host_not_allowed"),
        ("file:///etc/passwd", "bad_url"),
        ("http://169.254.169.254/latest/meta-data/", "host_not_allowed"),
        ("//2130706433/", "bad_url"),
        ("http://site.test@127.0.0.1/", "bad_url"),
        ("", "bad_response"),
    ],
)
def test_redirects_obey_the_rule(site: Site, to: str, code: str) -> None:
    site.redirect("/a", to)
    assert code_of(site, "/a") == code


def test_a_redirect_to_an_allowed_name_that_means_an_address_inside_is_refused(site: Site) -> None:
    site.redirect("/a", site.url("/secret", host="inside.test"))
    site.page("/secret", "the secret")
    answers = {"site.test": ["127.0.0.1"], "inside.test": ["10.0.0.7"]}
    code = code_of(
        site,
        "/a",
        resolver=lambda host, _port: answers[host],
    )
    assert code == "host_not_allowed"
    with pytest.raises(SourceError) as caught:
        site.fetcher("site.test", "inside.test", resolver=lambda host, _: answers[host]).fetch(
            site.url("/a")
        )
    assert caught.value.code == "address_refused"
    assert [path for path, _ in site.asked] == ["/a", "/a"]


def test_by_default_our_own_server_cannot_be_reached(site: Site) -> None:
    site.page("/a", "the secret")
    assert code_of(site, "/a", may_connect=is_public) == "address_refused"
    assert site.asked == []


def test_a_resolver_that_changes_its_mind_changes_nothing(site: Site) -> None:
    site.page("/a", "one")
    site.page("/b", "two")
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"]])
    fetcher = site.fetcher(resolver=lambda _host, _port: next(answers))
    assert fetcher.fetch(site.url("/a")).data == b"one"
    assert fetcher.fetch(site.url("/b")).data == b"two"
    assert next(answers) == ["127.0.0.2"]


def test_redirects_end(site: Site) -> None:
    site.redirect("/a", "/a")
    assert code_of(site, "/a") == "too_many_redirects"
    assert len(site.asked) == 6


def endless(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    for _ in range(10_000):
        request.wfile.write(b"x" * 4096)


def test_bodies_without_end_are_cut(site: Site) -> None:
    site.pages["/a"] = endless
    site.page("/b", b"x" * 100_001)
    site.page("/c", gzip.compress(b"x" * 10_000_000), Content_Encoding="gzip")
    for path in ("/a", "/b", "/c"):
        assert code_of(site, path) == "too_large"


def slow_body(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    for _ in range(40):
        request.wfile.write(b"x")
        request.wfile.flush()
        time.sleep(0.05)


def slow_head(request: BaseHTTPRequestHandler) -> None:
    for char in b"HTTP/1.1 200 OK\r\nX-Slow: yes and so slowly":
        request.wfile.write(bytes([char]))
        request.wfile.flush()
        time.sleep(0.05)


def silent(_request: BaseHTTPRequestHandler) -> None:
    time.sleep(2)


@pytest.mark.parametrize("answer", [slow_body, slow_head, silent])
def test_slow_answers_are_given_up(site: Site, answer: object) -> None:
    site.pages["/a"] = answer  # type: ignore[assignment]
    started = time.monotonic()
    assert code_of(site, "/a", bounds=Bounds(seconds=0.4)) == "timeout"
    assert time.monotonic() - started < 1.5


def cut_off(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Length", "100")
    request.end_headers()
    request.wfile.write(b"only this")


def no_http(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"SSH-2.0-OpenSSH\r\n")


@pytest.mark.parametrize("answer", [cut_off, no_http])
def test_answers_that_are_none_are_said_so(site: Site, answer: object) -> None:
    site.pages["/a"] = answer  # type: ignore[assignment]
    assert code_of(site, "/a") == "unreachable"


def test_packed_pages_are_unpacked_and_unknown_packing_is_refused(site: Site) -> None:
    site.page("/a", gzip.compress(b"words"), Content_Encoding="gzip")
    site.page("/b", b"words", Content_Encoding="br")
    site.page("/c", b"words", Content_Encoding="gzip")
    assert site.fetcher().fetch(site.url("/a")).data == b"words"
    assert code_of(site, "/b") == "bad_response"
    assert code_of(site, "/c") == "bad_response"


def test_proxies_of_the_environment_are_not_asked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    site.page("/a", "direct")
    assert site.fetcher().fetch(site.url("/a")).data == b"direct"
