"""A terminal that is gone: whoever still writes to it is not stopped by that."""

import os

from holdfast.surfaces.cli.hang_up import Stage


def test_what_is_written_to_a_closed_terminal_goes_nowhere() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8", buffering=1) as out:
        stage = Stage(out)
        stage.write("seen\n")
        assert os.read(ours, 100).startswith(b"seen")
        os.close(ours)
        for _ in range(3):
            stage.write("unseen\n")
            stage.flush()
