"""A comparison of files that differ everywhere."""

import tracemalloc

from holdfast.runtime.managed.comparing import compared
from holdfast.runtime.managed.mount_paths import Placed
from holdfast.runtime.managed.substrate import Shared

LINES = 300_000


def test_lines_that_are_not_shown_are_counted_and_not_kept() -> None:
    ours, place = b"x\n" * LINES, Placed("/ws", "a.md")
    tracemalloc.start()
    try:
        told = compared(place, ours, place, Shared(None, None), 3)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told.differing_line_count == LINES
    assert [one.line for one in told.preview] == [1, 2, 3]
    assert most < 40 * LINES
