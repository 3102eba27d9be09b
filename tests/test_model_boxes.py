from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.model.boxes import pack_boxes, unpack_boxes

CORNER = st.floats(-5_000, 15_000, width=32)
SIZE = st.floats(0.125, 3_000, width=32)
BOX = st.tuples(CORNER, CORNER, SIZE, SIZE).map(
    lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
)
BOXES = st.lists(st.one_of(BOX, st.just((np.nan,) * 4)), max_size=40)


@given(BOXES)
def test_boxes_come_back_to_a_hundredth_of_a_point(boxes: list[tuple[float, ...]]) -> None:
    given_boxes = np.array(boxes, dtype=np.float32).reshape(-1, 4)
    unpacked = unpack_boxes(pack_boxes(given_boxes))
    assert unpacked.shape == given_boxes.shape
    np.testing.assert_allclose(unpacked, given_boxes, atol=0.01, rtol=1e-6, equal_nan=True)


def test_a_line_of_text_takes_few_bytes() -> None:
    left = np.arange(2_000, dtype=np.float32) % 80 * 5.5 + 72
    top = np.arange(2_000, dtype=np.float32) // 80 * 14 + 72
    boxes = np.stack([left, top, left + 5, top + 12], axis=1)
    assert len(pack_boxes(boxes)) < 2_000
