"""A language server for tests: it answers by rules of its own, and misbehaves as it is told.

It is copied into a workspace and run there. It knows no more than the protocol.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

MODE, *TARGETS = sys.argv[1:]
BEGUN = time.time_ns()
DOCUMENTS: dict[str, tuple[int, str]] = {}
SEARCHES: list[str] = []
REFUSED: list[str] = []
ENCODING = {"utf8": "utf-8", "utf32": "utf-32", "odd": "utf-7"}.get(MODE)


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    out = sys.stdout.buffer
    if MODE == "garbage":
        out.write(b"a log line\nContent-Length: none\r\n\r\n\x00\xff{}")
        out.write(b"Content-Length: 40000000\r\n\r\n" + b"x" * 40_000_000)
    header = b"Content-Length: %d\r\n\r\n" % len(body)
    for piece in (header[:7], header[7:], body[:1], body[1:]):
        out.write(piece)
        out.flush()


def note(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def receive() -> dict[str, Any]:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not length:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(length))


def place(uri: str, line: int, start: int, end: int) -> dict[str, Any]:
    span = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"uri": uri, "range": span}


def initialized(message: dict[str, Any]) -> None:
    if MODE == "mute":
        note("greeted")
        return
    offered = message["params"]["capabilities"]["general"]["positionEncodings"]
    assert offered[0] == "utf-16"
    agreed: dict[str, Any] = {} if ENCODING is None else {"positionEncoding": ENCODING}
    if MODE == "pull":
        agreed["diagnosticProvider"] = {"interFileDependencies": False}
    send({"id": message["id"], "result": {"capabilities": {"hoverProvider": True, **agreed}}})
    if MODE == "brief":
        os._exit(4)


def document(message: dict[str, Any]) -> None:
    params = message["params"]
    shown = params["textDocument"]
    text = shown["text"] if "text" in shown else params["contentChanges"][0]["text"]
    DOCUMENTS[shown["uri"]] = (shown["version"], text)
    if MODE == "late":
        # As a server that reads for a while, and does not say which version it means.
        time.sleep(0.3)
        told = [{**place(shown["uri"], 0, 0, 1), "message": f"seen: {text.strip()}"}]
        about: dict[str, Any] = {"uri": shown["uri"], "diagnostics": told}
        send({"method": "textDocument/publishDiagnostics", "params": about})
    if MODE == "push":
        told = [{**place(shown["uri"], 0, 0, 1), "message": f"seen: {text.strip()}"}]
        old: dict[str, Any] = {
            "uri": shown["uri"],
            "version": shown["version"] - 1,
            "diagnostics": [],
        }
        send({"method": "textDocument/publishDiagnostics", "params": old})
        now = {"uri": shown["uri"], "version": shown["version"], "diagnostics": told}
        send({"method": "textDocument/publishDiagnostics", "params": now})


def begin(_message: dict[str, Any]) -> None:
    if MODE == "hanging":
        time.sleep(1_000)


def hover(message: dict[str, Any]) -> None:
    params = message["params"]
    uri = params["textDocument"]["uri"]
    if MODE == "crash":
        note("Traceback: it is all over")
        os._exit(3)
    if MODE == "silent":
        note("asked")
        return
    at = params["position"]
    said = f"{at['line']}:{at['character']} of version {DOCUMENTS[uri][0]}, begun {BEGUN}"
    send({"id": message["id"], "result": {"contents": said}})


def references(message: dict[str, Any]) -> None:
    uri = message["params"]["textDocument"]["uri"]
    count = 5_000 if MODE == "many" else 1
    found = [place(uri, 0, one % 2, one % 2 + one) for one in range(count)]
    found = [place(target, 0, 1, 2) for target in TARGETS] or found
    send({"id": message["id"], "result": found})


def definition(message: dict[str, Any]) -> None:
    send({"id": message["id"], "result": place("file:///etc/shadow", 3, 4, 5)})


def symbols(message: dict[str, Any]) -> None:
    send({"id": message["id"], "error": {"code": -32000, "message": "no symbols today"}})


def closed(message: dict[str, Any]) -> None:
    uri = message["params"]["textDocument"]["uri"]
    del DOCUMENTS[uri]
    note(f"closed {uri}")


def diagnostics(message: dict[str, Any]) -> None:
    uri = message["params"]["textDocument"]["uri"]
    told = {**place(uri, 0, 0, 1), "message": f"asked: {DOCUMENTS[uri][1].strip()}"}
    send({"id": message["id"], "result": {"kind": "full", "items": [told]}})


def workspace_symbols(message: dict[str, Any]) -> None:
    """It knows nothing when it is asked first."""
    SEARCHES.append(message["params"]["query"])
    known = TARGETS if len(SEARCHES) > 1 else []
    found = [{"name": "found", "kind": 12, "location": place(uri, 0, 0, 1)} for uri in known]
    send({"id": message["id"], "result": found})


def cancelled(_message: dict[str, Any]) -> None:
    note("cancelled")


ANSWERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "initialize": initialized,
    "initialized": begin,
    "textDocument/didOpen": document,
    "textDocument/didChange": document,
    "textDocument/didClose": closed,
    "textDocument/diagnostic": diagnostics,
    "workspace/symbol": workspace_symbols,
    "textDocument/hover": hover,
    "textDocument/references": references,
    "textDocument/definition": definition,
    "textDocument/documentSymbol": symbols,
    "$/cancelRequest": cancelled,
}

if MODE == "stillborn":
    note("cannot read its configuration")
    sys.exit(1)
while True:
    heard = receive()
    if heard.get("method") in ANSWERS:
        ANSWERS[heard["method"]](heard)
    elif "id" in heard and "method" in heard:
        send({"id": heard["id"], "error": {"code": -32601, "message": "what?"}})
        REFUSED.append(heard["method"])
        note(f"refused {len(REFUSED)}")
