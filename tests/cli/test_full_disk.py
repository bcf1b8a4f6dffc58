"""A full disk: what is there can be read, and whatever needs room says to make some."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import HOLDFAST
from this_tree import this_tree

READING = (
    "sessions",
    "sessions show last",
    "sessions events last",
    "sessions export last",
    "sessions trace last",
    "sessions questions",
    "replay last",
    "audit decisions",
    "audit verify",
    "prune --keep 0 --dry-run",
)
ON_A_SMALL_DISK = """
import json, os, subprocess, sys
from pathlib import Path
import anyio
from cli.stored_sessions import made
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import JournalUnavailable
from holdfast.record.sqlite.alone import is_alone
from holdfast.record.sqlite.versions import open_versions
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

disk, holdfast, tools, *verbs = sys.argv[1:]
home, filler = Path(disk) / "home", Path(disk) / "filler"
found = []

def run(*words, measured=True):
    around = {k: v for k, v in os.environ.items() if measured or k != "COVERAGE_PROCESS_START"}
    done = subprocess.run([holdfast, *words], capture_output=True, text=True, env=around)
    found.append([done.returncode, done.stdout, done.stderr])

def store():
    around = Surroundings(data_home=home / "data", state_home=home / "state")
    return open_store(Settings(), around, SystemClock(), TimeIds(SystemClock()))

async def left_behind():
    await store().journal.create("ses_2", [SessionCreated()])
    os._exit(0)  # what it wrote ahead is not in the file

def fill():
    with filler.open("ab", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError:
            pass

async def beside():
    opened = store()
    database = home / "data" / "holdfast.db"
    found.append(is_alone(database))
    try:
        open_versions(database, SystemClock(), TimeIds(SystemClock()))
    except JournalUnavailable as problem:
        found.append(str(problem))
    await opened.journal.close()
    found.append(is_alone(database))

home.mkdir(mode=0o700)
made(home, "ses_1")
if not os.fork():
    anyio.run(left_behind)
os.wait()
run("doctor")
fill()
for verb in verbs:
    run(*verb.split(), measured=False)  # as they do elsewhere
run("call", "--from", tools, "add", "a:=1", "b:=2")
run("doctor")
run("sessions", "delete", "ses_1", "--yes")
anyio.run(beside)
os.truncate(filler, filler.stat().st_size - (160 << 10))
run("sessions", "delete", "ses_1", "--yes")
run("audit", "verify")
filler.unlink()
run("call", "--from", tools, "add", "a:=1", "b:=2")
print(json.dumps(found))
"""


@pytest.mark.measured
@pytest.mark.timeout(90)  # some twenty programs, one after the other
@pytest.mark.system("util-linux", program="unshare")
def test_it_is_read_and_what_needs_room_says_so(tmp_path: Path, tool_file: Path) -> None:
    """In a namespace of its own, on a small disk."""
    disk = tmp_path / "disk"
    disk.mkdir()
    (tmp_path / "script.py").write_text(ON_A_SMALL_DISK, "utf-8")
    words = [sys.executable, str(tmp_path / "script.py"), str(disk), str(HOLDFAST), str(tool_file)]
    done = subprocess.run(
        [
            *("unshare", "--mount", "sh", "-c"),
            f'mount -t tmpfs -o size=1m none {disk} || exit 77; exec "$@"',
            *("sh", *words, *READING),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**this_tree(), "HOLDFAST_HOME": str(disk / "home")},
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a mount namespace of one's own is not to be had here")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    full = (
        f"{disk}/home/data/holdfast.db: the disk is full, and nothing was written; make room on"
        f" the disk of {disk}/home/data"
    )
    status, out, _ = found.pop(0)
    assert (status, out.count("WARN  data directory"), out.count("WARN  state")) == (0, 1, 1)
    for verb in READING:
        status, out, err = found.pop(0)
        assert (status, err) == (0, ""), verb
        assert verb != "sessions" or "ses_1" in out
        assert verb != "sessions" or "ses_2" in out
    called, doctor, deleted, alone, beside, still_alone, with_room, verified, again = found
    assert called[0] == 1
    assert f"({full})" in called[1]
    assert doctor[0] == 1
    for name, folder in (("data", "data"), ("state", "state")):
        place = disk / "home" / folder
        assert f"FAIL  {name} directory: {place}: the disk is full\n" in doctor[1]
        assert f"      -> make room on the disk of {place}\n" in doctor[1]
    assert (deleted[0], deleted[2]) == (1, f"holdfast: {full}\n")
    assert (alone, beside, still_alone) == (True, full, False)
    assert (with_room[0], with_room[2]) == (0, "")
    assert (verified[0], verified[2]) == (0, "")
    assert again[0] == 0
