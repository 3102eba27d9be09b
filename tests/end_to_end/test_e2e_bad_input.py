"""What goes wrong around an index: a clear error, nothing half-written, and the next command works."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from sample_corpora import CUSTOMER, OPERATOR, RETURNS, copy_of

import command_line
from evidencedesk import Desk, Reason, Settings, Status
from evidencedesk.errors import IndexDamagedError, IndexMismatchError
from evidencedesk.testing.clock import SteppingClock

WITHOUT_MODEL = Settings.model_validate({"embedding": {"model": "none"}})


class Ran(command_line.Ran):
    """Of a process of its own, whose log lines may stand before the error."""

    @property
    def error(self) -> dict[str, str]:
        return json.loads(self.err.strip().splitlines()[-1])["error"]


@dataclass(frozen=True)
class Shell:
    """The product as a process of its own, without a model, in one folder."""

    folder: Path

    def start(self, *arguments: str, before: str = "", **options: Any) -> subprocess.Popen[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EVIDENCEDESK_")}
        return subprocess.Popen(
            ["bash", "-c", f'{before} exec "$@"', "-", sys.executable, "-m", "evidencedesk", *arguments],
            cwd=self.folder,
            env={**kept, "EVIDENCEDESK_EMBEDDING__MODEL": "none"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            **options,
        )  # fmt: skip

    def __call__(self, *arguments: str, before: str = "", **options: Any) -> Ran:
        started = self.start(*arguments, before=before, **options)
        out, err = started.communicate(timeout=60)
        assert "Traceback" not in err
        return Ran(started.returncode, out, err)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return copy_of("kestrel", tmp_path)


def many(folder: Path, count: int) -> Path:
    """A folder with ``count`` documents of about a kilobyte."""
    folder.mkdir()
    for number in range(count):
        text = (
            f"---\nlang: en\n---\n# Document {number}\n\n"
            + f"The number of document {number} is {number}. " * 30
        )
        (folder / f"d{number:04}.md").write_text(text + "\n", "utf-8")
    return folder


def assert_sound(shell: Shell, documents: int | None = None) -> None:
    """The index agrees with itself, and every document in it is whole."""
    with Desk.open(shell.folder / "evidencedesk.desk", settings=WITHOUT_MODEL) as desk:
        assert [each for each in desk.doctor() if not each.ok] == []
        listed = desk.documents(principal=OPERATOR)
        assert [each.id for each in listed if not each.chunks] == []
        assert documents in (None, len(listed))


def damage(database: Path, where: str) -> None:
    data = bytearray(database.read_bytes())
    if where == "middle":
        data[8192:] = os.urandom(len(data) - 8192)
    elif where == "header":
        data[:100] = os.urandom(100)
    else:
        del data[len(data) // 2 :]
    database.write_bytes(data)
    for beside in database.parent.glob("index.sqlite3-*"):
        beside.unlink()


@pytest.mark.parametrize("where", ["middle", "header", "cut"])
def test_a_damaged_index(tmp_path: Path, shop: Path, where: str):
    path = tmp_path / "a.desk"
    with Desk.open(path, settings=WITHOUT_MODEL) as desk:
        desk.ingest(shop)
    damage(path / "index.sqlite3", where)
    with Desk.open(path, settings=WITHOUT_MODEL) as desk:
        for action in (
            lambda: desk.ask(RETURNS, principal=CUSTOMER),
            lambda: desk.search(RETURNS, principal=CUSTOMER),
            lambda: desk.documents(principal=CUSTOMER),
            lambda: desk.document("kc-returns-v3", principal=CUSTOMER),
            lambda: desk.ingest(shop),
        ):
            with pytest.raises(IndexDamagedError) as caught:
                action()
            assert caught.value.code in {"index_damaged", "index_not_ours"}
            assert caught.value.hint
        assert not all(each.ok for each in desk.doctor())
    shutil.rmtree(path)
    with Desk.open(path, settings=WITHOUT_MODEL) as desk:
        desk.ingest(shop)
        assert desk.ask(RETURNS, principal=CUSTOMER).reason is Reason.OK


def test_an_index_made_with_another_model(tmp_path: Path, shop: Path, minilm_directory: Path):
    assert minilm_directory.is_dir()
    path = tmp_path / "a.desk"
    with Desk.open(path) as desk:
        desk.ingest(shop / "returns-policy.md")
    changed = Settings.model_validate({"embedding": {"passage_prefix": "passage: "}})
    with Desk.open(path, settings=changed) as desk:
        for action in (
            lambda: desk.ask(RETURNS, principal=CUSTOMER),
            lambda: desk.search(RETURNS, principal=CUSTOMER),
            lambda: desk.ingest(shop),
        ):
            with pytest.raises(IndexMismatchError, match="made with the model 'minilm'") as caught:
                action()
            assert caught.value.code == "index_mismatch"
            assert "evidencedesk reindex --model minilm --yes" in caught.value.hint
        desk.reindex(yes=True)
        assert desk.ask(RETURNS, principal=CUSTOMER).reason is Reason.OK


def test_a_full_disk_keeps_what_was_whole_and_the_next_run_goes_on(shell: Shell):
    many(shell.folder / "many", 400)
    ran = shell("ingest", "many", "--role", "everyone", "--json", before="ulimit -f 700;")
    assert (ran.code, ran.error["code"]) == (1, "disk_full")
    assert_sound(shell)
    again = shell("ingest", "many", "--role", "everyone", "--json")
    assert again.code == 0
    assert again.json["unchanged"] > 0
    assert_sound(shell, 400)


def test_no_room_for_temporary_files(shell: Shell):
    folder = many(shell.folder / "many", 2)
    (folder / "d0000.md").write_text("One sentence of English words. " * 20 + "\n", "utf-8")
    ran = shell("ingest", "many", "--role", "everyone", "--json", before="ulimit -f 1000;")
    assert (ran.code, ran.json["added"]) == (1, ["d0001"])
    assert [each["code"] for each in ran.json["failed"]] == ["temporary_files"]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach."""
    folder = Path(tempfile.mkdtemp(prefix="evidencedesk-"))
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder)


READS_ONLY = """
import os, sys
from evidencedesk.cli.app import run
question = ["ask", "How long do I have to return a bike?", "--role", "everyone", "--json"]
run(["ingest", "kestrel", "--json"])
run(question)
for folder, _, names in os.walk("."):
    for name in names:
        os.chmod(os.path.join(folder, name), 0o444)
    os.chmod(folder, 0o555)
if os.geteuid() == 0:
    os.seteuid(65534)
for command in (question, ["ingest", "kestrel", "--json"]):
    print(run(command), file=sys.stderr)
"""


def test_a_read_only_index_answers_and_takes_nothing(open_folder: Path):
    copy_of("kestrel", open_folder)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EVIDENCEDESK_")}
    ran = subprocess.run(
        [sys.executable, "-c", READS_ONLY],
        cwd=open_folder,
        env={**kept, "EVIDENCEDESK_EMBEDDING__MODEL": "none"},
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count('"reason": "ok"') == 2
    said = [line for line in ran.stderr.splitlines() if line.startswith(("{", "0", "1", "2"))]
    assert said[0] == "0"
    errors = [json.loads(line)["error"]["code"] for line in said if line.startswith("{")]
    assert errors == ["index_read_only"]
    assert said[-1] == "1"


def test_two_processes_ingest_at_once(shell: Shell):
    many(shell.folder / "a", 50)
    many(shell.folder / "b", 50)
    started = [shell.start("ingest", name, "--role", "r", "--json") for name in ("a", "b", "a")]
    for process in started:
        _, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        assert process.returncode == 0 or json.loads(err)["error"]["code"] == "index_busy"
    assert any(process.returncode == 0 for process in started)
    assert shell("ingest", "a", "b", "--role", "r").code == 0
    assert_sound(shell, 100)


@pytest.mark.parametrize(
    ("blow", "after"), [(signal.SIGKILL, 0), (signal.SIGKILL, 60), (signal.SIGTERM, 30)]
)
def test_a_blow_in_the_middle_of_ingestion(shell: Shell, blow: signal.Signals, after: int):
    many(shell.folder / "many", 150)
    started = shell.start("ingest", "many", "--role", "r", start_new_session=True)
    database = shell.folder / "evidencedesk.desk" / "index.sqlite3-wal"
    limit = time.monotonic() + 30
    while time.monotonic() < limit and not (
        database.exists() and database.stat().st_size > after * 4096
    ):
        time.sleep(0.002)
    started.send_signal(blow)
    _, err = started.communicate(timeout=30)
    assert "Traceback" not in err
    assert started.returncode != 0
    assert_no_children(started.pid)
    assert shell("ingest", "many", "--role", "r").code == 0
    assert_sound(shell, 150)


def assert_no_children(session: int) -> None:
    """No process of the session is left behind."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        left = subprocess.run(["ps", "-o", "pid=,stat=", "-s", str(session)], capture_output=True, text=True, check=False)  # fmt: skip
        alive = [line for line in left.stdout.splitlines() if " Z" not in line]
        if not alive:
            return
        time.sleep(0.1)
    raise AssertionError(f"left behind: {alive}")


def test_a_clock_set_back_changes_nothing_but_times(tmp_path: Path, shop: Path):
    clock = SteppingClock()
    policy = shop / "returns-policy.md"
    with Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL, clock=clock) as desk:
        desk.ingest(shop)
        clock.move(timedelta(days=-4000))
        policy.write_text(policy.read_text("utf-8").replace("30 days", "45 days"), "utf-8")
        assert desk.ingest(shop).changed == ("kc-returns-v3",)
        assert "45 days" in desk.ask(RETURNS, principal=CUSTOMER).text
        (earlier,) = desk.history("kc-returns-v3", principal=CUSTOMER)
        now = next(d for d in desk.documents(principal=CUSTOMER) if d.id == "kc-returns-v3")
        assert earlier.ingested_at > now.ingested_at
        assert desk.log(principal=OPERATOR)[0].outcome == "changed"
        assert desk.ingest(shop).unchanged == 13
        assert all(each.ok for each in desk.doctor())
        policy.unlink()
        assert desk.ingest(shop, prune=True).removed == ("kc-returns-v3",)


def protected_pdf() -> bytes:
    made = BytesIO()
    canvas = Canvas(made, encrypt=StandardEncryption("open sesame"))
    canvas.drawString(72, 700, "Nobody reads this.")
    canvas.save()
    return made.getvalue()


def without_text_pdf() -> bytes:
    made = BytesIO()
    canvas = Canvas(made)
    canvas.rect(72, 600, 100, 100, fill=1)
    canvas.save()
    return made.getvalue()


BROKEN = {
    "password.pdf": (protected_pdf(), "encrypted"),
    "picture.pdf": (without_text_pdf(), "no_text"),
    "cut.pdf": (protected_pdf()[:400], "damaged"),
    "no.pdf": (b"%PDF-1.7 nothing", "damaged"),
    "no.docx": (b"PK\x03\x04 nothing", "damaged"),
    "open.md": (b"---\ntitle: never closed\n", "front_matter_unclosed"),
    "twice.md": (b"---\ntitle: a\ntitle: b\n---\n# A\n\ntext\n", "duplicate_key"),
    "role.md": (b"---\nroles: ['a b']\n---\n# A\n\ntext\n", "bad_role"),
    "binary.txt": (bytes(range(256)) * 40, "unsupported"),
    "taken.md": (b"---\nid: kc-returns-v3\nroles: [staff]\n---\n# A\n\ntext\n", "duplicate_id"),
}


def test_broken_files_fail_alone_and_the_others_are_ingested(shell: Shell, shop: Path):
    for name, (content, _) in BROKEN.items():
        (shop / name).write_bytes(content)
    ran = shell("ingest", "kestrel", "--json")
    assert ran.code == 1
    report = ran.json
    assert len(report["added"]) == 13
    failed = {each["source"]: each["code"] for each in (*report["failed"], *report["refused"])}
    assert set(failed) == set(BROKEN)
    assert failed == {name: code for name, (_, code) in BROKEN.items()}
    for each in (*report["failed"], *report["refused"]):
        assert each["source"] in each["message"]
    with Desk.open(shell.folder / "evidencedesk.desk", settings=WITHOUT_MODEL) as desk:
        again = desk.ingest(shop)
        assert again.unchanged == 13
        assert desk.ask(RETURNS, principal=CUSTOMER).reason is Reason.OK
        logged = desk.log(principal=OPERATOR)
    assert {each.source for each in logged if each.outcome == "failed"} >= {"password.pdf"}


def test_a_file_that_breaks_keeps_its_last_good_version_and_its_rights(tmp_path: Path, shop: Path):
    policy = shop / "returns-policy.md"
    with Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL) as desk:
        desk.ingest(shop)
        good = policy.read_text("utf-8")
        policy.write_text(good.replace("roles: [everyone]", "roles: everyone: ["), "utf-8")
        report = desk.ingest(shop, prune=True)
        assert [each.source for each in report.failed] == ["returns-policy.md"]
        assert report.removed == ()
        assert "30 days" in desk.ask(RETURNS, principal=CUSTOMER).text
        assert len(desk.documents(principal=OPERATOR, statuses=set(Status))) == 13
