"""What a reader's side does alike whatever the database."""

from __future__ import annotations

import re

from evidencedesk.errors import IndexMismatchError
from evidencedesk.model import Generation, StoreQuery

_ORDINAL = re.compile(r"0|[1-9][0-9]{0,8}")


def refuse_other_dimensions(query: StoreQuery, generation: Generation) -> None:
    """A question's vector is as long as those of the generation.

    Raises:
        IndexMismatchError: ``index_mismatch``.
    """
    embedding = generation.embedding
    if query.vector is not None and embedding and len(query.vector) != embedding.dimensions:
        raise IndexMismatchError(
            f"The question's vector has {len(query.vector)} dimensions, the index was made "
            f"with {embedding.name!r} of {embedding.dimensions}.",
            hint="Run `evidencedesk reindex --model MODEL`, or configure the index's model.",
        )


def dimensions_of(generation: Generation) -> int:
    """How long the generation's vectors are; 0 where it has none."""
    return generation.embedding.dimensions if generation.embedding else 0


def place_of(chunk_id: str) -> tuple[str, int] | None:
    """Document and ordinal that an id of a chunk names; None where it can be none."""
    document_id, _, ordinal = chunk_id.rpartition(":c")
    return (document_id, int(ordinal)) if _ORDINAL.fullmatch(ordinal) else None
