"""A keeper that is left alone by everybody waits for its warden, and then no longer."""

import subprocess
import sys

import pytest
from this_tree import this_tree

WAITS = """
import os
from holdfast.execution.warden import keeper

def closed():
    ours, theirs = os.pipe()
    os.close(theirs)
    return ours

keeper._PATIENCE = 0.05
news, _kept = os.pipe()
warden = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
keeper._wait(warden, closed(), closed(), news)
try:
    os.kill(warden, 0)
except ProcessLookupError:
    print("ended")
"""


@pytest.mark.measured
def test_a_warden_that_does_not_end_is_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAITS], env=this_tree(), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("ended\n", "")
