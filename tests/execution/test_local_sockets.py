"""Sockets in a folder of one's own."""

import os
import socket
import sys
from pathlib import Path

import anyio
import pytest

from holdfast.execution import local_sockets
from holdfast.execution.local_sockets import Peer, SocketFolder

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / ("long" * 60)
    folder.mkdir(mode=0o700)
    return folder


async def test_a_socket_is_named_once_it_listens_and_reached_by_that_name(place: Path) -> None:
    folder = SocketFolder(place)
    async with await folder.listen("one.sock") as listener:
        assert folder.names() == ["one.sock"]
        assert (place / "one.sock").stat().st_mode & 0o777 == 0o600
        assert folder.made_at("one.sock") == (place / "one.sock").stat().st_mtime
        async with await folder.connect("one.sock") as ours, await listener.accept() as theirs:
            await ours.send(b"hello")
            assert await theirs.receive() == b"hello"
            for stream in (ours, theirs):
                assert local_sockets.peer_of(stream) == Peer(os.getpid(), os.geteuid())
    with pytest.raises(ConnectionRefusedError):
        await folder.connect("one.sock")
    folder.remove("one.sock")
    folder.remove("one.sock")
    assert folder.names() == []
    folder.close()


async def test_a_folder_that_is_gone_is_told_and_nothing_is_left_open(place: Path) -> None:
    folder = SocketFolder(place)
    place.rmdir()
    with pytest.raises(FileNotFoundError):
        await folder.listen("one.sock")
    folder.close()


async def test_a_name_that_is_a_folder_is_told(place: Path) -> None:
    folder = SocketFolder(place)
    (place / "one.sock").mkdir()
    with pytest.raises(IsADirectoryError):
        await folder.listen("one.sock")
    folder.close()


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o720, 0o777])
def test_a_folder_that_others_reach_is_refused(place: Path, mode: int) -> None:
    place.chmod(mode)
    with pytest.raises(PermissionError, match="chmod 700"):
        SocketFolder(place)


def test_a_link_in_the_place_of_a_folder_is_refused(place: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(place)
    with pytest.raises(NotADirectoryError):
        SocketFolder(link)


def test_a_folder_of_another_user_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    if place.stat().st_uid == 0:
        SocketFolder(place).close()  # the super-user's would be there in any case
        os.chown(place, 54321, -1)
    with pytest.raises(PermissionError, match="yours alone"):
        SocketFolder(place)


def test_the_same_user_and_the_super_user_may_ask_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    allowed = {uid: local_sockets.is_same_user(Peer(1, uid)) for uid in (0, 1000, 1001)}
    assert allowed == {0: True, 1000: True, 1001: False}
    assert [local_sockets.may_be_reached(uid) for uid in (0, 1000, 1001)] == [True, True, False]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not local_sockets.is_same_user(Peer(1, 1001))
    assert local_sockets.may_be_reached(1001)


def test_a_process_like_this_one_is_not_confined_and_one_unseen_is() -> None:
    assert not local_sockets.is_confined(Peer(os.getpid(), os.geteuid()))
    assert local_sockets.is_confined(Peer(0, os.geteuid()))


async def test_a_process_that_gave_up_privileges_is_confined() -> None:
    program = (
        "import sys; from holdfast.execution.kernel import privileges;"
        "privileges.gain_nothing(); print('now', flush=True); sys.stdin.read()"
    )
    async with await anyio.open_process([sys.executable, "-c", program]) as process:
        assert process.stdout is not None
        assert (await process.stdout.receive()).startswith(b"n")
        assert local_sockets.is_confined(Peer(process.pid, os.geteuid()))
        assert process.stdin is not None
        await process.stdin.aclose()


def test_it_is_known_where_the_system_does_not_tell_who_connects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert local_sockets.are_known()
    monkeypatch.delattr(socket, "SO_PEERCRED")
    assert not local_sockets.are_known()
