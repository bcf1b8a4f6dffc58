"""Real NATS servers for the tests: one, or three that are a cluster, gone when the tests are.

Each server is the child of a shell that waits for the end of its input. However a test run ends,
its end of the pipe is closed, and the shell stops the server and removes its files. They listen on
loopback alone.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

_START_SECONDS = 15.0
_PROGRAM = "nats-server"
_KEEPER = """
"$@" </dev/null &
server=$!
echo $server > "$0"
read -r said
kill -KILL $server 2>/dev/null
wait $server
cd /
[ "$said" = keep ] || { rm -rf "${0%/*}"; rmdir "${0%/*/*}" 2>/dev/null; }
"""
_NODE = """
server_name: {name}
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{store}", max_mem: 64MB, max_file: 2GB }}
"""
_CLUSTER = """
cluster {{ name: tests, listen: "127.0.0.1:{port}", routes: [{routes}] }}
"""


class NatsDisk(Protocol):
    """Where a server keeps what it keeps, if not beside its log."""

    folder: Path
    before: Sequence[str]
    """Comes before the command of whoever is to see it."""


class NatsNode:
    """One server: it can be killed, paused, and started again with what it kept."""

    def __init__(
        self, name: str, folder: Path, port: int, more: str = "", disk: "NatsDisk | None" = None
    ) -> None:
        self.name = name
        self.url = f"nats://127.0.0.1:{port}"
        self._port = port
        self._folder = folder
        self._keeper: subprocess.Popen[bytes] | None = None
        self._before = () if disk is None else disk.before
        store = folder / "store" if disk is None else disk.folder / "store"
        self._text = _NODE.format(name=name, port=port, store=store)
        folder.mkdir()
        self._tell(more)

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._keeper = subprocess.Popen(
                [*self._before, "/bin/sh", "-c", _KEEPER, self._folder / "pid", *self._command()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                # A key that interrupts the tests is no reason to leave before they do.
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it with no time to say goodbye, if it runs."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.communicate(b"keep\n")
            (self._folder / "pid").unlink(missing_ok=True)

    def told(self, more: str) -> None:
        """From now on it goes by this."""
        self._tell(more)
        os.kill(self._number(), signal.SIGHUP)

    def pause(self) -> None:
        """Leave it as if its machine stood still, until it goes on."""
        os.kill(self._number(), signal.SIGSTOP)
        threads = Path(f"/proc/{self._number()}/task")
        while any(b") T " not in one.read_bytes() for one in threads.glob("*/stat")):
            time.sleep(0.001)

    def go_on(self) -> None:
        os.kill(self._number(), signal.SIGCONT)

    def wait(self) -> None:
        """Until it answers."""
        until = time.monotonic() + _START_SECONDS
        while not self._is_up():
            if time.monotonic() > until:
                raise TimeoutError((self._folder / "log").read_text("utf-8"))
            time.sleep(0.02)

    def complaints(self, words: str) -> int:
        """How often it wrote down something like this."""
        return (self._folder / "log").read_text("utf-8").lower().count(words)

    def _command(self) -> list[str]:
        return [_program(), "-c", str(self._folder / "nats.conf")]

    def _is_up(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def _tell(self, more: str) -> None:
        (self._folder / "nats.conf").write_text(self._text + more, "utf-8")

    def _number(self) -> int:
        return int((self._folder / "pid").read_text("ascii"))


class NatsServers:
    """One, or several that are a cluster."""

    def __init__(self, nodes: Sequence[NatsNode]) -> None:
        self.nodes = nodes

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(node.url for node in self.nodes)


@contextmanager
def running_nats(
    count: int = 1, more: str = "", disk: NatsDisk | None = None
) -> Generator[NatsServers]:
    """Start so many, with files of their own. ``more``: what each is told besides; ``disk``: of
    the first one."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-nats-"))
    try:
        with ExitStack() as stack:
            nodes = _nodes(folder, count, more, disk)
            for node in nodes:
                stack.callback(node.kill)
                node.start()
            for node in nodes:
                node.wait()
            yield NatsServers(nodes)
    finally:
        shutil.rmtree(folder)


def _nodes(folder: Path, count: int, more: str, disk: NatsDisk | None) -> list[NatsNode]:
    ports = _free_ports(2 * count)
    clients, routes = ports[:count], ports[count:]
    told = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    nodes: list[NatsNode] = []
    for at, (client, route) in enumerate(zip(clients, routes, strict=True), 1):
        cluster = _CLUSTER.format(port=route, routes=told) if count > 1 else ""
        own = disk if at == 1 else None
        nodes.append(NatsNode(f"n{at}", folder / f"n{at}", client, cluster + more, own))
    return nodes


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _program() -> str:
    own = Path(sys.executable).with_name(_PROGRAM)
    found = str(own) if own.exists() else shutil.which(_PROGRAM)
    assert found is not None, "run: make setup"
    return found
