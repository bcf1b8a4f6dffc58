"""A server on the loopback that speaks the published API of OpenSandbox, as far as we use it.

The real one needs Docker. Here a container is a directory, and its processes are ordinary ones:
what is proved is our side of the line, with the official client in between.
"""

import contextlib
import email
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

STARTED = "2026-01-01T00:00:00Z"


class Containers:
    """What the server knows, and how it is told to misbehave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.created: list[dict[str, Any]] = []
        self.removed: list[str] = []
        self.keys: set[str | None] = set()
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.trouble: dict[str, tuple[int, str]] = {}
        """Of a path: status and message to answer with."""
        self.in_lines = False
        """Send output as old servers do: a line a piece, without its end."""
        self.silent_end = False
        """Stop telling without saying how a command ended."""
        self.deaf = False
        """Acknowledge an interruption and do nothing."""

    def root(self, name: str) -> Path:
        return self.folder / name


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    containers: Containers

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        self.content = self._body()
        split = urlsplit(self.path)
        self.query = parse_qs(split.query)
        prefix, _, rest = split.path.strip("/").partition("/")
        if prefix == "v1":
            self.containers.keys.add(self.headers.get("OPEN-SANDBOX-API-KEY"))
            parts = rest.split("/")
            self._lifecycle(method, parts)
            return
        self.name, _, path = rest.partition("/")
        if path in self.containers.trouble:
            status, message = self.containers.trouble[path]
            self._answer(status, {"code": "TROUBLE", "message": message})
            return
        getattr(self, f"_{method.lower()}_{path.replace('/', '_')}")()

    def _lifecycle(self, method: str, parts: list[str]) -> None:
        known = self.containers
        if "create" in known.trouble and method == "POST":
            status, message = known.trouble["create"]
            self._answer(status, {"code": "TROUBLE", "message": message})
        elif method == "POST":
            wanted = json.loads(self.content)
            name = f"box{len(known.created)}"
            known.created.append(wanted)
            known.root(name).mkdir(parents=True)
            status = {"state": "Running"}
            told = {"id": name, "status": status, "createdAt": STARTED, "entrypoint": ["x"]}
            self._answer(202, told)
        elif method == "DELETE":
            known.removed.append(parts[1])
            shutil.rmtree(known.root(parts[1]))
            self._answer(204, None)
        else:
            host = cast("tuple[str, int]", self.server.server_address)
            self._answer(200, {"endpoint": f"{host[0]}:{host[1]}/execd/{parts[1]}"})

    def _get_ping(self) -> None:
        self._answer(200, None)

    def _post_command(self) -> None:
        wanted = json.loads(self.content)
        argv = wanted.get("argv") or ["bash", "-c", wanted["command"]]
        environment = {**os.environ, **wanted.get("envs", {})}
        self._run(argv, self._inside(wanted["cwd"]), environment)

    def _delete_command(self) -> None:
        leader = self.containers.running.get(self.query["id"][0])
        if leader is not None and not self.containers.deaf:
            os.killpg(leader.pid, signal.SIGKILL)
        self._answer(200, None)

    _delete_code = _delete_command

    def _post_code(self) -> None:
        wanted = json.loads(self.content)
        language = wanted["context"]["language"]
        argv = [sys.executable, "-c", wanted["code"]]
        if language == "bash":
            argv = ["bash", "-c", wanted["code"]]
        self._run(argv, self._inside("/workspace"), dict(os.environ), code=True)

    def _run(self, argv: list[str], cwd: Path, env: dict[str, str], *, code: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        name = f"run{time.monotonic_ns()}"
        try:
            leader = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:
            self._event("init", text=name)
            self._event("error", error={"ename": "CommandExecError", "evalue": str(problem)})
            return
        self.containers.running[name] = leader
        self._event("init", text=name)
        stdout, stderr = leader.communicate()
        for stream, content in (("stdout", stdout), ("stderr", stderr)):
            for piece in self._pieces(content.decode("utf-8", "replace")):
                self._event(stream, text=piece)
        if self.containers.silent_end:
            return
        if leader.returncode == 0:
            if code:
                self._event("result", results={"text": "done"})
            self._event("execution_complete", execution_time=1)
            return
        told = stderr.decode("utf-8", "replace").splitlines()
        value = told[-1] if code and told else str(leader.returncode)
        self._event("error", error={"ename": "Error", "evalue": value, "traceback": told})

    def _pieces(self, content: str) -> Iterator[str]:
        if self.containers.in_lines:
            yield from content.splitlines()
        else:
            yield from (content[at : at + 1000] for at in range(0, len(content), 1000))

    def _event(self, kind: str, **more: object) -> None:
        event = {"type": kind, "timestamp": 1, **more}
        with contextlib.suppress(BrokenPipeError):
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def _get_files_download(self) -> None:
        path = self._inside(self.query["path"][0])
        if not path.is_file():
            self._answer(404, {"code": "FILE_NOT_FOUND", "message": "no such file"})
            return
        self.send_response(200)
        content = path.read_bytes()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _post_files_upload(self) -> None:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        parts = cast("list[Message]", email.message_from_bytes(head + self.content).get_payload())
        metadata, content = (cast("bytes", part.get_payload(decode=True)) for part in parts)
        wanted = json.loads(metadata)
        path = self._inside(wanted["path"])
        self._try(lambda: path.write_bytes(content))
        if path.is_file():
            path.chmod(int(str(wanted["mode"]), 8))

    def _get_files_info(self) -> None:
        found = {path: self._inside(path) for path in self.query["path"]}
        if not all(path.exists() for path in found.values()):
            self._answer(404, {"code": "FILE_NOT_FOUND", "message": "no such file"})
            return
        self._answer(200, {path: _info(path, place) for path, place in found.items()})

    def _post_directories(self) -> None:
        for path in json.loads(self.content):
            place = self._inside(path)
            self._try(lambda place=place: place.mkdir(parents=True, exist_ok=True))

    def _get_directories_list(self) -> None:
        path = self.query["path"][0]
        place = self._inside(path)
        if not place.is_dir():
            self._answer(404, {"code": "FILE_NOT_FOUND", "message": "no such directory"})
            return
        entries = sorted(place.iterdir(), reverse=True)
        self._answer(200, [_info(f"{path}/{entry.name}", entry) for entry in entries])

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as problem:
            self._answer(500, {"code": "RUNTIME_ERROR", "message": str(problem)})
        else:
            self._answer(200, None)

    def _inside(self, path: str) -> Path:
        return self.containers.root(self.name) / path.lstrip("/")

    def _answer(self, status: int, value: object) -> None:
        content = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pieces: list[bytes] = []
        while (size := int(self.rfile.readline(), 16)) > 0:
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)


def _info(path: str, place: Path) -> dict[str, object]:
    return {
        "path": path,
        "type": "directory" if place.is_dir() else "file",
        "size": place.stat().st_size,
        "modified_at": STARTED,
        "created_at": STARTED,
        "owner": "root",
        "group": "root",
        "mode": 644,
    }


@contextlib.contextmanager
def opensandbox_server(folder: Path) -> Generator[tuple[str, Containers]]:
    """A running server: where it is, and what it knows."""
    containers = Containers(folder)
    handler = type("Handler", (_Handler,), {"containers": containers})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", containers
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
