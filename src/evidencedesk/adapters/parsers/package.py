"""The ZIP package around Office documents and books, opened with distrust: sizes, ratios, entities."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from evidencedesk.errors import ParseError

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_MOST_ENTRIES = 20_000
_MOST_PART_BYTES = 512 * 1024 * 1024
_SUSPICIOUS_BYTES = 16 * 1024 * 1024
_MOST_RATIO = 200
_HEAD = 4096
_DOCTYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_OFFICE_DOCUMENT = "/relationships/officeDocument"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def local_name(element: etree._Element) -> str:
    """The element's name without its namespace, which may be any text: ``QName`` refuses some."""
    return str(element.tag).rpartition("}")[2]


class Package:
    """The parts of one package; nothing is ever written to disk or fetched."""

    def __init__(self, data: bytes, file_name: str, kind: str) -> None:
        """Open the package.

        Args:
            data: the file.
            file_name: named in errors.
            kind: what people call the format, for errors: ``DOCX``.

        Raises:
            ParseError: ``encrypted``, ``damaged`` or ``refused``.
        """
        self._file_name = file_name
        self._kind = kind
        if data.startswith(_OLE):
            raise self._ole_error(data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
            raise self.damaged(str(error)) from None
        entries = self._zip.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise self.refused(f"{len(entries)} entries in the package")
        self._entries = {entry.filename.lstrip("/"): entry for entry in entries}

    def main_part(self, usual: str) -> str:
        """The name of the part that holds the text; ``usual`` when no relation names it.

        Raises:
            ParseError: ``damaged`` when there is none.
        """
        for kind, target in self.relations("").values():
            if kind.endswith(_OFFICE_DOCUMENT) and target in self._entries:
                return target
        if usual in self._entries:
            return usual
        raise self.damaged("there is no document in the package")

    def bytes_of(self, name: str) -> bytes | None:
        """The content of a part, None when it is not there.

        Raises:
            ParseError: ``damaged`` or ``refused``.
        """
        return self._read(self._entries[name]) if name in self._entries else None

    def title(self) -> str | None:
        """The title in the package's core properties."""
        core = self.xml("docProps/core.xml")
        title = None if core is None else core.findtext(_TITLE)
        return " ".join(title.split()) or None if title else None

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Relations of a part inside the package: id to (kind, name of the target part)."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        if root is None:
            return {}
        found = {}
        for relation in root.iter(_RELATION):
            if relation.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))
                kind = relation.get("Type", "")
                found[relation.get("Id", "")] = (kind, target.lstrip("/"))
        return found

    def xml(self, name: str) -> etree._Element | None:
        """The root element of a part, None when the part is not there.

        Raises:
            ParseError: ``damaged``, or ``refused`` for a document type definition.
        """
        if name not in self._entries:
            return None
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(self._read(self._entries[name]), parser)
        except etree.XMLSyntaxError as error:
            raise self._malformed(name, error) from None
        if root.getroottree().docinfo.doctype:  # type: ignore[union-attr]  # stubs lack it
            raise self.refused(f"a document type definition in {name}")
        return root

    def iterate(self, name: str, local_name: str) -> Iterator[etree._Element]:
        """The elements called ``local_name`` of a big part, one at a time, each freed afterwards.

        Raises:
            ParseError: ``damaged``, or ``refused`` for a document type definition.
        """
        data = self.bytes_of(name) or b""
        if _DOCTYPE.search(data[:_HEAD].replace(b"\0", b"")):
            raise self.refused(f"a document type definition in {name}")
        events = etree.iterparse(
            io.BytesIO(data),
            tag=f"{{*}}{local_name}",
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            for _, element in events:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise self._malformed(name, error) from None

    def _malformed(self, name: str, error: etree.XMLSyntaxError) -> ParseError:
        if "ntity" in str(error):
            return self.refused(f"entities in {name}")
        return self.damaged(f"{name}: {error}")

    def _read(self, entry: zipfile.ZipInfo) -> bytes:
        size, packed = entry.file_size, max(entry.compress_size, 1)
        if size > _MOST_PART_BYTES or (size > _SUSPICIOUS_BYTES and size > _MOST_RATIO * packed):
            raise self.refused(f"{entry.filename} unpacks to {size} bytes from {packed}")
        try:
            with self._zip.open(entry) as part:
                data = part.read(_MOST_PART_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise self.damaged(f"{entry.filename}: {error}") from None
        except (RuntimeError, NotImplementedError) as error:
            raise ParseError(
                f"{self._file_name}: {entry.filename} cannot be unpacked ({error}).",
                code="encrypted" if "encrypted" in str(error) else "damaged",
                hint="Save the document again without a password.",
            ) from None
        if len(data) > _MOST_PART_BYTES:
            raise self.refused(f"{entry.filename} unpacks to more than it says")
        return data

    def damaged(self, reason: str) -> ParseError:
        """The error for a package that cannot be read."""
        return ParseError(
            f"{self._file_name}: not a readable {self._kind} file ({reason}).",
            code="damaged",
            hint="Open it in the program it belongs to and save it again.",
        )

    def refused(self, reason: str) -> ParseError:
        """The error for a package that holds what no honest one does."""
        return ParseError(
            f"{self._file_name}: refused, {reason}.",
            code="refused",
            hint="An ordinary document has nothing of the kind; save it again from a program you trust.",
        )

    def _ole_error(self, data: bytes) -> ParseError:
        if _ENCRYPTED_PACKAGE in data:
            return ParseError(
                f"{self._file_name}: protected with a password.",
                code="encrypted",
                hint="Save a copy without a password and ingest that.",
            )
        return ParseError(
            f"{self._file_name}: an Office file of before 2007.",
            code="unsupported",
            hint=f"Save it as {self._kind}.",
        )
