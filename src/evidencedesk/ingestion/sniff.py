"""What a file is: its content says so first, its name only where the content leaves it open."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath

from evidencedesk.errors import ParseError

MARKDOWN = "text/markdown"
TEXT = "text/plain"
HTML = "text/html"
PDF = "application/pdf"
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OFFICE}wordprocessingml.document"
XLSX = f"{_OFFICE}spreadsheetml.sheet"
PPTX = f"{_OFFICE}presentationml.presentation"
EPUB = "application/epub+zip"
CSV = "text/csv"
JSON_LINES = "application/jsonl"
MAIL = "message/rfc822"
MAILBOX = "application/mbox"
ZIP = "application/zip"

CONTAINERS = frozenset({ZIP, MAIL, MAILBOX})
"""Types whose files hold files."""

WITHOUT_TEXT = frozenset({ZIP, MAILBOX})
"""Those of them that have no text of their own."""

_BY_EXTENSION = {
    ".md": MARKDOWN,
    ".mdx": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": TEXT,
    ".log": TEXT,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".docx": DOCX,
    ".docm": DOCX,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".pptx": PPTX,
    ".pptm": PPTX,
    ".ppsx": PPTX,
    ".epub": EPUB,
    ".csv": CSV,
    ".tsv": CSV,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".eml": MAIL,
    ".mbox": MAILBOX,
    ".zip": ZIP,
}
_BINARY = frozenset({PDF, DOCX, XLSX, PPTX, EPUB, ZIP})
_ON_OLE = frozenset({DOCX, XLSX, PPTX})
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BINARY_FORMATS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"{\\rtf", "a Rich Text file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"RIFF", "a sound, video or WebP file"),
)
_ZIP_FORMATS = (
    (b"word/document", DOCX),
    (b"xl/workbook.xml", XLSX),
    (b"ppt/presentation.xml", PPTX),
    (b"application/epub+zip", EPUB),
)
_OTHER_ZIP_FORMATS = (
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
    (b"xl/workbook.bin", "a binary Excel workbook"),
)
_PACKAGE_BEGINNINGS = (
    b"[Content_Types].xml",
    b"_rels/",
    b"docProps/",
    b"word/",
    b"xl/",
    b"ppt/",
    b"customXml/",
    b"mimetype",
    b"META-INF/",
)
_HEADER = re.compile(rb"(?:[!-9;-~]+:[ \t][^\r\n]*(?:\r?\n[ \t][^\r\n]*)*\r?\n){2}")
_MAIL_HEADERS = re.compile(
    rb"^(?:received|return-path|delivered-to|message-id|mime-version):",
    re.IGNORECASE | re.MULTILINE,
)
_MARKS = (
    codecs.BOM_UTF8,
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x08\x1b")
_SAMPLE = 8192
_LOCAL_NAME = 30  # APPNOTE.TXT 4.3.7: the name follows 30 bytes of a local file header


def sniff(data: bytes, file_name: str) -> str:
    """The media type of ``data``.

    Content wins: a PDF named ``.txt`` is a PDF, HTML named ``.pdf`` is HTML. Text that announces
    nothing is what its extension says, and plain text under an unknown extension.

    Raises:
        ParseError: ``unsupported``, naming what the file seems to be; ``damaged`` when the name
            promises PDF, DOCX or another such format and the content is text or nothing at all.
    """
    extension = PurePath(file_name).suffix.lower()
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(data, file_name, extension)
    if data.startswith(_OLE):
        return _ole_type(data, file_name, extension)
    for signature, name in _BINARY_FORMATS:
        if data.startswith(signature) and (not signature.isalnum() or looks_binary(data)):
            raise _unsupported(file_name, name)
    if looks_binary(data):
        return _binary_type(file_name, extension)
    return _text_type(data, file_name, extension)


def looks_binary(data: bytes) -> bool:
    """Whether the first 8 KiB look like no text in any encoding: too many control characters.

    A byte order mark, or zeros that fall on every second or fourth byte as in UTF-16 and UTF-32,
    mean text. A stray zero in a text does not make it binary.
    """
    sample = data[:_SAMPLE]
    if not sample or sample.startswith(_MARKS) or _wide_characters(sample):
        return False
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in sample)
    allowed = 0.1 if _is_utf8(sample) else 0.02
    return controls > allowed * len(sample)


def _wide_characters(sample: bytes) -> bool:
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = max(len(sample) // 2, 1)
    return max(even, odd) > 0.4 * half and (min(even, odd) < 0.1 * half or _four_wide(sample))


def _four_wide(sample: bytes) -> bool:
    quarter = max(len(sample) // 4, 1)
    zeros = [sample[offset::4].count(0) / quarter for offset in range(4)]
    little = min(zeros[2], zeros[3]) > 0.9 and zeros[0] < 0.1
    return little or (min(zeros[0], zeros[1]) > 0.9 and zeros[3] < 0.1)


def _is_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _zip_type(data: bytes, file_name: str, extension: str) -> str:
    """What a ZIP file is: an archive of anything may hold Office files, whose names it then shows."""
    promised = _BY_EXTENSION.get(extension)
    first_name = data[_LOCAL_NAME : _LOCAL_NAME + 64]
    if first_name.startswith(_PACKAGE_BEGINNINGS):
        for marker, kind in _OTHER_ZIP_FORMATS:
            if marker in data:
                raise _unsupported(file_name, kind)
        places = {media_type: data.find(marker) for marker, media_type in _ZIP_FORMATS}
        found = {media_type: place for media_type, place in places.items() if place >= 0}
        if promised in found:
            return promised
        if found:
            return min(found, key=found.__getitem__)
    return promised if promised in _BINARY - {PDF} else ZIP


def _ole_type(data: bytes, file_name: str, extension: str) -> str:
    promised = _BY_EXTENSION.get(extension, DOCX)
    if extension in _BY_EXTENSION and promised in _ON_OLE:
        return promised
    if _ENCRYPTED_PACKAGE in data:
        return DOCX
    raise _unsupported(file_name, "an Office file of before 2007")


def _binary_type(file_name: str, extension: str) -> str:
    promised = _BY_EXTENSION.get(extension)
    if promised in _BINARY or promised in {MAIL, MAILBOX}:
        return promised
    raise _unsupported(file_name, "binary data of an unknown kind")


def _text_type(data: bytes, file_name: str, extension: str) -> str:
    if _announces_html(data):
        return HTML
    promised = _BY_EXTENSION.get(extension, TEXT)
    if promised in _BINARY:
        content = "text" if data.strip() else "nothing"
        raise ParseError(
            f"{file_name}: is named {extension} and holds {content}.",
            code="damaged",
            hint="Save it again from the program that made it, or give it the extension it deserves.",
        )
    if extension not in _BY_EXTENSION:
        return _mail_type(data) or promised
    return promised


def _mail_type(data: bytes) -> str | None:
    """Mailboxes and messages often have no extension; their first lines are unlike anything else."""
    head = data[:_SAMPLE]
    is_mailbox = head.startswith(b"From ")
    if is_mailbox:
        head = head.partition(b"\n")[2]
    if not _HEADER.match(head) or not _MAIL_HEADERS.search(head):
        return None
    return MAILBOX if is_mailbox else MAIL


def _announces_html(data: bytes) -> bool:
    head = data[:2048].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return True
    return head.startswith((b"<?xml", b"<!--", b"<!doctype")) and b"<html" in head


def _unsupported(file_name: str, kind: str) -> ParseError:
    return ParseError(
        f"{file_name}: seems to be {kind}, which cannot be read.",
        code="unsupported",
        hint="Supported are Markdown, text, HTML, PDF, DOCX, XLSX, PPTX, EPUB, CSV, JSON Lines, mail and ZIP.",
    )
