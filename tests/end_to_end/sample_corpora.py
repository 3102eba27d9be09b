"""The sample corpora: where they are, who may see what by their own words, what is asked of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from evidencedesk import Answer, Principal

SAMPLES = Path(__file__).parents[2] / "samples"
MANIFEST = "evidencedesk-folder.yaml"

STUDENT = Principal(roles=frozenset({"student"}))
ADMIN_ROLE = Principal(roles=frozenset({"admin"}))
CUSTOMER = Principal(roles=frozenset({"everyone"}))
STAFF = Principal(roles=frozenset({"staff"}))
OPERATOR = Principal(administrator=True)

REFUND = "Can I get a refund for a course?"
PAYOUT = "What share of the course revenue do instructors receive?"
RETURNS = "How long do I have to return a bike?"
PARIS = "What is the weather in Paris today?"


def files_of(corpus: str) -> list[Path]:
    """Every document file of the corpus."""
    found = (SAMPLES / corpus).rglob("*")
    return sorted(path for path in found if path.is_file() and path.name != MANIFEST)


def declared(path: Path) -> dict[str, Any]:
    """What the file, or the manifest beside it, says of itself, as PyYAML reads it."""
    if path.suffix == ".md":
        return yaml.safe_load(path.read_text("utf-8").split("---\n")[1])
    manifest = yaml.safe_load((path.parent / MANIFEST).read_text("utf-8"))
    return {**manifest["defaults"], **manifest["files"][path.name]}


def paths_by_id() -> dict[str, Path]:
    """Each document's file."""
    return {
        declared(path)["id"]: path for name in ("kestrel", "academy") for path in files_of(name)
    }


def questions_of(corpus: str) -> list[dict[str, Any]]:
    """The corpus's labelled questions."""
    return yaml.safe_load((SAMPLES / "golden" / f"{corpus}.yaml").read_text("utf-8"))["questions"]


def copy_of(corpus: str, folder: Path) -> Path:
    """The corpus copied below ``folder``, to be changed."""
    return Path(shutil.copytree(SAMPLES / corpus, folder / corpus))


def cited(answer: Answer) -> set[str]:
    """Documents that the answer cites."""
    return {citation.document_id for citation in answer.citations}


def documents_of(chunk_ids: tuple[str, ...]) -> list[str]:
    """The document of each chunk id."""
    return [chunk_id.rpartition(":")[0] for chunk_id in chunk_ids]


def folded(text: str) -> str:
    """White space folded."""
    return " ".join(text.split())
