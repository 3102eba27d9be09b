"""Mutated files of every kind, through the product's own parsing process: no crash, no hang.

Run ``python -m benchmarks.fuzz --seconds 300 [--corpus FOLDER] [--keep FOLDER] [kind ...]``. Seeds are the
files of FOLDER (the difficult files, say) and the sample corpora. Each is mutated (bytes turned, cut
out, doubled, moved; words of the formats put in; parts of packed files mutated and packed again) and
parsed. What is good is a document whose blocks are in order and miss no word, or an error with a
reason. What is a finding: a parser that ends with its process, takes too long or too much memory, or
answers with a document that is none. Findings are written to the folder that ``--keep`` names.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import sys
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from evidencedesk.errors import EvidenceDeskError, MetadataError, ParseError, SourceError
from evidencedesk.ingestion.sandbox import ParserPool
from evidencedesk.ingestion.sniff import CONTAINERS, WITHOUT_TEXT, sniff
from evidencedesk.model import ParsedDocument
from evidencedesk.settings import Settings
from evidencedesk.wiring import parser_pool

SAMPLES = Path(__file__).parents[1] / "samples"
BAD_CODES = frozenset({"parser_crashed", "timeout", "memory"})
_LARGEST = 200_000
_HELD = 6
_WORDS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\r", b"\n\n", b"\x85",
    b"---\n", b"```", b"| a |\n|---|\n", b"&#x110000;", b"&amp;", b"<table>", b"</p>", b"<![CDATA[",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"%PDF-1.7", b"endobj", b"stream", b"xref", b"trailer",
    b"/Kids [1 0 R]", b"<<", b">>", b"\"", b"'", b",", b";", b"\t", b"From x", b"Content-Type: ",
    b"multipart/mixed; boundary=\"\"", b"=?utf-8?q?=", b"{", b"}", b"[" * 50, b"-1", b"99999999999",
    b"<w:tbl>", b"w:val=\"-5\"", b"r=\"ZZZ99999999\"", b"t=\"s\"", b"xmlns:a=\"b\"",
)  # fmt: skip


def seeds(folders: Sequence[Path], kinds: Sequence[str]) -> list[tuple[str, bytes]]:
    """Names and bytes of the files to begin with."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.stat().st_size > _LARGEST or _is_unfit(path.name):
                continue
            if not kinds or path.suffix.lstrip(".") in kinds:
                found.append((path.name, path.read_bytes()))
    return found + [
        one for one in _gathered(found) if not kinds or Path(one[0]).suffix[1:] in kinds
    ]


def _gathered(files: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The kinds of file that hold others, which no corpus has: made of the smallest sample files."""
    held = sorted(
        (path for path in SAMPLES.rglob("*") if path.suffix in {".md", ".html", ".txt"}),
        key=lambda path: (path.stat().st_size, path.name),
    )[:_HELD]
    there = {Path(name).suffix for name, _ in files}
    texts = [path.read_text(encoding="utf-8") for path in held]
    if ".jsonl" not in there:
        rows = (json.dumps({"id": f"row-{at}", "text": text}) for at, text in enumerate(texts))
        yield "gathered.jsonl", "\n".join(rows).encode()
    if ".mbox" not in there:
        letters = (
            f"From a@example.org Mon Nov 30 10:00:00 2026\nSubject: {at}\n\n{text}\n"
            for at, text in enumerate(texts)
        )
        yield "gathered.mbox", "\n".join(letters).encode()
    if ".zip" not in there:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in held:
                archive.writestr(path.name, path.read_bytes())
        yield "gathered.zip", made.getvalue()


def _is_unfit(name: str) -> bool:
    """Hidden files, and bombs: those run into a limit by themselves."""
    return name.startswith(".") or "bomb" in name


def mutated(data: bytes, choose: random.Random) -> bytes:
    """One to eight small changes; of a packed file mostly inside one of its parts."""
    if data.startswith(b"PK\x03\x04") and choose.random() < 0.8:
        packed = _repacked(data, choose)
        if packed is not None:
            return packed
    for _ in range(choose.randint(1, 8)):
        data = _changed(data, choose)
    return data


def _changed(data: bytes, choose: random.Random) -> bytes:
    if not data:
        return choose.choice(_WORDS)
    start = choose.randrange(len(data))
    end = min(len(data), start + choose.choice((1, 2, 8, 64, 1024)))
    kind = choose.randrange(7)
    if kind == 0:
        return data[:start] + bytes(byte ^ (1 << choose.randrange(8)) for byte in data[start:end]) + data[end:]  # fmt: skip
    if kind == 1:
        return data[:start] + data[end:]
    if kind == 2:
        return data[:end] + data[start:]
    if kind == 3:
        place = choose.randrange(len(data))
        return data[:place] + data[start:end] + data[place:]
    if kind == 4:
        return data[:start]
    if kind == 5:
        return data[:start] + choose.choice(_WORDS) * choose.choice((1, 1, 1, 40)) + data[end:]
    return data[:start] + choose.choice(_WORDS) + data[start:]


def _repacked(data: bytes, choose: random.Random) -> bytes | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return None  # all that zipfile says of an archive that is damaged, encrypted or too new
    texts = [name for name in parts if name.endswith((".xml", ".rels", ".xhtml", ".html", ".opf"))]
    for _ in range(choose.randint(1, 3)):
        name = choose.choice(texts or sorted(parts))
        parts[name] = _changed(parts[name], choose)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def problem_of(parsed: ParsedDocument) -> str:
    """What is wrong with a document, empty when nothing is."""
    end = 0
    for block in parsed.blocks:
        if not end <= block.start < block.end <= len(parsed.text):
            return f"block {block.start}:{block.end} after {end} of {len(parsed.text)}"
        if parsed.text[end : block.start].strip():
            return f"words between blocks: {parsed.text[end : block.start][:40]!r}"
        end = block.end
    if parsed.text[end:].strip():
        return f"words after the blocks: {parsed.text[end:][:40]!r}"
    if any("\ud800" <= char <= "\udfff" for char in parsed.text):
        return "a lone surrogate"
    return ""


def tried(data: bytes, name: str, pool: ParserPool) -> str:
    """What became of a file: ``ok``, the code of its error, or a finding that begins with ``!``."""
    try:
        media_type = sniff(data, name)
        if media_type in CONTAINERS:
            pool.members(data, name, media_type)
        if media_type in WITHOUT_TEXT:
            return "ok"
        problem = problem_of(pool.parse(data, name, media_type))
    except (ParseError, MetadataError, SourceError) as error:
        return f"! {error.code}: {error.message}" if error.code in BAD_CODES else error.code
    except EvidenceDeskError as error:
        return f"! {error.code}: {error.message}"
    return f"! {problem}" if problem else "ok"


def runs(
    files: Sequence[tuple[str, bytes]], pool: ParserPool, seconds: float, seed: int
) -> Iterator[tuple[str, bytes, str]]:
    """Names, bytes and outcomes of mutated files until the time is up."""
    choose = random.Random(seed)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        name, data = choose.choice(files)
        changed = mutated(data, choose)
        yield name, changed, tried(changed, name, pool)


def main() -> int:
    """Print outcomes by kind of file, and every finding; 1 when there are any."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("kinds", nargs="*", help="extensions: pdf, docx, ...")
    arguments.add_argument("--seconds", type=float, default=60.0)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--corpus", type=Path, action="append", default=[])
    arguments.add_argument("--keep", type=Path)
    options = arguments.parse_args()
    files = seeds([SAMPLES, *options.corpus], options.kinds)
    if not files:
        arguments.error(f"no file to begin with is of the kind {' or '.join(options.kinds)}")
    outcomes: Counter[tuple[str, str]] = Counter()
    found: Counter[str] = Counter()
    settings = Settings.model_validate({"ingestion": {"timeout_s": 30.0}})
    with parser_pool(settings) as pool:
        for name, data, outcome in runs(files, pool, options.seconds, options.seed):
            kind = Path(name).suffix
            outcomes[kind, "finding" if outcome.startswith("!") else outcome] += 1
            if outcome.startswith("!"):
                found[f"{kind} {outcome[:160]}"] += 1
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    digest = hashlib.sha256(data).hexdigest()[:12]
                    (options.keep / f"{digest}{kind}").write_bytes(data)
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:8s} {outcome:18s} {count}")
    for text, count in found.most_common():
        print(f"{count} x {text}")
    print(f"{sum(outcomes.values())} files, {sum(found.values())} findings")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
