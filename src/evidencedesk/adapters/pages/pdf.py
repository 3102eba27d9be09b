"""Pages of PDF files as pictures, drawn in a child process with limits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import OrderedDict

from evidencedesk.errors import ParseError

_SIDE_BY_SIDE = 2


class PageRenderer:
    """Draws pages and keeps the newest. Safe for threads.

    Args:
        memory_bytes: address space of the drawing process.
        seconds: time for one page.
        kept_bytes: how much of what was drawn is kept.
    """

    def __init__(
        self, *, memory_bytes: int = 1 << 30, seconds: int = 20, kept_bytes: int = 64 << 20
    ) -> None:
        self._memory = memory_bytes
        self._seconds = seconds
        self._most = kept_bytes
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(_SIDE_BY_SIDE)

    def kept(self, file_hash: str, page: int, width: int) -> bytes | None:
        """The page when it was drawn before."""
        key = file_hash, page, width
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def render(self, data: bytes, file_hash: str, page: int, width: int) -> bytes:
        """A page as PNG.

        Args:
            data: the PDF file.
            file_hash: its hash, under which the picture is kept.
            page: counting from 1.
            width: in pixels; the height follows.

        Raises:
            ParseError: ``damaged`` or ``timeout``: the page cannot be drawn within the limits.
        """
        with self._places:
            found = self.kept(file_hash, page, width) or self._drawn(data, page, width)
        with self._lock:
            self._kept[file_hash, page, width] = found
            while sum(map(len, self._kept.values())) > self._most and len(self._kept) > 1:
                self._kept.popitem(last=False)
        return found

    def _drawn(self, data: bytes, page: int, width: int) -> bytes:
        numbers = map(str, (page, width, self._memory, self._seconds))
        try:
            ended = subprocess.run(  # noqa: S603 - our own module, and numbers
                [sys.executable, "-m", "evidencedesk.adapters.pages.child", *numbers],
                input=data,
                capture_output=True,
                timeout=self._seconds,
                check=False,
                env=_environment(),
            )
        except subprocess.TimeoutExpired:
            raise ParseError(
                f"Page {page} was not drawn after {self._seconds} seconds.", code="timeout"
            ) from None
        if ended.returncode or not ended.stdout.startswith(b"\x89PNG"):
            raise ParseError(f"Page {page} cannot be drawn.", code="damaged")
        return ended.stdout


def _environment() -> dict[str, str]:
    """Our import path and nothing else of ours: no key and no token is there to be taken."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**kept, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
