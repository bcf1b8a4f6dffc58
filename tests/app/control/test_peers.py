"""Who may ask a process about its sessions: the same user's windows, and nothing it confines."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from app.control.held import Windows, running
from this_tree import this_tree

from holdfast.app.control import wire

pytestmark = pytest.mark.anyio
NOBODY = 65534
ASKS = """
import os, socket, sys
from holdfast.execution.kernel import privileges, seccomp
from holdfast.execution.kernel.system_calls import this_machine
folder, name, how = sys.argv[1:]
os.chdir(folder)
if how == "nobody":
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
if how in ("confined", "unprivileged"):
    privileges.gain_nothing()
if how == "confined":
    seccomp.confine_thread(seccomp.packed(seccomp.program(this_machine(), [seccomp.UNIX])))
asks = socket.socket(socket.AF_UNIX)
asks.settimeout(10)
try:
    asks.connect(name)
    try:
        asks.sendall(b'{"kind":"hello","version":1}\\n')
    except BrokenPipeError:
        pass  # it was told before it asked
    sys.stdout.buffer.write(asks.recv(10000))
except PermissionError:
    print('{"kind":"no way there"}')
"""


async def asked(windows: Windows, how: str) -> dict[str, Any]:
    """What another process is told."""
    (name,) = [one.name for one in windows.folder.glob("[!.]*")]
    done = await anyio.run_process(
        [sys.executable, "-c", ASKS, str(windows.folder), name, how],
        env=this_tree(),
    )
    return json.loads(done.stdout)


async def test_another_window_of_the_same_user_is_welcome(tmp_path: Path) -> None:
    async with running(tmp_path) as windows:
        told = await asked(windows, "as it is")
    assert (told["kind"], told["version"]) == ("welcome", wire.VERSION)
    assert str(os.getpid()) in told["process"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user can be somebody else")
async def test_another_user_finds_no_way_there(tmp_path: Path) -> None:
    async with running(tmp_path) as windows:
        assert (await asked(windows, "nobody"))["kind"] == "no way there"


@pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user can be somebody else")
async def test_another_user_is_refused_where_the_way_is_open(tmp_path: Path) -> None:
    async with running(tmp_path) as windows:
        windows.folder.chmod(0o755)
        (path,) = windows.folder.glob("[!.]*")
        path.chmod(0o666)
        told = await asked(windows, "nobody")
    assert (told["kind"], told["problem"]) == ("refused", "peer")


@pytest.mark.parametrize("how", ["unprivileged", "confined"])
async def test_a_command_that_is_confined_is_refused_although_it_is_the_users(
    tmp_path: Path, how: str
) -> None:
    async with running(tmp_path) as windows:
        told = await asked(windows, how)
    assert (told["kind"], told["problem"]) == ("refused", "peer")
