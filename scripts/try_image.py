"""Do what ``deploy/Dockerfile`` says, without a container engine, and answer a question with the result.

Needs root on Linux and Python 3.11. It runs in a mount namespace of its own (``unshare --mount``),
where /opt, /etc, /src and /var/lib/evidencedesk are laid over with memory, so that the machine keeps
its own. ``FROM`` is taken as done: the base image is this machine's Python. The server then runs as
the container's user, with the container's environment and no privilege, and is asked over HTTP. Where
systemd is installed, the unit is verified against what stands in /opt. ``make deployment`` calls it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPResponse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
COVERED = (Path("/opt"), Path("/src"), Path("/var/lib/evidencedesk"))
PYTHON = "/mnt"
"""Where this Python is seen inside: its own folder may be closed to the container's user."""

SAID_ELSEWHERE = {"FROM", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}
PATIENCE = 60
ADDRESS = "http://127.0.0.1:8000"
QUESTION = "Within how many days can a bike be returned?"
TEXT = "# Returns\n\nA bike can be returned within 30 days of delivery.\n"


@dataclass
class Container:
    """What the instructions so far make of the container: environment, user, folder, command."""

    environment: dict[str, str] = field(
        default_factory=lambda: {
            "PATH": f"{PYTHON}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LD_LIBRARY_PATH": f"{PYTHON}/lib",
        }
    )
    user: str = "0"
    folder: str = "/"
    command: list[str] = field(default_factory=list)

    def start(
        self, command: Sequence[str], *, output: int | None = None, errors: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a command as the container would: its user, nothing but its environment."""
        ids = f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"
        plain = ["setpriv", *ids, "--no-new-privs", "--bounding-set=-all"]
        environment = {**self.environment, "HOME": self.folder}
        return subprocess.Popen(
            [*plain, *command],
            env=environment,
            cwd=self.folder,
            stdout=output,
            stderr=errors,
        )

    def output_of(self, command: Sequence[str]) -> tuple[int, bytes]:
        """How a command ended, and what it printed."""
        process = self.start(command, output=subprocess.PIPE, errors=subprocess.DEVNULL)
        printed, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, printed


def main() -> None:
    """Enter the namespace, carry the instructions out, try the server and the unit."""
    if "--inside" not in sys.argv:
        raise SystemExit(enter())
    cover()
    steps = instructions()
    container = carry_out(steps)
    server = container.start(container.command)
    try:
        wait_until_ready(container, list_in("HEALTHCHECK", steps))
        answer = ask(bring(container))
    finally:
        server.terminate()
        ended = server.wait(PATIENCE)
    print(answer["text"], f"The server ended with {ended}.")
    if answer["abstained"] or "30 days" not in str(answer["text"]) or not answer["citations"]:
        raise SystemExit("The image runs, but the question was not answered.")
    if shutil.which("systemd-analyze"):
        run("systemd-analyze", "verify", str(DEPLOY / "evidencedesk.service"))
        print("systemd knows the unit.")


def enter() -> int:
    """Run this file again in a mount namespace; its exit code. Folders that had to be made go again."""
    if os.geteuid() != 0:
        raise SystemExit("Only root may lay folders over: run it with sudo.")
    python = shutil.which("python3.11") or sys.executable
    made = [folder for folder in COVERED if not folder.exists()]
    for folder in made:
        folder.mkdir()
    try:
        inside = ["unshare", "--mount", python, str(Path(__file__).resolve()), "--inside"]
        return subprocess.run(inside, check=False).returncode
    finally:
        for folder in made:
            folder.rmdir()


def cover() -> None:
    """Lay memory over the folders that the image changes."""
    for folder in COVERED:
        run("mount", "-t", "tmpfs", "none", str(folder))
    run("mount", "--bind", sys.base_prefix, PYTHON)
    scratch = Path("/src/.etc")
    for name in ("upper", "work"):
        (scratch / name).mkdir(parents=True)
    layers = f"lowerdir=/etc,upperdir={scratch}/upper,workdir={scratch}/work"
    run("mount", "-t", "overlay", "overlay", "-o", layers, "/etc")


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile: name and rest, lines joined."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    joined = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", text))
    named = (line.partition(" ") for line in joined.splitlines() if line.strip())
    return [(name, rest.strip()) for name, _, rest in named]


def list_in(name: str, steps: Sequence[tuple[str, str]]) -> list[str]:
    """The JSON list in the one instruction called ``name``."""
    (rest,) = (rest for each, rest in steps if each == name)
    found: list[str] = json.loads(rest[rest.index("[") :])
    return found


def carry_out(steps: Sequence[tuple[str, str]]) -> Container:
    """Do them one after the other."""
    container = Container()
    for name, rest in steps:
        print(f"{name} {rest}"[:150], flush=True)
        if name == "RUN":
            environment = {**os.environ, **container.environment}
            bash = ["bash", "-ec", rest]
            subprocess.run(bash, check=True, cwd=container.folder, env=environment)
        elif name == "COPY":
            copy(shlex.split(rest), container.folder)
        elif name == "ENV":
            for key, _, value in (pair.partition("=") for pair in shlex.split(rest)):
                container.environment[key] = value.replace("$PATH", container.environment["PATH"])
        elif name == "USER":
            container.user = rest
        elif name == "WORKDIR":
            container.folder = rest
        elif name in {"ENTRYPOINT", "CMD"}:
            container.command += json.loads(rest)
        elif name not in SAID_ELSEWHERE:
            raise SystemExit(f"{name} is an instruction that this script cannot carry out.")
    return container


def copy(words: Sequence[str], folder: str) -> None:
    """Copy from the repository; what an earlier stage of the build made is there already."""
    if words[0].startswith("--from"):
        return
    *sources, target = words
    for source in sources:
        run("cp", "-r", str(ROOT / source), str(Path(folder, target)))


def wait_until_ready(container: Container, probe: Sequence[str]) -> None:
    """Ask as the container's health check does until it is content."""
    deadline = time.monotonic() + PATIENCE
    while container.output_of(probe)[0]:
        if time.monotonic() > deadline:
            raise SystemExit("The server did not become ready.")
        time.sleep(0.5)


def bring(container: Container) -> str:
    """Make a key and upload a file with it; the key, once the file is indexed."""
    allowed = ["--role", "everyone", "--allow", "read", "--allow", "write"]
    _, printed = container.output_of(
        ["evidencedesk", "apikeys", "create", "me", *allowed, "--json"]
    )
    key = str(json.loads(printed)["key"])
    mark = uuid.uuid4().hex
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="roles"\r\n\r\neveryone\r\n',
        f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="returns.md"\r\n'
        f"Content-Type: text/markdown\r\n\r\n{TEXT}\r\n--{mark}--\r\n",
    ]
    kind = f"multipart/form-data; boundary={mark}"
    with call(key, "/v1/documents", "".join(parts).encode(), kind) as reply:
        job = reply.headers["Location"]
    deadline = time.monotonic() + PATIENCE
    state = ""
    while state != "done":
        if time.monotonic() > deadline:
            raise SystemExit(f"The upload is still {state!r}.")
        time.sleep(0.3)
        with call(key, job) as reply:
            state = json.load(reply)["state"]
    return key


def ask(key: str) -> dict[str, object]:
    """The answer to the question."""
    body = json.dumps({"question": QUESTION}).encode()
    with call(key, "/v1/ask", body, "application/json") as reply:
        answer: dict[str, object] = json.load(reply)
    return answer


def call(key: str, path: str, body: bytes | None = None, kind: str = "") -> HTTPResponse:
    """One request."""
    headers = {"Authorization": f"Bearer {key}", **({"Content-Type": kind} if kind else {})}
    request = urllib.request.Request(ADDRESS + path, body, headers)
    reply: HTTPResponse = urllib.request.urlopen(request, timeout=30)
    return reply


def run(*words: str) -> None:
    """One command, which must succeed."""
    subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
