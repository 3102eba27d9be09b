"""Which document belongs to which file, while files are being read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from evidencedesk.ingestion.load import SourceFile
from evidencedesk.model import DocumentRecord
from evidencedesk.pipeline.documents import root_of

Place = tuple[str, str]


class Library:
    """The documents of one tenant as stored, and the ids that this run has given out.

    Touched by the reading thread only.
    """

    def __init__(self, records: Iterable[DocumentRecord]) -> None:
        self._by_place = {(record.root, record.source): record for record in records}
        self._owners = {record.id: place for place, record in self._by_place.items()}
        self._by_path = {str(Path(root, source)): (root, source) for root, source in self._by_place}
        self._by_address = {source: root for root, source in self._by_place if is_fetched(root)}

    def adopt(self, file: SourceFile) -> SourceFile:
        """``file`` seen from the root under which it is known already, if it is.

        Naming one file of a folder that was ingested as a whole must not make a second document.
        """
        if file.inside:  # its outermost file was adopted before it was opened
            return file
        if file.origin:
            return replace(file, origin=self._by_address.get(file.relative, file.origin))
        known = self._by_path.get(str(file.path.resolve()))
        if known is None or known == place_of(file):
            return file
        return replace(file, path=Path(*known), root=Path(known[0]), relative=known[1])

    def record_of(self, file: SourceFile) -> DocumentRecord | None:
        """What is stored of this file."""
        return self._by_place.get(place_of(file))

    def taken(self, document_id: str, file: SourceFile) -> bool:
        """Whether the id belongs to another file; a file that is gone has moved and owns nothing."""
        owner = self._owners.get(document_id)
        if owner is None or owner == place_of(file):
            return False
        return is_fetched(owner[0]) or file_at(owner).exists()

    def keeps_suffix(self, document_id: str, file: SourceFile) -> bool:
        """Whether the file's document is known under this id with a suffix, and so keeps it."""
        record = self.record_of(file)
        return record is not None and record.id.startswith(f"{document_id}~")

    def claim(self, document_id: str, file: SourceFile) -> None:
        """Give the id to this file."""
        self._owners[document_id] = place_of(file)


def is_fetched(root: str) -> bool:
    """Whether documents with this root are no files on disk: the root is a URL."""
    return "://" in root


def place_of(file: SourceFile) -> Place:
    """Root and source as recorded with the file's document."""
    return root_of(file), file.relative


def file_at(place: Place) -> Path:
    """The file on disk of a place: of a member of an archive or message, the outermost file."""
    root, source = place
    path = Path(root, source)
    while not path.exists() and "!/" in source:
        source = source.rpartition("!/")[0]
        path = Path(root, source)
    return path
