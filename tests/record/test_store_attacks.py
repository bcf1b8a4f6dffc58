"""A SQLite store under attack: each is told with what to do, and loses nothing acknowledged."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from record.store_child import NOBODY
from record.store_kit import CHILD, check_whole, child, is_whole, opened, store, told

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import Event, SessionCreated, UserMessage
from holdfast.contract.journal import JournalError, JournalUnavailable

pytestmark = pytest.mark.anyio
PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "holdfast.db"


@pytest.fixture
async def filled(path: Path) -> tuple[Event, ...]:
    """A file with a session of a hundred pages, closed."""
    async with opened(path) as journal:
        begun = await journal.create("ses_1", [SessionCreated()])
        said = [UserMessage(message=f"{number} " * 100) for number in range(300)]
        return begun + await journal.append("ses_1", said)


@pytest.fixture
def left(path: Path) -> int:
    """A file with a log that a killed process left beside it; the last number it acknowledged."""
    with child("for ever", path) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(200)]
        running.kill()
        lines += running.stdout.readlines()
    assert path.with_name("holdfast.db-wal").stat().st_size > 0
    return int([line for line in lines if line.endswith("\n")][-1])


@pytest.fixture
def open_folder() -> Generator[Path]:
    """A folder that an ordinary user can get at."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-attack-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@pytest.mark.parametrize("seed", range(12))
async def test_a_torn_page_is_told_and_never_taken_for_the_truth(
    path: Path, filled: tuple[Event, ...], seed: int
) -> None:
    dice = random.Random(seed)
    copy = path.read_bytes()
    page = dice.randrange(1, len(copy) // PAGE) * PAGE
    begin = page + dice.choice([0, 0, 512, 2048])
    torn = copy[:begin] + dice.randbytes(page + PAGE - begin) + copy[page + PAGE :]
    path.write_bytes(torn)
    said = ""
    try:
        async with opened(path) as journal:
            await journal.session("ses_1")
            found = await journal.events("ses_1")
            await journal.append("ses_1", [UserMessage(message="more")])
        assert found == filled or not is_whole(path)
    except JournalError as problem:
        said = str(problem)
    assert not said or "damaged" in said or "newer" in said, said
    for name in ("holdfast.db-wal", "holdfast.db-shm"):
        path.with_name(name).unlink(missing_ok=True)
    path.write_bytes(copy)
    async with opened(path) as journal:
        assert await journal.events("ses_1") == filled


@pytest.mark.parametrize("seed", range(8))
async def test_a_torn_log_ends_where_it_is_whole(path: Path, left: int, seed: int) -> None:
    dice = random.Random(seed)
    log = path.with_name("holdfast.db-wal")
    path.with_name("holdfast.db-shm").unlink(missing_ok=True)
    whole = log.read_bytes()
    cut = dice.randrange(len(whole) // 2, len(whole))
    log.write_bytes(whole[:cut] + (dice.randbytes(dice.randrange(1, 9000)) if seed % 2 else b""))
    opened_again = store(path)
    try:
        if (events := await opened_again.journal.events("ses_1", limit=10_000)) != ():
            assert len(events) <= left + 1
            assert await opened_again.archive.rebuild("ses_1", repair=False) == ()
            (event,) = await opened_again.journal.append("ses_1", [UserMessage(message="on")])
            assert event.sequence == len(events) + 1
    finally:
        await opened_again.journal.close()
    check_whole(path)


@tool
async def save(text: str) -> str:
    """Save it."""
    _saved.append(text)
    return "saved"


_saved: list[str] = []


async def test_a_call_that_cannot_be_written_down_does_not_run(tmp_path: Path) -> None:
    _saved.clear()
    surroundings = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with Holdfast(tools=[save], settings=Settings(), surroundings=surroundings) as hf:
        assert (await hf.settle("save", {"text": "a"})).ok
        size = (tmp_path / "data" / "holdfast.db-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, hard))
        try:
            full = await hf.settle("save", {"text": "b"})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert full.failure is not None
        assert full.failure.kind == "unavailable"
        assert "how large a file may be" in full.failure.message
        assert (await hf.settle("save", {"text": "c"})).ok
    assert _saved == ["a", "c"]


@pytest.mark.measured
@pytest.mark.system("util-linux", program="unshare")
def test_a_full_disk_is_told_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """In a namespace of its own: a disk of 1 MB."""
    script = (
        f"mount -t tmpfs -o size=1m none {tmp_path} || exit 77;"
        f"'{sys.executable}' '{CHILD}' once {tmp_path}/d/holdfast.db; echo;"
        f"cat /dev/zero > {tmp_path}/filler 2>/dev/null;"
        f"'{sys.executable}' '{CHILD}' once {tmp_path}/d/holdfast.db; echo; rm {tmp_path}/filler;"
        f"'{sys.executable}' '{CHILD}' once {tmp_path}/d/holdfast.db; echo"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a mount namespace of one's own is not to be had here")
    first, second, third, _ = done.stdout.split("\n")
    assert first == "written as 2"
    assert "the disk is full" in second
    assert third == "written as 3"


def owned_by_nobody(folder: Path) -> None:
    if os.geteuid() == 0:
        for one in (folder, *folder.rglob("*")):
            os.chown(one, NOBODY, NOBODY)


def test_a_file_that_cannot_be_written_is_told(open_folder: Path) -> None:
    path = open_folder / "d" / "holdfast.db"
    assert told("nobody", path) == "written as 2"
    path.chmod(0o400)
    assert "check its owner and mode" in told("nobody", path)
    path.chmod(0o600)
    path.parent.chmod(0o500)
    assert "check its owner and mode" in told("nobody", path)
    path.parent.chmod(0o700)
    assert told("nobody", path) == "written as 3"
    assert check_whole(path) == 3


def test_a_log_left_on_what_can_only_be_read_waits(
    path: Path, left: int, open_folder: Path
) -> None:
    here = open_folder / "d"
    here.mkdir()
    for name in ("holdfast.db", "holdfast.db-wal"):
        shutil.copyfile(path.with_name(name), here / name)
        (here / name).chmod(0o400)
    owned_by_nobody(here)
    here.chmod(0o500)
    assert "check its owner and mode" in told("nobody", here / "holdfast.db")
    here.chmod(0o700)
    for name in ("holdfast.db", "holdfast.db-wal"):
        (here / name).chmod(0o600)
    number = int(told("nobody", here / "holdfast.db").removeprefix("written as "))
    assert number > left
    assert check_whole(here / "holdfast.db") == number


def test_what_is_not_a_file_of_its_own_is_left_alone(path: Path, tmp_path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(JournalUnavailable, match=f"{path}: Is a directory; move the folder away"):
        store(path)
    path.rmdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalUnavailable, match="is a symbolic link; put the file itself there"):
        store(path)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file", "utf-8")
    with pytest.raises(JournalUnavailable, match="one of its folders is a file"):
        store(path)


@pytest.mark.parametrize("version", [0, 2])
async def test_the_database_of_another_program_stays_as_it_is(path: Path, version: int) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalUnavailable, match=f"{path}: .* of another program; move it away"):
        store(path)
    assert path.read_bytes() == before
    path.unlink()
    async with opened(path) as journal:
        await journal.create("ses_1", [SessionCreated()])
