"""Checking an exported answer with nothing but the file: no index, no model, no network.

What is checked without a digest or a key shows that the file agrees with itself, and no more: who can
compute these hashes can forge such a file. A digest that was noted elsewhere, or the public key of
whoever exported it, shows where it came from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from evidencedesk.model.receipt import commitment, digest_of, entry_hash
from evidencedesk.records.export import render, signed_message
from evidencedesk.records.file_format import AnswerFile, FileContent

MAX_BYTES = 64 << 20
NOT_PROVEN = "consistent in itself; origin not proven"

CheckSignature = Callable[[str, str, bytes], bool]
"""``(public key in hex, signature in hex, message)``: whether the signature is the key's."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not agree.

    Attributes:
        where: ``file``, ``digest``, ``chain``, ``record``, ``content quote:0``, ``citation 0``,
            ``claim 0``, ``signature``.
        message: what is wrong.
    """

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found out about a file.

    Attributes:
        problems: everything that does not agree; empty when all does.
        origin: ``digest``, ``public_key`` or both when they prove where the file came from.
        withheld: labels of pieces that were left out: erased, or not for who exported it.
        file: the file's content, None when it could not be read.
    """

    problems: tuple[Problem, ...]
    origin: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    file: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """In words."""
        if self.problems:
            return "refused"
        return f"origin proven by {' and '.join(self.origin)}" if self.origin else NOT_PROVEN


def verify_file(
    data: bytes,
    *,
    digest: str | None = None,
    public_key: str | None = None,
    check_signature: CheckSignature | None = None,
) -> Verification:
    """Check an exported answer.

    Args:
        data: the file's bytes.
        digest: the digest that the file must have, noted from elsewhere.
        public_key: whose signature it must have, hex.
        check_signature: checks signatures; needed with ``public_key``.
    """
    read = _read(data)
    if isinstance(read, Problem):
        return Verification((read,))
    raw, file = read
    problems = list(_problems(raw, file))
    if data.decode("utf-8", "replace") != render(raw):
        problems.append(Problem("file", "it is not written as an export is; something was changed"))
    origin = []
    if digest is not None:
        same = digest.removeprefix("sha256:") == file.digest.removeprefix("sha256:")
        origin += ["digest"] if same else []
        problems += [] if same else [Problem("digest", f"it is {file.digest}, not {digest}")]
    if public_key is not None:
        unsigned = _signature_problem(file, public_key, check_signature)
        origin += [] if unsigned else ["public_key"]
        problems += [unsigned] if unsigned else []
    withheld = tuple(sorted(file.record.pieces.keys() - file.content.keys()))
    return Verification(tuple(problems), () if problems else tuple(origin), withheld, raw)


def _read(data: bytes) -> tuple[dict[str, Any], AnswerFile] | Problem:
    if len(data) > MAX_BYTES:
        return Problem("file", f"it has more than {MAX_BYTES >> 20} MiB")
    try:
        raw = json.loads(data)
        file = AnswerFile.model_validate(raw)
        render(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "file"
        return Problem(where, first["msg"])
    except (ValueError, RecursionError) as error:
        return Problem("file", f"it is not an exported answer: {error}")
    return raw, file


def _problems(raw: dict[str, Any], file: AnswerFile) -> Iterator[Problem]:
    chain = file.chain
    try:
        expected = entry_hash(chain.number, chain.previous, chain.event)
        record = digest_of(raw["record"])
    except (ValueError, RecursionError) as error:
        yield Problem("record", str(error))
        return
    if chain.hash != expected:
        yield Problem("chain", f"entry {chain.number} does not have its hash")
    if file.digest != chain.hash:
        yield Problem("digest", "it is not the hash of the chain's entry")
    if chain.event.get("digest") != record:
        yield Problem("record", "its digest is not the one in the chain's entry")
    for label, piece in file.content.items():
        yield from _piece_problem(file, label, piece)
    yield from _citation_problems(file)
    yield from _claim_problems(file)


def _piece_problem(file: AnswerFile, label: str, piece: FileContent) -> Iterator[Problem]:
    known = file.record.pieces.get(label)
    if known is None:
        yield Problem(f"content {label}", "the record does not know it")
    elif commitment(bytes.fromhex(piece.key), piece.value) != known.commitment:
        yield Problem(f"content {label}", "it is not what the record committed to")


def _citation_problems(file: AnswerFile) -> Iterator[Problem]:
    for number, cited in enumerate(file.record.citations):
        where = f"citation {number}"
        (start, end), (first, last) = cited.span, cited.quote
        if not start <= first < last <= end:
            yield Problem(where, "its quote is not within its chunk")
        quote, text = (file.content.get(f"{kind}:{number}") for kind in ("quote", "slice"))
        if quote and text and str(text.value)[first - start : last - start] != quote.value:
            yield Problem(where, "its quote does not stand at its place in the source's slice")


def _claim_problems(file: AnswerFile) -> Iterator[Problem]:
    count = len(file.record.citations)
    for number, claim in enumerate(file.record.claims):
        if not claim.citations or max(claim.citations) >= count:
            yield Problem(f"claim {number}", "it has no citation in the record")
    if file.record.abstained != (not file.record.claims):
        yield Problem("record", "an answer has claims, and an abstention has none")


def _signature_problem(
    file: AnswerFile, public_key: str, check_signature: CheckSignature | None
) -> Problem | None:
    signature = file.signature
    if signature is None:
        return Problem("signature", "the file is not signed")
    if signature.public_key != public_key:
        return Problem("signature", f"it is by the key {signature.public_key}")
    if check_signature is None or not check_signature(
        public_key, signature.value, signed_message(file.digest)
    ):
        return Problem("signature", "it is not the key's signature of this digest")
    return None
