"""Web pages, named one by one or by the map of a site, as sources of documents.

Nothing inside a page is fetched: no images, scripts, frames or links. A page is its main document.
"""

from __future__ import annotations

import codecs
import html
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from evidencedesk.adapters.sources.addresses import parsed
from evidencedesk.adapters.sources.fetching import Fetcher, Response
from evidencedesk.errors import ParseError, SourceError
from evidencedesk.model.source import (
    Fetched,
    Gone,
    NotFetched,
    NotModified,
    SourceItem,
    Validators,
)

_GONE = frozenset({404, 410})
_EXTENSIONS = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/jsonl": ".jsonl",
    "application/x-ndjson": ".ndjson",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "message/rfc822": ".eml",
    "application/mbox": ".mbox",
}
_REFUSALS = frozenset({"bad_url", "host_not_allowed", "address_refused", "downgraded"})
_LOC = re.compile(
    r"<(?:\w+:)?loc\b[^>]*>\s*(?:<!\[CDATA\[)?\s*([^<\]]*?)\s*(?:\]\]>)?\s*</", re.IGNORECASE
)
_MAP_ENTRY = re.compile(r"<(?:\w+:)?sitemap\b", re.IGNORECASE)
_MOST_PAGES = 50_000
_MOST_MAPS = 1_000
_LARGEST_MAP = 50 << 20


class WebPages:
    """Pages named by their addresses; see :class:`evidencedesk.protocols.Source`."""

    def __init__(self, urls: Sequence[str], fetcher: Fetcher, *, root: str = "") -> None:
        """Read ``urls`` with ``fetcher``.

        Raises:
            SourceError: ``bad_url`` when one of them is no address.
        """
        self.urls = tuple(dict.fromkeys(parsed(url).url for url in urls))
        self.root = root or "web://"
        self.complete = False
        self._fetcher = fetcher

    def items(self, known: Mapping[str, Validators]) -> Iterator[SourceItem]:
        """What has become of each page."""
        for url in self.urls:
            yield page(url, self._fetcher, known.get(url))


class Sitemap:
    """The pages that the map of a site names (sitemaps.org protocol, XML or text, also packed).

    ``items`` of pages that the map does not name any more do not come; ``complete`` is True when
    the map could be read as a whole, so that whoever prunes may take that for their removal.
    """

    def __init__(self, url: str, fetcher: Fetcher) -> None:
        """Read the map at ``url`` with ``fetcher``.

        Raises:
            SourceError: ``bad_url``.
        """
        self.root = parsed(url).url
        self.complete = False
        self._fetcher = fetcher

    def items(self, known: Mapping[str, Validators]) -> Iterator[SourceItem]:
        """What has become of each page; a map that cannot be read is an item of its own."""
        pages, problems = self._pages()
        yield from problems
        self.complete = not problems
        for url in pages:
            yield page(url, self._fetcher, known.get(url))

    def _pages(self) -> tuple[list[str], list[NotFetched]]:
        pages: dict[str, None] = {}
        problems: list[NotFetched] = []
        waiting, seen = [(self.root, 0)], {self.root}
        while waiting:
            url, depth = waiting.pop(0)
            try:
                names, is_index = self._map(url)
            except SourceError as error:
                problems.append(_failure(url, error))
                continue
            if not is_index:
                pages.update(dict.fromkeys(names))
            elif depth == 0:
                fresh = [name for name in names if name not in seen][:_MOST_MAPS]
                seen.update(fresh)
                waiting += [(name, 1) for name in fresh]
        if len(pages) > _MOST_PAGES:
            message = f"{self.root}: names {len(pages)} pages, of which {_MOST_PAGES} were read."
            problems.append(NotFetched(self.root, "too_large", message))
        return list(pages)[:_MOST_PAGES], problems

    def _map(self, url: str) -> tuple[list[str], bool]:
        """The addresses in one map, and whether they are those of further maps."""
        response = self._fetcher.fetch(url)
        if response.status != 200:
            raise SourceError(f"{url}: the server answered {response.status}.", code="unreachable")
        text = _unpacked(url, response.data).decode("utf-8", "replace")
        if "<" in text:
            names = [html.unescape(name) for name in _LOC.findall(text)]
        else:
            names = [line.strip() for line in text.split("\n") if line.strip()]
        return [_normal(name) for name in names], bool(_MAP_ENTRY.search(text))


def page(url: str, fetcher: Fetcher, known: Validators | None) -> SourceItem:
    """What has become of the page at ``url``."""
    asked = {}
    if known is not None and known.etag:
        asked["If-None-Match"] = known.etag
    if known is not None and known.modified:
        asked["If-Modified-Since"] = known.modified
    try:
        response = fetcher.fetch(url, asked)
    except SourceError as error:
        return _failure(url, error)
    if response.status == 304 and asked:
        return NotModified(url)
    if response.status in _GONE:
        return Gone(url, f"the server answers {response.status}")
    if response.status != 200:
        message = f"{url}: the server answered {response.status}."
        return NotFetched(url, "unreachable", message)
    return _fetched(url, response)


def _fetched(url: str, response: Response) -> Fetched:
    declared = Message()
    declared["content-type"] = response.headers.get("content-type", "application/octet-stream")
    kind = declared.get_content_type()
    data = response.data
    if kind.startswith("text/") or kind == "application/xhtml+xml":
        data = _in_utf8(data, str(declared.get_param("charset", "") or ""))
    return Fetched(
        url,
        data,
        _file_name(url, kind),
        Validators(response.headers.get("etag", ""), response.headers.get("last-modified", "")),
    )


def _in_utf8(data: bytes, charset: str) -> bytes:
    """Text whose encoding only the server's header tells, as UTF-8 with a mark that says so."""
    try:
        name = codecs.lookup(charset.strip("\"' ")).name
    except (LookupError, ValueError):
        return data
    if name in {"utf-8", "ascii"} or data.startswith((codecs.BOM_UTF8, b"\xff\xfe", b"\xfe\xff")):
        return data
    try:
        return codecs.BOM_UTF8 + data.decode(name).encode()
    except UnicodeError:
        return data


def _file_name(url: str, kind: str) -> str:
    name = PurePosixPath(unquote(urlsplit(url).path)).name or "page"
    extension = _EXTENSIONS.get(kind, "")
    return name if name.lower().endswith(extension) else name + extension


def _unpacked(url: str, data: bytes) -> bytes:
    """A map that is a gzip file, unpacked."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        text = unpacker.decompress(data, _LARGEST_MAP)
    except zlib.error as error:
        raise ParseError(f"{url}: not a readable gzip file ({error}).", code="damaged") from None
    if unpacker.unconsumed_tail:
        raise ParseError(f"{url}: larger than {_LARGEST_MAP} bytes.", code="too_large")
    return text


def _normal(url: str) -> str:
    try:
        return parsed(url).url
    except SourceError:
        return url


def _failure(url: str, error: SourceError) -> NotFetched:
    code = "refused" if error.code in _REFUSALS else error.code
    return NotFetched(url, code, str(error))
