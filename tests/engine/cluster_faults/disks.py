"""A disk that can be full: files in memory, of a size of their own, that only some programs see.

Only the super-user can make one. It is gone with whoever asked for it, however that one ends.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

_KEEPER = """
mount -t tmpfs -o "size=$1" tmpfs "$0" && echo made
while read -r word; do
  case $word in
    fill) dd if=/dev/zero of="$0/ballast" bs=64k 2>/dev/null ;;
    empty) rm -f "$0/ballast" ;;
  esac
  echo "$word"
done
umount -l "$0"; rmdir "$0"
"""


class Disk:
    """One, seen by whatever is started with `before` before its command."""

    def __init__(self, folder: Path, keeper: "subprocess.Popen[bytes]") -> None:
        self.folder = folder
        self.before: Sequence[str] = ("nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", "--")
        self._keeper = keeper
        self._heard("made")

    def fill(self) -> None:
        """Leave no room."""
        self._do("fill")

    def empty(self) -> None:
        self._do("empty")

    def _do(self, word: str) -> None:
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(f"{word}\n".encode())
        self._keeper.stdin.flush()
        self._heard(word)

    def _heard(self, word: str) -> None:
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline().decode() == f"{word}\n"


@contextmanager
def disk(room: str) -> Generator[Disk | None]:
    """One with so much room, until the end of the block; None: there are none here."""
    if not can_be_full():
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="holdfast-disk-"))
    keeper = subprocess.Popen(
        ["unshare", "-m", "--propagation", "private", "/bin/sh", "-c", _KEEPER, folder, room],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield Disk(folder, keeper)
    finally:
        keeper.communicate()
        assert not folder.exists()


def can_be_full() -> bool:
    """Whether there can be one."""
    programs = ("unshare", "nsenter", "setpriv")
    if os.geteuid() != 0 or not all(map(shutil.which, programs)):
        return False
    tried = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(tried, check=False, capture_output=True).returncode == 0
