"""Reading: what is no file is refused without being touched, and nothing ever hangs."""

import errno
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from execution.files.ground import Ground, gate_below, open_handles, powerless

from holdfast.contract.errors import (
    FileNotFound,
    InvalidArguments,
    MissingSystemPermission,
    OperationFailed,
    PolicyDenied,
)
from holdfast.contract.gates import Access, PathLeave, Refusal
from holdfast.execution.files import disk_files, listing
from holdfast.execution.files.disk_files import DiskFiles


def _anything(_access: Access, path: str, /) -> PathLeave:
    return PathLeave(path)


def test_a_pipe_is_refused_and_its_writer_never_notices(ground: Ground) -> None:
    pipe = ground.workspace / "pipe"
    os.mkfifo(pipe)
    script = "import sys; print('ready', flush=True); open(sys.argv[1], 'wb'); print('opened')"
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(pipe)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(200):
            with pytest.raises(InvalidArguments, match="pipe is a named pipe, not a file"):
                ground.files().read_bytes("pipe")
        assert select.select([writer.stdout], [], [], 0)[0] == []
    finally:
        writer.kill()
        writer.communicate()


def test_a_socket_and_a_device_are_refused(ground: Ground) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(ground.workspace / "sock"))
        with pytest.raises(InvalidArguments, match="sock is a socket, not a file"):
            ground.files().read_text("sock")
    files = ground.files(gate=_anything)
    with pytest.raises(InvalidArguments, match="/dev/zero is a device, not a file"):
        files.read_bytes("/dev/zero")
    assert files.stat("/dev/zero").kind == "other"
    assert files.stat("/").path == "/"


def test_a_file_without_a_size_is_read_to_its_end(ground: Ground) -> None:
    files = ground.files(gate=_anything)
    own = f"/proc/{os.getpid()}/status"
    assert b"Name:" in files.read_bytes(own)
    assert files.read_bytes(own, start=1, limit=3) == b"ame"


def test_a_file_the_system_keeps_closed_is_not_said_to_be_missing(shared_ground: Ground) -> None:
    ground = shared_ground
    ground.lay({"secret": b"s"}, {})
    (ground.workspace / "secret").chmod(0)
    with powerless(), pytest.raises(MissingSystemPermission, match="does not permit") as raised:
        ground.files().read_bytes("secret")
    assert raised.value.retryable is False


def test_a_refusal_says_what_is_missing(ground: Ground) -> None:
    with pytest.raises(PolicyDenied, match=r"\.\./x is out of reach") as raised:
        ground.files().read_bytes("../x")
    assert raised.value.extras == {
        "target": "../x",
        "requirement": "requires.fs.read = ['../x']",
    }


def test_without_a_workspace_paths_are_shown_whole(ground: Ground) -> None:
    ground.lay({"a": b"1"}, {})
    whole = f"{ground.workspace}/a"
    files = DiskFiles(_anything, None, ground.recorder(), ground.locks)
    assert files.stat(whole).path == whole
    assert ground.files(gate=_anything).stat("/etc").path == "/etc"


@pytest.mark.req("SPEC-CAP-05")
def test_a_path_that_turns_into_a_link_all_the_time_is_refused(ground: Ground) -> None:
    ground.lay({"real": b"1"}, {"link": "real"})
    asked: list[str] = []

    def blind(access: Access, path: str, /) -> PathLeave:
        asked.append(path)
        return PathLeave(f"{ground.workspace}/{path}")

    files = ground.files(gate=blind)
    for use in (
        lambda: files.read_bytes("link"),
        lambda: files.stat("link"),
        lambda: files.write("link", b"x"),
    ):
        with pytest.raises(PolicyDenied, match="links appear in it") as raised:
            use()
        assert raised.value.extras["target"] == "link"
    assert len(asked) == 24
    assert files.exists("link") is False
    assert ground.files().read_bytes("real") == b"1"


@pytest.mark.req("SPEC-CAP-05")
def test_a_link_that_appeared_once_is_judged_and_followed_by_the_gate(ground: Ground) -> None:
    ground.lay({"real": b"1", "other": b"2"}, {"link": "real"})
    judge = gate_below(str(ground.workspace))
    answers = iter([PathLeave(f"{ground.workspace}/link")])

    def late(access: Access, path: str, /) -> PathLeave | Refusal:
        return next(answers, None) or judge(access, path)

    assert ground.files(gate=late).read_bytes("link") == b"1"


def test_a_broken_disk_never_reads_as_if_there_were_no_file(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"d/t": b"1"}, {})

    def broken(*_given: object) -> object:
        raise OSError(errno.EIO, "broken")

    files = ground.files()
    walk = files.walk()
    monkeypatch.setattr(disk_files, "standing", broken)
    monkeypatch.setattr(listing, "open_physical", broken)
    for use in (
        lambda: files.read_bytes("d/t"),
        lambda: files.exists("d/t"),
        lambda: files.list("d"),
        lambda: next(walk),
    ):
        with pytest.raises(OperationFailed, match="Input/output error") as raised:
            use()
        assert raised.value.extras == {"reason": "io_error"}


def test_nothing_stays_open(ground: Ground) -> None:
    ground.lay({"a": b"1", "b": b"\0"}, {})
    files = ground.files()
    before = open_handles()
    files.read_bytes("a")
    for path in ("none", ".", "x/y"):
        with pytest.raises((FileNotFound, InvalidArguments)):
            files.read_bytes(path)
    files.write("a", b"2")
    files.edit("a", lambda text: text + "3")
    files.make_directory("c/d")
    files.remove("c/d")
    list(files.walk())
    assert open_handles() == before


def test_a_name_that_is_no_text_can_be_listed_and_read(ground: Ground) -> None:
    name = os.fsdecode(b"caf\xe9")
    (ground.workspace / name).write_bytes(b"1")
    files = ground.files()
    assert [one.path for one in files.list()] == [name]
    assert files.read_bytes(name) == b"1"
    files.write(name, b"2")
    files.remove(name)
    undone = ground.undo().restore()
    assert {one.outcome for one in undone} == {"restored"}
    assert Path(ground.workspace / name).read_bytes() == b"1"
