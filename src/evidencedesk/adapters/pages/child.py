"""The process that draws: ``python -m evidencedesk.adapters.pages.child PAGE WIDTH MEMORY SECONDS``.

It reads a PDF from standard input and writes one page as PNG to standard output. The file may be
hostile, so its own limits are the first thing it sets, and it has nothing that is worth taking.
"""

from __future__ import annotations

import resource
import struct
import sys
import zlib

import numpy as np
import pypdfium2
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB = 0, 2
_MOST_HEIGHT = 10


def main() -> None:
    """Draw the page that the arguments name."""
    page, width, memory, seconds = map(int, sys.argv[1:5])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    picture = draw(sys.stdin.buffer.read(), page, width)
    sys.stdout.buffer.write(png(picture))


def draw(data: bytes, page: int, width: int) -> NDArray[np.uint8]:
    """A page as it is seen, rotation applied: shape (height, width, 3), red green blue.

    Args:
        data: the PDF.
        page: counting from 1.
        width: in pixels.

    Raises:
        ValueError: a page that is no page: without width, or as long as a street.
    """
    document = pypdfium2.PdfDocument(data)
    document.init_forms()
    drawn = document[page - 1]
    across, down = drawn.get_size()
    if across <= 0 or down <= 0 or down > _MOST_HEIGHT * across:
        raise ValueError(f"a page of {across} by {down} points")
    bitmap = drawn.render(scale=width / across, rev_byteorder=True, fill_color=(255, 255, 255, 255))
    pixels: NDArray[np.uint8] = bitmap.to_numpy()
    return pixels[:, :, :3] if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def png(pixels: NDArray[np.uint8]) -> bytes:
    """The picture as PNG (ISO/IEC 15948), in grey when it has no colour.

    Args:
        pixels: shape (height, width, 3).
    """
    height, width = pixels.shape[:2]
    grey = bool((pixels[:, :, :1] == pixels).all())
    rows = pixels[:, :, 0] if grey else pixels.reshape(height, -1)
    # Filter 2 of each line is the difference to the line above: pages are mostly white.
    above = np.vstack([np.zeros((1, rows.shape[1]), np.uint8), rows[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, np.uint8), rows - above])
    header = struct.pack(">IIBBBBB", width, height, 8, _GREY if grey else _RGB, 0, 0, 0)
    parts = (
        (b"IHDR", header),
        (b"IDAT", zlib.compress(filtered.tobytes(), 4)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


if __name__ == "__main__":
    main()
