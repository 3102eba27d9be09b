"""From documents to chunks: the table of strategies and the two functions that use it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

from evidencedesk.chunking.layout import sections_of, with_blocks
from evidencedesk.chunking.pieces import (
    Piece,
    at_least,
    blank_line_blocks,
    check_window,
    packed_sentences,
    windows,
)
from evidencedesk.chunking.structure import structure_pieces
from evidencedesk.errors import ChunkingError
from evidencedesk.model import Chunk, ChunkingSettings, Document, Span
from evidencedesk.model.locate import Locator

Cut: TypeAlias = Callable[[Document], list[Piece]]
"""Cuts a document that has blocks into pieces, in order: none is empty, none crosses a heading."""

Strategy: TypeAlias = Callable[..., Cut]
"""Takes its options, whole numbers by name, and gives the cut; refuses what is out of range."""


def _fixed(*, size: int = 600, overlap: int = 100) -> Cut:
    check_window(size, overlap)
    return lambda document: [
        Piece(*window)
        for section in sections_of(document.text, document.blocks)
        for window in windows(document.text, *section, size=size, overlap=overlap)
    ]


def _paragraph() -> Cut:
    return lambda document: [
        Piece(*block)
        for section in sections_of(document.text, document.blocks)
        for block in blank_line_blocks(document.text, *section)
    ]


def _sentence(*, max_chars: int = 600, overlap_sentences: int = 0) -> Cut:
    at_least("max_chars", max_chars, 1)
    at_least("overlap_sentences", overlap_sentences, 0)
    return lambda document: [
        Piece(*part)
        for section in sections_of(document.text, document.blocks)
        for part in packed_sentences(
            document.text, *section, max_chars=max_chars, overlap_sentences=overlap_sentences
        )
    ]


def _structure(*, max_tokens: int = 150, overlap_sentences: int = 0) -> Cut:
    at_least("max_tokens", max_tokens, 1)
    at_least("overlap_sentences", overlap_sentences, 0)
    return lambda document: structure_pieces(
        document.text,
        document.blocks,
        max_tokens=max_tokens,
        overlap_sentences=overlap_sentences,
    )


DEFAULT_STRATEGY = "structure"
STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {"fixed": _fixed, "paragraph": _paragraph, "sentence": _sentence, "structure": _structure}
)
"""The strategies by name, in the order in which they are compared."""


def default_options(strategy: str) -> dict[str, int]:
    """The options of a strategy with their defaults.

    Raises:
        ChunkingError: ``unknown_strategy``, listing those there are.
    """
    return dict(_defaults(_strategy(strategy)))


@cache
def _defaults(strategy: Strategy) -> Mapping[str, int]:
    parameters = inspect.signature(strategy).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}


def chunking_settings(strategy: str = DEFAULT_STRATEGY, **options: int) -> ChunkingSettings:
    """Strategy and options as an index records them: every option named, in the order of names.

    Raises:
        ChunkingError: as :func:`chunk_document` does.
    """
    _cut(strategy, options)
    return ChunkingSettings(strategy, tuple(sorted((default_options(strategy) | options).items())))


def chunk_document(
    document: Document, strategy: str = DEFAULT_STRATEGY, **options: int
) -> tuple[Chunk, ...]:
    """The chunks of a document, in order, with ids that depend on nothing but text and settings.

    Together they hold every character that is neither whitespace nor part of a heading. A document
    without blocks is read as plain Markdown: ``#`` lines outside code fences are headings, blank
    lines end paragraphs.

    Args:
        document: the document.
        strategy: a name of ``STRATEGIES``.
        **options: ``fixed``: ``size`` 600, ``overlap`` 100 (characters); ``sentence``:
            ``max_chars`` 600, ``overlap_sentences`` 0; ``structure``: ``max_tokens`` 150,
            ``overlap_sentences`` 0; ``paragraph`` has none.

    Raises:
        ChunkingError: ``unknown_strategy``, ``unknown_option`` or ``bad_option`` (a ``ValueError``),
            before any work.
    """
    return _chunks(document, _cut(strategy, options))


def chunk_corpus(
    documents: Iterable[Document], strategy: str = DEFAULT_STRATEGY, **options: int
) -> tuple[Chunk, ...]:
    """The chunks of many documents, document by document; see :func:`chunk_document`."""
    cut = _cut(strategy, options)
    return tuple(chunk for document in documents for chunk in _chunks(document, cut))


def _chunks(document: Document, cut: Cut) -> tuple[Chunk, ...]:
    whole = with_blocks(document)
    locator = Locator(whole)
    return tuple(_chunk(whole, locator, ordinal, piece) for ordinal, piece in enumerate(cut(whole)))


def _chunk(document: Document, locator: Locator, ordinal: int, piece: Piece) -> Chunk:
    return Chunk(
        id=f"{document.id}:c{ordinal}",
        document_id=document.id,
        ordinal=ordinal,
        text=document.text[piece.start : piece.end],
        location=locator.locate(Span(piece.start, piece.end)),
        context=piece.context,
        title=document.title,
        source=document.source,
        version=document.version,
        status=document.status,
        lang=document.lang,
        tenant=document.tenant,
        roles=document.roles,
        deny=document.deny,
        content_hash=document.content_hash,
    )


def _strategy(name: str) -> Strategy:
    found = STRATEGIES.get(name)
    if found is None:
        raise ChunkingError(
            f"There is no chunking strategy {name!r}.",
            code="unknown_strategy",
            hint=f"Use one of: {', '.join(STRATEGIES)}.",
        )
    return found


def _cut(strategy: str, options: Mapping[str, int]) -> Cut:
    known = default_options(strategy)
    for name in options:
        if name not in known:
            raise ChunkingError(
                f"Strategy {strategy!r} has no option {name!r}.",
                code="unknown_option",
                hint=f"It has: {', '.join(known) or 'none'}.",
            )
    return _strategy(strategy)(**options)
