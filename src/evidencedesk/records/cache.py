"""Answers given again while nothing that they depend on has changed.

Kept in memory, never on disk. The key holds the reader's whole access filter (tenant, roles,
statuses) and the index's revision, which grows with every change to a document or a right: an
answer of before such a change can be found by nobody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

from evidencedesk.access import AccessFilter

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that an answer depends on.

    Attributes:
        question: as asked, without surrounding whitespace.
        access: tenant, effective rights and statuses of the reader.
        revision: of the index, with the generation that answers.
        settings: digest of every setting, and what the caller set otherwise.
        model: generator and embedding model by name and revision.
    """

    question: str
    access: AccessFilter
    revision: tuple[int, int]
    settings: str
    model: str


class AnswerCache(Generic[_Answer]):
    """The newest ``size`` answers; safe for threads. Counts hits and misses."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[CacheKey, _Answer] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: CacheKey) -> _Answer | None:
        """The answer kept under ``key``. Those of earlier revisions are dropped on the way."""
        with self._lock:
            for old in [each for each in self._kept if each.revision < key.revision]:
                del self._kept[old]
            found = self._kept.get(key)
            if found is None:
                self.misses += 1
            else:
                self.hits += 1
                self._kept.move_to_end(key)
            return found

    def put(self, key: CacheKey, answer: _Answer) -> None:
        """Keep ``answer``; the one not asked for the longest goes when there are too many."""
        with self._lock:
            self._kept[key] = answer
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
