"""A PostgreSQL that can be ended and started again, and whose disk can be full.

It is kept by a shell that ends it when its input ends, however a test run ends. As root, its files
are in memory, in a mount that nobody else sees, of a size of its own: that is the disk that gets
full.
"""

import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from engine.cluster_faults.disks import can_be_full
from postgres_server import (
    NOBODY,
    SETTINGS,
    PostgresServer,
    make_cluster,
    own_folder,
    programs,
    wait_for,
)

_ROOM = "400m"
_MORE = {"max_wal_size": "64MB", "min_wal_size": "32MB", "autovacuum": "on"}
_KEEPER = """
# Whoever asked may be gone before the answer: the server is ended all the same.
trap '' PIPE
folder=$0 room=$1; shift
if [ -n "$room" ]; then
  mkdir "$folder/live"
  mount -t tmpfs -o "size=$room,mode=0700,uid=$1,gid=$1" tmpfs "$folder/live"
  cp -a "$folder/cluster/." "$folder/live/"
fi
shift
server=
while read -r word; do
  case $word in
    start) [ -n "$server" ] || { "$@" </dev/null >/dev/null 2>>"$folder/log" & server=$!; } ;;
    end) [ -z "$server" ] || { kill -QUIT $server 2>/dev/null; wait $server; server=; } ;;
    fill) dd if=/dev/zero of="$folder/live/ballast" bs=64k 2>/dev/null ;;
    empty) rm -f "$folder/live/ballast" ;;
  esac
  echo "$word"
done
[ -z "$server" ] || { kill -QUIT $server 2>/dev/null; wait $server; }
if [ -n "$room" ]; then umount "$folder/live"; fi
rm -rf "$folder"
"""


class PostgresNode:
    """One server."""

    def __init__(self, server: PostgresServer, keeper: "subprocess.Popen[bytes]") -> None:
        self.server = server
        self._keeper = keeper
        self._one_at_a_time = Lock()
        self._is_full = False

    def start(self) -> None:
        with self._one_at_a_time:
            self._do("start")
            if not self._is_full:  # else it may be unable to, until there is room
                wait_for(self.server)

    def end(self) -> None:
        """At once, as if it crashed: what was committed is there when it starts again."""
        with self._one_at_a_time:
            self._do("end")
            assert not self.server.is_up()

    def fill(self) -> None:
        """Leave no room on its disk."""
        with self._one_at_a_time:
            self._is_full = True
            self._do("fill")

    def empty(self) -> None:
        """Make room, and start it again if that was too much for it."""
        with self._one_at_a_time:
            self._do("empty")
            self._is_full = False
            if not self.server.is_up():
                self._do("end")
                self._do("start")
                wait_for(self.server)

    def complaints(self, words: str) -> int:
        """How often it wrote down something like this."""
        return (self.server.folder / "log").read_text("utf-8").lower().count(words)

    def _do(self, word: str) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write(f"{word}\n".encode())
        self._keeper.stdin.flush()
        assert self._keeper.stdout.readline().decode() == f"{word}\n"


@contextmanager
def running_node() -> Generator[PostgresNode]:
    folder = own_folder()
    try:
        found = programs(folder)
        make_cluster(found, folder)
        keeper = _kept(folder, found / "postgres")
    except BaseException:
        shutil.rmtree(folder)
        raise
    try:
        node = PostgresNode(PostgresServer(folder), keeper)
        node.start()
        yield node
    finally:
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait()
        if keeper.stdout is not None:
            keeper.stdout.close()


def _kept(folder: Path, program: Path) -> "subprocess.Popen[bytes]":
    options = [f"--{name}={value}" for name, value in {**SETTINGS, **_MORE}.items()]
    has_room = can_be_full()
    data = folder / ("live" if has_room else "cluster")
    server = [program, "-D", data, "-k", folder, *options]
    if os.geteuid() == 0:
        nobody = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        server = ["setpriv", *nobody, *server]
    room = [_ROOM if has_room else "", str(NOBODY)]
    apart = ["unshare", "-m", "--propagation", "private"] if has_room else []
    return subprocess.Popen(
        [*apart, "/bin/sh", "-c", _KEEPER, folder, *room, *server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        # A key that interrupts the tests is no reason to leave before they do.
        start_new_session=True,
    )
