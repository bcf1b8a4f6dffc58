"""Asking a language server, and answering it: requests, their answers, and what it says unasked.

What it says is taken in as it comes, whoever waits or has stopped waiting. How bytes reach it, and
what questions mean, is not known here.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from anyio import Event, fail_after

from holdfast.contract.errors import OperationFailed, OperationTimedOut, Unavailable
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.execution.language_servers.frames import FrameReader, framed

_METHOD_NOT_FOUND = -32601
_CONTENT_MODIFIED = -32801
_HARMLESS = ("client/", "window/", "workspace/")
"""Some servers end themselves when one of these is refused."""
MOST_PUBLISHED = 256
"""Of so many files what is wrong with them is remembered: those heard of last."""
MOST_PUBLISHED_BYTES = 32 * 1024 * 1024
"""So much of it together; of the file heard of last always."""
MOST_REGISTERED = 256
_LONGEST_METHOD = 256


class Published:
    """What a server said is wrong with a file, unasked."""

    def __init__(self, version: int | None, items: list[JsonValue]) -> None:
        self.version = version
        self.content = msgspec.json.encode(items)
        """As it was sent: taken apart, it needs many times the room."""

    @property
    def items(self) -> list[JsonValue]:
        """One by one."""
        return msgspec.json.decode(self.content, type=list[Any])


class _Waiting:
    def __init__(self) -> None:
        self.over = Event()
        self.answer: JsonObject | None = None


class Connection:
    """One conversation with one server."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._unsent: list[bytes] = []
        self._send: Callable[[bytes], None] = self._unsent.append
        self._reader = FrameReader()
        self._waiting: dict[int, _Waiting] = {}
        self._asked = 0
        self._ended: str | None = None
        self.messages = 0
        """How many came from it."""
        self.published: dict[str, Published] = {}
        self.registered: set[str] = set()
        """The methods it asked to be asked by, after it was started."""
        self._listening: list[Event] = []

    def sends_by(self, send: Callable[[bytes], None]) -> None:
        """It can be spoken to from now on; what was to be said before is said now."""
        self._send = send
        for content in self._unsent:
            send(content)
        self._unsent.clear()

    def heard(self, piece: bytes) -> None:
        """Take in what the server printed."""
        for message in self._reader.feed(piece):
            self.messages += 1
            self._take(message)

    def over(self, how: str) -> None:
        """It has ended: whoever waits is told."""
        self._ended = how
        for waiting in self._waiting.values():
            waiting.over.set()
        self._announce()

    def notify(self, method: str, params: JsonObject) -> None:
        """Tell it something."""
        self._send(framed({"jsonrpc": "2.0", "method": method, "params": params}))

    def knock(self) -> None:
        """Ask it what nobody has to know: whoever hears anything has to refuse that."""
        self._asked += 1
        self._send(framed({"jsonrpc": "2.0", "id": self._asked, "method": "$/holdfast/knock"}))

    async def ask(self, method: str, params: JsonObject, seconds: float) -> JsonValue:
        """Ask it, and wait for its answer; who stops waiting takes the question back."""
        self._asked += 1
        number = self._asked
        waiting = self._waiting[number] = _Waiting()
        self._send(framed({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        if self._ended is not None:
            waiting.over.set()
        try:
            with fail_after(seconds):
                await waiting.over.wait()
        except TimeoutError:
            raise OperationTimedOut(
                f"The language server {self._name} did not answer {method} within"
                f" {seconds:g} seconds. It may still be reading the workspace: ask again."
            ) from None
        finally:
            del self._waiting[number]
            if waiting.answer is None and self._ended is None:
                self.notify("$/cancelRequest", {"id": number})
        if waiting.answer is None:
            raise self._gone()
        return self._result(method, waiting.answer)

    async def published_or_registered(
        self, uri: str, version: int, method: str, seconds: float
    ) -> Published | None:
        """What the server says unasked of a version of a file; None: it wants to be asked."""
        try:
            with fail_after(seconds):
                while method not in self.registered:
                    found = self.published.get(uri)
                    if found is not None and (found.version is None or found.version >= version):
                        return found
                    if self._ended is not None:
                        raise self._gone()
                    news = Event()
                    self._listening.append(news)
                    await news.wait()
        except TimeoutError:
            raise OperationTimedOut(
                f"The language server {self._name} said nothing about {uri} within"
                f" {seconds:g} seconds. It may still be reading the workspace: ask again."
            ) from None
        return None

    def _gone(self) -> Unavailable:
        return Unavailable(
            f"The language server {self._name} ended while it was asked ({self._ended})."
            " It is started again with the next call."
        )

    def _result(self, method: str, answer: JsonObject) -> JsonValue:
        error = answer.get("error")
        if not isinstance(error, dict):
            return answer.get("result")
        said = error.get("message")
        hint = " Ask again." if error.get("code") == _CONTENT_MODIFIED else ""
        raise OperationFailed(f"The language server {self._name} refused {method}: {said}.{hint}")

    def _take(self, message: JsonObject) -> None:
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            waiting = self._waiting.get(number) if type(number) is int else None
            if waiting is not None and waiting.answer is None:
                waiting.answer = message
                waiting.over.set()
        elif "id" in message:
            self._reply(method, message)
        elif method == "textDocument/publishDiagnostics":
            self._keep(message.get("params"))

    def _reply(self, method: str, message: JsonObject) -> None:
        """Servers ask, too; one that gets no answer may wait for ever."""
        answer: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        params = message.get("params")
        match method:
            case "workspace/configuration":
                items = params.get("items") if isinstance(params, dict) else None
                answer["result"] = [None for _ in items] if isinstance(items, list) else []
            case "client/registerCapability":
                self._register(params)
                answer["result"] = None
            case "workspace/applyEdit":
                answer["result"] = {"applied": False, "failureReason": "nothing is edited here"}
            case _ if method.startswith(_HARMLESS):
                answer["result"] = None
            case _:
                answer["error"] = {"code": _METHOD_NOT_FOUND, "message": f"no {method} here"}
        self._send(framed(answer))

    def _register(self, params: JsonValue) -> None:
        wanted = params.get("registrations") if isinstance(params, dict) else None
        for one in wanted if isinstance(wanted, list) else []:
            method = one.get("method") if isinstance(one, dict) else None
            if len(self.registered) >= MOST_REGISTERED:
                break
            if isinstance(method, str) and len(method) <= _LONGEST_METHOD:
                self.registered.add(method)
        self._announce()

    def _keep(self, params: JsonValue) -> None:
        if not isinstance(params, dict):
            return
        uri, items, version = params.get("uri"), params.get("diagnostics"), params.get("version")
        if not isinstance(uri, str) or not isinstance(items, list):
            return
        self.published.pop(uri, None)
        self.published[uri] = Published(version if type(version) is int else None, items)
        while self._too_much_published():
            del self.published[next(iter(self.published))]
        self._announce()

    def _too_much_published(self) -> bool:
        size = sum(len(uri) + len(one.content) for uri, one in self.published.items())
        return len(self.published) > MOST_PUBLISHED or (
            size > MOST_PUBLISHED_BYTES and len(self.published) > 1
        )

    def _announce(self) -> None:
        listening, self._listening = self._listening, []
        for news in listening:
            news.set()
