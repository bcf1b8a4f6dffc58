"""Language servers as one call asks them: files read within its reach, positions as people count.

It runs in the thread of a tool; servers are spoken with on the event loop.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from holdfast.contract.errors import (
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    ToolError,
)
from holdfast.contract.language_servers import MOST_FOUND, Diagnostic, Found, Spot, Symbol
from holdfast.contract.runtime import Runtime
from holdfast.execution.language_servers.answers import (
    RawSpot,
    RawSymbol,
    path_of,
    uri_of,
)
from holdfast.execution.language_servers.call_files import (
    LARGEST_DOCUMENT,
    LONGEST_LINE,
    CallFiles,
)
from holdfast.execution.language_servers.positions import (
    POSITION_ENCODINGS,
    PositionEncoding,
    units_before,
)
from holdfast.execution.language_servers.server import (
    At,
    Document,
    LanguageServer,
    ServerCommand,
)
from holdfast.execution.language_servers.session_servers import SessionServers, Starter
from holdfast.execution.language_servers.watching import look

_T = TypeVar("_T")


class CallServers:
    """What stands behind the port for one call."""

    def __init__(
        self, servers: SessionServers, runtime: Runtime, starter: Callable[[], Starter]
    ) -> None:
        self._servers = servers
        self._runtime = runtime
        self._starter = starter
        self._files = CallFiles(runtime, servers.workspace)

    def definition(self, path: str, line: int, column: int, /) -> Found[Spot]:
        """Where that is defined which stands at a place."""
        return self._spots("textDocument/definition", path, line, column)

    def references(self, path: str, line: int, column: int, /) -> Found[Spot]:
        """Every place that means the same, its definition included."""
        return self._spots("textDocument/references", path, line, column)

    def hover(self, path: str, line: int, column: int, /) -> str | None:
        """What the server says about a place; None: nothing."""
        document = self._document(path)
        at = self._at(document, line, column)
        return self._asked(document, lambda server: server.hover(document, at))[0]

    def diagnostics(self, path: str, /) -> Found[Diagnostic]:
        """What is wrong with a file."""
        document = self._document(path)
        raw, server = self._asked(document, lambda server: server.diagnostics(document))
        uri = uri_of(document.path)
        items = tuple(
            Diagnostic(
                severity=one.severity,
                message=one.message,
                spot=self._files.spot(RawSpot(uri, one.range), server.encoding),
                code=one.code,
                source=one.source,
            )
            for one in raw[:MOST_FOUND]
        )
        return Found(items, len(raw))

    def symbols(self, path: str, /) -> Found[Symbol]:
        """What a file defines, in its order."""
        document = self._document(path)
        raw, server = self._asked(document, lambda server: server.symbols(document))
        return self._symbols(raw, server.encoding)

    def workspace_symbols(self, query: str, path: str | None, /) -> Found[Symbol]:
        """What the workspace defines under such a name; a path says which server is asked."""
        document = None if path is None else self._document(path)
        raw, server = self._asked(document, lambda server: server.workspace_symbols(query))
        return self._symbols(raw, server.encoding)

    def _spots(self, method: str, path: str, line: int, column: int) -> Found[Spot]:
        document = self._document(path)
        at = self._at(document, line, column)
        raw, server = self._asked(document, lambda server: server.spots(method, document, at))
        unique = tuple(dict.fromkeys(raw))
        items = tuple(self._files.spot(one, server.encoding) for one in unique[:MOST_FOUND])
        return Found(items, len(unique))

    def _symbols(self, raw: tuple[RawSymbol, ...], encoding: PositionEncoding) -> Found[Symbol]:
        items = tuple(
            Symbol(
                name=one.name,
                kind=one.kind,
                spot=self._files.spot(one.spot, encoding),
                container=one.container,
            )
            for one in raw[:MOST_FOUND]
        )
        return Found(items, len(raw))

    def _asked(
        self, document: Document | None, question: Callable[[LanguageServer], Awaitable[_T]]
    ) -> tuple[_T, LanguageServer]:
        command = self._servers.command_for(None if document is None else document.path)
        changed, gone = self._other_documents(command, document)

        async def asked(server: LanguageServer) -> _T:
            for uri in gone:
                server.forget(uri)
            for one in changed:
                server.show(one)
            return await question(server)

        seen = look(self._runtime.fs, command.extensions, self._files.go_on)
        return self._runtime.wait(self._servers.ask(command, self._starter, seen, asked))

    def _other_documents(
        self, command: ServerCommand, asked: Document | None
    ) -> tuple[list[Document], list[str]]:
        """What the server sees as it was, as it is now; and what is gone."""
        documents: list[Document] = []
        gone: list[str] = []
        for uri in self._servers.shown(command):
            path = path_of(uri)
            if path is None or (asked is not None and path == asked.path):
                continue
            self._files.go_on()
            try:
                documents.append(Document(path, self._runtime.fs.read_text(path).text))
            except FileNotFound:
                gone.append(uri)
            except ToolError:
                continue  # not to be read any more: the server keeps what it was shown
        return documents, gone

    def _document(self, path: str) -> Document:
        facts = self._runtime.fs.stat(path)
        if facts.byte_count > LARGEST_DOCUMENT:
            raise OperationFailed(
                f"{path} has {facts.byte_count:,} bytes, and language servers are shown files of"
                f" at most {LARGEST_DOCUMENT:,}. Use grep to look into it."
            )
        text = self._runtime.fs.read_text(path).text
        self._servers.command_for(facts.path)
        place = facts.path
        if not place.startswith("/"):
            place = f"{self._servers.workspace}/{place}"
        self._files.know(place, text)
        return Document(place, text)

    def _at(self, document: Document, line: int, column: int) -> At:
        """A place of a file as servers count, counted here: the event loop has others to serve."""
        lines = self._files.know(document.path, document.text)
        if line > len(lines):
            raise InvalidArguments(
                f"Line {line} does not exist: the file has {len(lines)} lines.",
                field="line",
                expected=f"1 to {len(lines)}",
            )
        text = lines[line - 1]
        if column > len(text) + 1:
            raise InvalidArguments(
                f"Line {line} has no column {column}. It reads: {text[:LONGEST_LINE]}",
                field="column",
                expected=f"1 to {len(text) + 1}",
            )
        return At(line - 1, {one: units_before(text, column, one) for one in POSITION_ENCODINGS})
