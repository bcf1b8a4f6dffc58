"""An attacker that swaps links into paths while they are used, and a count of who won.

The attacker is a process of its own. Inside is `ws`, outside is `out`; the directory `ws/dir` and
the file `ws/dir/file.txt` become links to their namesakes outside, and themselves again, as fast
as the machine can.
"""

import os
import posixpath
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from execution.files.ground import Ground, Tree, tree_of

from holdfast.contract.errors import ToolError
from holdfast.contract.files import Files

INSIDE = b"inside\n"
OUTSIDE = b"OUTSIDE " * 100
CANARY = "canary"
_PATIENCE = 500
"""Tries, after which the attacker is asked to be calmer."""

_ATTACKER = """
import mmap, os, random, select, sys, time
from holdfast.execution.kernel.system_calls import system_call

root, seed = sys.argv[1], int(sys.argv[2])
dice, swaps, longest = random.Random(seed), 0, 0.006
real = os.open(root + "/ws/dir", os.O_RDONLY | os.O_DIRECTORY)
at = os.open(root + "/ws", os.O_RDONLY | os.O_DIRECTORY)
EXCHANGE = 2
counted = os.open(root + "/swaps", os.O_RDWR)
shown = mmap.mmap(counted, 8)

def parent():
    system_call("renameat2", at, b"dir", at, b"dir-link", EXCHANGE)

def last(link):
    if link:
        os.symlink(root + "/out/file.txt", ".swap", dir_fd=real)
    else:
        made = os.open(".swap", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=real)
        os.write(made, b"inside\\n")
        os.close(made)
    os.rename(".swap", "file.txt", src_dir_fd=real, dst_dir_fd=real)

print("ready", flush=True)
while True:
    if swaps % 16 == 0 and select.select([0], [], [], 0)[0]:
        told = os.read(0, 4096)
        if not told:
            break
        longest = 0.006 if told.endswith(b"=") else min(longest * 2, 0.2)
    parent() if dice.random() < 0.6 else last(dice.random() < 0.5)
    swaps += 1
    shown[:8] = swaps.to_bytes(8, "little")
    if dice.random() < 0.03:
        # Now and then it looks harmless for a while, or no change would ever get through.
        if dice.random() < 0.7:
            os.path.islink(root + "/ws/dir") and parent()
            last(link=False)
            time.sleep(dice.random() * longest)
        else:
            time.sleep(dice.random() * 0.002)
"""


class Attack:
    """What a running attacker can be asked."""

    def __init__(self, told: IO[str] | None, counted: Path) -> None:
        self._told = told
        self._counted = counted

    @property
    def swaps(self) -> int:
        """How often it struck so far."""
        return int.from_bytes(self._counted.read_bytes(), "little")

    def be_calmer(self) -> None:
        """Look harmless for longer: on a busy machine changes take longer, too."""
        self._tell("+")

    def be_as_before(self) -> None:
        """As wild as in the beginning."""
        self._tell("=")

    def _tell(self, word: str) -> None:
        assert self._told is not None
        self._told.write(word)
        self._told.flush()


@contextmanager
def attacked(root: Path, seed: int) -> Generator[Attack]:
    """Lay the ground, and attack it for as long as the block takes."""
    (root / "ws" / "dir").mkdir(parents=True)
    (root / "swaps").write_bytes(bytes(8))
    (root / "ws" / "dir" / "file.txt").write_bytes(INSIDE)
    (root / "out").mkdir()
    (root / "out" / "file.txt").write_bytes(OUTSIDE)
    (root / "out" / CANARY).write_bytes(OUTSIDE)
    (root / "ws" / "dir-link").symlink_to(root / "out")
    process = subprocess.Popen(
        [sys.executable, "-c", _ATTACKER, str(root), str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Attack(process.stdin, root / "swaps")
        process.communicate("", timeout=15)
        assert process.returncode == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


Use = Callable[[Files], bytes]
"""Something done to the attacked path; gives what came to light by it."""


def _edit(files: Files) -> bytes:
    seen: list[str] = []

    def change(text: str) -> str:
        seen.append(text)
        return text + "more\n"

    files.edit("dir/file.txt", change)
    return seen[0].encode()


def _written(files: Files) -> bytes:
    return files.write("dir/file.txt", INSIDE).path.encode()


def _made(files: Files) -> bytes:
    name = f"dir/new/{random.getrandbits(60):x}"
    return files.write(name, INSIDE, new=True).path.encode()


def _removed(files: Files) -> bytes:
    files.remove("dir/file.txt")
    return b"inside"


def _listed(files: Files) -> bytes:
    return " ".join(one.name for one in files.list("dir")).encode()


def _walked(files: Files) -> bytes:
    return " ".join(one.name for one in files.walk()).encode()


def _folder(files: Files) -> bytes:
    files.make_directory(f"dir/made/{random.getrandbits(60):x}")
    return b"inside"


USES: dict[str, Use] = {
    "read": lambda files: files.read_bytes("dir/file.txt"),
    "text": lambda files: files.read_text("dir/file.txt").text.encode(),
    "stat": lambda files: f"{files.stat('dir/file.txt').byte_count} bytes".encode(),
    "list": _listed,
    "walk": _walked,
    "write": _written,
    "new": _made,
    "edit": _edit,
    "remove": _removed,
    "make": _folder,
}
SHOWS_OUTSIDE = (OUTSIDE[:7], CANARY.encode(), f"{len(OUTSIDE)} bytes".encode())


def used(files: Files, use: Use) -> str:
    """What became of one use: done, refused, or an escape."""
    try:
        shown = use(files)
    except ToolError:
        return "refused"
    return "escaped" if any(sign in shown for sign in SHOWS_OUTSIDE) else "done"


def outside_of(root: Path) -> Tree:
    """All that must not change."""
    return tree_of(root / "out")


def fight(
    root: Path, seed: int, rounds: Callable[[str, Counter[str]], bool], least_swaps: int = 500
) -> dict[str, Counter[str]]:
    """Use the attacked paths in every way, each for as long as ``rounds`` says; count endings."""
    counted: dict[str, Counter[str]] = {}
    root = root.resolve()
    with attacked(root, seed) as attack:
        before = outside_of(root)
        files = Ground(root).files()
        for name, use in USES.items():
            counted[name] = Counter()
            attack.be_as_before()
            while rounds(name, counted[name]):
                counted[name][used(files, use)] += 1
                if counted[name].total() % _PATIENCE == 0:
                    attack.be_calmer()
        while attack.swaps < least_swaps:  # a busy machine may have kept the attacker waiting
            counted["read"][used(files, USES["read"])] += 1
        assert outside_of(root) == before
        counted["attacker"] = Counter(swaps=attack.swaps)
    return counted


def naive_read(workspace: Path) -> bytes:
    """As it must not be done: look where a path leads, then open it."""
    path = str(workspace / "dir" / "file.txt")
    try:
        if not posixpath.realpath(path).startswith(f"{workspace}/"):
            return b"refused"
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return b"gone"
    try:
        return os.read(handle, 10_000)
    finally:
        os.close(handle)
