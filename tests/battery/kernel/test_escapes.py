"""The kernel part of the bypass battery: real attempts in real sandboxes, as root and as nobody."""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import pytest
from battery.kernel.attempts import NEEDS_NAMESPACES, STOPPED

import holdfast

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
SYSTEM_PYTHON = "/usr/bin/python3"
HERE = Path(__file__).parent


class Target(NamedTuple):
    folder: Path
    facts: dict[str, object]
    datagrams: socket.socket


def _user(name: str) -> list[str]:
    if name == "root":
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def _who_and_where() -> Iterator[object]:
    for user, kinds in (
        ("root", ("namespaces", "bubblewrap", "landlock")),
        ("nobody", ("bubblewrap", "landlock")),
    ):
        for kind in kinds:
            marks = [pytest.mark.timeout(120)]
            if kind == "bubblewrap":
                marks.append(pytest.mark.system("bubblewrap", program="bwrap"))
            if not IS_ROOT:
                marks.append(pytest.mark.skip(reason="only the super-user can be two users"))
            yield pytest.param(user, kind, marks=marks, id=f"{user}-{kind}")


@pytest.fixture
def target(user: str) -> Iterator[Target]:
    # Not in pytest's own folder, into which nobody may look.
    with TemporaryDirectory(prefix="holdfast-kernel-") as place, ExitStack() as opened:
        folder = Path(place).resolve()
        folder.chmod(0o755)
        _furnish(folder)
        yield _aimed(folder, user, opened)


def _furnish(folder: Path) -> None:
    for name in ("workspace", "root", "temporary", "outside", "packages"):
        (folder / name).mkdir()
    outside = folder / "outside"
    (outside / "secret").write_text("the secret", "utf-8")
    (outside / "mode").touch()
    subprocess.run(["git", "init", "-q", str(folder / "workspace")], check=True)
    for package in (Path(holdfast.__file__).parent, Path(msgspec.__file__).parent):
        # What another process compiles meanwhile comes and goes.
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, folder / "packages" / package.name, ignore=compiled)


def _aimed(folder: Path, user: str, opened: ExitStack) -> Target:
    outside = folder / "outside"
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    datagrams = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    datagrams.bind(("127.0.0.1", 0))
    datagrams.settimeout(0.2)
    by_path = opened.enter_context(socket.socket(socket.AF_UNIX))
    by_path.bind(str(outside / "socket"))
    by_path.listen()
    (outside / "socket").chmod(0o777)
    abstract = f"holdfast-{os.getpid()}-{folder.name}"
    by_name = opened.enter_context(socket.socket(socket.AF_UNIX))
    by_name.bind(f"\0{abstract}")
    by_name.listen()
    shared = Path("/dev/shm") / abstract
    shared.write_text("shared", "utf-8")
    opened.callback(shared.unlink)
    key = _segment(opened)
    if user == "nobody":
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    victim = opened.enter_context(
        subprocess.Popen(
            [*_user(user), "sleep", "300"], cwd=outside, env={"SECRET": "x", "PATH": os.defpath}
        )
    )
    opened.callback(victim.kill)
    facts: dict[str, object] = {
        "outside": str(outside),
        "secret": str(outside / "secret"),
        "real_home": str(Path.home()),
        "victim": victim.pid,
        "victim_file": 0,
        "port": listener.getsockname()[1],
        "udp_port": datagrams.getsockname()[1],
        "abstract": abstract,
        "shared": shared.name,
        "key": key,
    }
    return Target(folder, facts, datagrams)


def _segment(opened: ExitStack) -> int:
    """A System V segment that everybody may read."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x600D0000 | os.getpid() & 0xFFFF
    segment = libc.shmget(key, 4096, 0o1000 | 0o666)
    assert segment >= 0
    opened.callback(libc.shmctl, segment, 0, None)
    return key


@pytest.mark.parametrize(("user", "kind"), list(_who_and_where()))
def test_nothing_gets_out(user: str, kind: str, target: Target) -> None:
    told = _told(user, kind, target)
    assert set(told) == set(STOPPED) | set(NEEDS_NAMESPACES)
    got = {name for name, said in told.items() if said == "GOT"}
    allowed = set(NEEDS_NAMESPACES) if kind == "landlock" else set[str]()
    assert got <= allowed, {name: told[name] for name in got - allowed}
    if kind == "landlock":
        # Published limits, tested as such: what is stopped after all is to be said in the docs.
        assert got == allowed, {name: told[name] for name in allowed - got}
    _unharmed(target, changed=kind == "landlock")
    with pytest.raises(TimeoutError):
        target.datagrams.recv(100)


def _told(user: str, kind: str, target: Target) -> dict[str, str]:
    python = sys.executable if user == "root" else SYSTEM_PYTHON
    packages = f"{target.folder / 'packages'}:{HERE}"
    done = subprocess.run(
        [
            *_user(user),
            *(python, str(HERE / "inside.py"), kind),
            *(str(target.folder), json.dumps(target.facts)),
        ],
        env={"PATH": os.defpath, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
        text=True,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _unharmed(target: Target, *, changed: bool) -> None:
    outside = target.folder / "outside"
    assert (outside / "secret").read_text("utf-8") == "the secret"
    assert sorted(path.name for path in outside.iterdir()) == ["mode", "secret", "socket"]
    assert bool((outside / "mode").stat().st_mode & 0o002) == changed
