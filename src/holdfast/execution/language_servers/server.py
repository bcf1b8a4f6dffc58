"""One language server, from its first word to its end: documents shown to it, questions asked.

A document is shown as it is on disk at each question. Positions are counted as was agreed with the
server. Who restarts it is not known here.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from anyio import current_time, sleep

from holdfast.contract.errors import Unavailable
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.execution.language_servers.answers import (
    RawDiagnostic,
    RawSpot,
    RawSymbol,
    diagnostics_in,
    hover_in,
    spots_in,
    symbols_in,
    uri_of,
)
from holdfast.execution.language_servers.connection import Connection
from holdfast.execution.language_servers.positions import (
    PositionEncoding,
    is_position_encoding,
)

START_SECONDS = 30.0
ANSWER_SECONDS = 30.0
MOST_DOCUMENTS = 64
"""So many are kept open at once; the one shown longest ago is closed."""
_PULL = "textDocument/diagnostic"
_PULLED_BY = "diagnosticProvider"
_SETTLING_SECONDS = 4.0
_LOOK_AGAIN_SECONDS = 0.25

_CAPABILITIES: JsonObject = {
    "general": {"positionEncodings": ["utf-16", "utf-8", "utf-32"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "symbol": {},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "textDocument": {
        "synchronization": {},
        "definition": {"linkSupport": True},
        "references": {},
        "hover": {"contentFormat": ["plaintext", "markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True},
    },
}


class ServerCommand(NamedTuple):
    """A language server as it is configured."""

    name: str
    """Its language, by the name the protocol has for it where it has one."""
    command: tuple[str, ...]
    extensions: tuple[str, ...]


class Document(NamedTuple):
    """A file as it is now."""

    path: str
    """Absolute."""
    text: str


class At(NamedTuple):
    """A place people named, as servers count: from 0."""

    line: int
    units: Mapping[PositionEncoding, int]
    """What stands in front of it in its line, in each way servers may count."""


class _Shown(NamedTuple):
    version: int
    text: str


class LanguageServer:
    """A started server."""

    def __init__(self, command: ServerCommand, connection: Connection) -> None:
        self.command = command
        self._connection = connection
        self._shown: dict[str, _Shown] = {}
        self._offers: Mapping[str, JsonValue] = {}
        self._settled_at = 0.0
        self.encoding: PositionEncoding = "utf-16"

    async def begin(self, workspace: str) -> None:
        """Say hello, and agree on how positions are counted."""
        root = uri_of(workspace)
        hello: JsonObject = {
            "processId": None,
            "clientInfo": {"name": "holdfast"},
            "rootPath": workspace,
            "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": workspace.rpartition("/")[2] or "/"}],
            "capabilities": _CAPABILITIES,
        }
        answer = await self._connection.ask("initialize", hello, START_SECONDS)
        offers = answer.get("capabilities") if isinstance(answer, dict) else None
        self._offers = offers if isinstance(offers, dict) else {}
        agreed = self._offers.get("positionEncoding", "utf-16")
        if not is_position_encoding(agreed):
            raise Unavailable(
                f"The language server {self.command.name} counts positions in {agreed!r}, which"
                " nobody offered it; configure another one."
            )
        self.encoding = agreed
        self._connection.notify("initialized", {})
        self._settled_at = current_time() + _SETTLING_SECONDS

    async def spots(self, method: str, document: Document, at: At) -> tuple[RawSpot, ...]:
        """Where the answer to a question about a place leads."""
        params = self._place(document, at)
        if method == "textDocument/references":
            params["context"] = {"includeDeclaration": True}
        return tuple(spots_in(await self._connection.ask(method, params, ANSWER_SECONDS)))

    async def hover(self, document: Document, at: At) -> str | None:
        """What it says about a place."""
        params = self._place(document, at)
        return hover_in(await self._connection.ask("textDocument/hover", params, ANSWER_SECONDS))

    async def diagnostics(self, document: Document) -> tuple[RawDiagnostic, ...]:
        """What is wrong with a document: asked where it can be, waited for otherwise."""
        uri = self.show(document)
        version = self._shown[uri].version
        connection = self._connection
        if not self._offers.get(_PULLED_BY):
            told = await connection.published_or_registered(uri, version, _PULL, ANSWER_SECONDS)
            if told is not None:
                return tuple(diagnostics_in(told.items))
        params: JsonObject = {"textDocument": {"uri": uri}}
        answer = await connection.ask(_PULL, params, ANSWER_SECONDS)
        return tuple(diagnostics_in(answer.get("items") if isinstance(answer, dict) else None))

    async def symbols(self, document: Document) -> tuple[RawSymbol, ...]:
        """What a document defines."""
        uri = self.show(document)
        params: JsonObject = {"textDocument": {"uri": uri}}
        method = "textDocument/documentSymbol"
        return tuple(symbols_in(await self._connection.ask(method, params, ANSWER_SECONDS), uri))

    async def workspace_symbols(self, query: str) -> tuple[RawSymbol, ...]:
        """What the workspace defines under such a name.

        A server that was just started may not have read the workspace: an empty answer counts
        only when it had the time.
        """
        while True:
            params: JsonObject = {"query": query}
            answer = await self._connection.ask("workspace/symbol", params, ANSWER_SECONDS)
            found = tuple(symbols_in(answer))
            if found or current_time() >= self._settled_at:
                return found
            await sleep(_LOOK_AGAIN_SECONDS)

    def show(self, document: Document) -> str:
        """Have it see a document as it is now; gives the URI it knows it by."""
        uri = uri_of(document.path)
        before = self._shown.pop(uri, None)
        if before is None or before.text != document.text:
            # It was said of another text, and not every server says of which.
            self._connection.published.pop(uri, None)
        if before is None:
            self._shown[uri] = _Shown(1, document.text)
            self._open(uri, document.text)
        elif before.text == document.text:
            self._shown[uri] = before
        else:
            version = before.version + 1
            self._shown[uri] = _Shown(version, document.text)
            self._change(uri, version, document.text)
        for old in self._too_many():
            del self._shown[old]
            self._connection.published.pop(old, None)
            self._connection.notify("textDocument/didClose", {"textDocument": {"uri": old}})
        return uri

    def shown(self) -> tuple[str, ...]:
        """The URIs of what is open, the oldest first."""
        return tuple(self._shown)

    def forget(self, uri: str) -> None:
        """A document is gone."""
        if self._shown.pop(uri, None) is not None:
            self._connection.published.pop(uri, None)
            self._connection.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def files_changed(self, changed: Mapping[str, int]) -> None:
        """Files it may have read by itself are different; paths are absolute."""
        if changed:
            events: list[JsonValue] = [
                {"uri": uri_of(path), "type": kind} for path, kind in sorted(changed.items())
            ]
            self._connection.notify("workspace/didChangeWatchedFiles", {"changes": events})

    def _too_many(self) -> Iterator[str]:
        return iter(list(self._shown)[: max(0, len(self._shown) - MOST_DOCUMENTS)])

    def _open(self, uri: str, text: str) -> None:
        opened: JsonObject = {
            "uri": uri,
            "languageId": self.command.name,
            "version": 1,
            "text": text,
        }
        self._connection.notify("textDocument/didOpen", {"textDocument": opened})

    def _change(self, uri: str, version: int, text: str) -> None:
        whole: JsonObject = {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": [{"text": text}],
        }
        self._connection.notify("textDocument/didChange", whole)

    def _place(self, document: Document, at: At) -> JsonObject:
        uri = self.show(document)
        return {
            "textDocument": {"uri": uri},
            "position": {"line": at.line, "character": at.units[self.encoding]},
        }
