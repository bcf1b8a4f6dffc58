"""A person is asked, the program is killed, and the rules allow it when it is taken up again."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest
from agent_scripts import PATIENCE, asks, says, script
from command import HOLDFAST, start

ASKS = """
[[rule]]
permission = "fs.write"
pattern = "*"
action = "ask"
"""


def _killed_at_the_question(*words: str, home: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(HOLDFAST), *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "HOLDFAST_HOME": str(home), "TERM": "xterm"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown, until = b"", time.monotonic() + PATIENCE
    try:
        while b"[y/N]" not in shown and time.monotonic() < until:
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 65_536)
        assert b"[y/N]" in shown
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(ours)


@pytest.mark.parametrize("action", ["allow", "deny"])
def test_a_call_that_waited_is_not_lost(home: Path, tmp_path: Path, action: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\n", "utf-8")
    rules = home / "policy.toml"
    rules.write_text(ASKS, "utf-8")
    edit = asks("edit", path="a.txt", old_string="one", new_string="two")
    here = ("--workspace", str(work))
    _killed_at_the_question("run", "x", *here, "--model", script(tmp_path, edit), home=home)
    later = ("--later", *here, "--model", script(tmp_path, says("Done."), name="then.json"))
    rules.write_text(ASKS.replace('"ask"', f'"{action}"'), "utf-8")
    resumed = start("resume", "last", *later, home=home)
    assert resumed.status == 0, resumed
    expected = "two\n" if action == "allow" else "one\n"
    assert (work / "a.txt").read_text("utf-8") == expected
    assert "cannot run any more" not in resumed.out + resumed.err
    asked = start("sessions", "questions", home=home)
    assert "No question is open." in asked.out
    replayed = start("replay", "ses_", "--run", home=home)
    assert replayed.status == 0, replayed
    again = start("resume", "last", *later, home=home)
    assert again.status == 0, again
    assert (work / "a.txt").read_text("utf-8") == expected
