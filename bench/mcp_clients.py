"""Raw clients of MCP servers: bytes out, bytes in, nothing between but what the protocol asks for.

The same client measures everybody, so that what differs is the server.
"""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

VERSION = "2025-11-25"
GREETING = {
    "protocolVersion": VERSION,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
ARGUMENTS = {"name": "add", "arguments": {"a": 2, "b": 3}}
IN_FLIGHT = 32


def message(number: int | None, method: str, params: dict) -> bytes:
    told: dict = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        told["id"] = number
    return json.dumps(told, separators=(",", ":")).encode()


class Pipe:
    """A server that is spoken with over its standard streams."""

    def __init__(self, command: list[str], environment: dict[str, str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=cwd,
            bufsize=0,
        )
        self._rest = b""
        self._number = 0

    def greet(self) -> None:
        self.asked("initialize", GREETING)
        self._send(message(None, "notifications/initialized", {}))

    def asked(self, method: str, params: dict) -> dict:
        self._number += 1
        self._send(message(self._number, method, params))
        while True:
            told = json.loads(self._line())
            if told.get("id") == self._number:
                return told

    def call(self) -> None:
        """One call, and its answer."""
        self._number += 1
        self._send(message(self._number, "tools/call", ARGUMENTS))
        self._line()

    def calls(self, count: int) -> float:
        """So many calls, always `IN_FLIGHT` under way; calls a second."""
        began = time.perf_counter()
        for _ in range(IN_FLIGHT):
            self._number += 1
            self._send(message(self._number, "tools/call", ARGUMENTS))
        sent = IN_FLIGHT
        for _ in range(count):
            self._line()
            if sent < count:
                self._number += 1
                self._send(message(self._number, "tools/call", ARGUMENTS))
                sent += 1
        return count / (time.perf_counter() - began)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)

    def _send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        os.write(self.process.stdin.fileno(), line + b"\n")

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise SystemExit("a server ended while it was measured")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line


class Http:
    """A server that is spoken with over one connection that is kept."""

    def __init__(self, port: int, path: str, headers: dict[str, str]) -> None:
        self._socket = _connected(port)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host = f"127.0.0.1:{port}"
        given = {"Accept": "application/json, text/event-stream", **headers}
        lines = [f"POST {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
        lines += [f"{name}: {value}" for name, value in given.items()]
        self._head = "\r\n".join(lines)
        self._session = ""
        self._number = 0

    def greet(self) -> None:
        head = self._posted(message(1, "initialize", GREETING))[0].decode()
        for line in head.splitlines():
            if line.lower().startswith("mcp-session-id:"):
                self._session = f"\r\nMcp-Session-Id: {line.partition(':')[2].strip()}"
        self._session += f"\r\nMCP-Protocol-Version: {VERSION}"
        self._posted(message(None, "notifications/initialized", {}))

    def call(self) -> bytes:
        """One call, and its answer."""
        self._number += 1
        return self._posted(message(self._number, "tools/call", ARGUMENTS))[1]

    def close(self) -> None:
        self._socket.close()

    def _posted(self, body: bytes) -> tuple[bytes, bytes]:
        head = f"{self._head}{self._session}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._socket.sendall(head.encode() + body)
        return self._answer()

    def _answer(self) -> tuple[bytes, bytes]:
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._piece()
        head, _, body = received.partition(b"\r\n\r\n")
        lower = head.lower()
        if b"content-length:" in lower:
            length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
            while len(body) < length:
                body += self._piece()
        elif b"transfer-encoding: chunked" in lower:
            while not body.endswith(b"0\r\n\r\n"):
                body += self._piece()
        return head, body

    def _piece(self) -> bytes:
        piece = self._socket.recv(65536)
        if not piece:
            raise SystemExit("a server closed its connection while it was measured")
        return piece


def _connected(port: int) -> socket.socket:
    until = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
