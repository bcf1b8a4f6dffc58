"""`holdfast mcp` as a process behind a pipe, spoken with by hand."""

import json
import subprocess
from typing import Any

GREETING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


class Piped:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin, self.stdout = process.stdin, process.stdout

    def write(self, text: bytes) -> None:
        self.stdin.write(text)
        self.stdin.flush()

    def say(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def hear(self) -> Any:
        return json.loads(self.stdout.readline())

    def answer(self, own: object) -> Any:
        """The answer of that id; what comes before it is passed over."""
        while (heard := self.hear()).get("id") != own:
            pass
        return heard

    def greet(self) -> None:
        self.say(GREETING)
        assert self.hear()["result"]["serverInfo"]["name"] == "holdfast"

    def call(self, own: int, tool: str, **arguments: Any) -> None:
        params = {"name": tool, "arguments": arguments}
        self.say({"jsonrpc": "2.0", "id": own, "method": "tools/call", "params": params})
