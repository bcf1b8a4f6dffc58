"""What a server sees of documents: opened, closed once, and no more of them than it may hold."""

from typing import Any, get_args

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.execution.language_servers.connection import Connection
from holdfast.execution.language_servers.frames import FrameReader, framed
from holdfast.execution.language_servers.positions import PositionEncoding
from holdfast.execution.language_servers.server import (
    MOST_DOCUMENTS,
    At,
    Document,
    LanguageServer,
    ServerCommand,
)


class Told:
    """What a server was told of documents, in order."""

    def __init__(self) -> None:
        self._reader = FrameReader()
        self.documents: list[tuple[str, str]] = []

    def take(self, content: bytes) -> None:
        messages: list[Any] = self._reader.feed(content)
        for one in messages:
            name = one["params"]["textDocument"]["uri"].rpartition("/")[2]
            self.documents.append((one["method"].rpartition("/")[2], name))


def begun() -> tuple[LanguageServer, Connection, Told]:
    connection, told = Connection("odd"), Told()
    connection.sends_by(told.take)
    return LanguageServer(ServerCommand("odd", ("odd",), (".odd",)), connection), connection, told


def publishes(connection: Connection, uri: str, version: int | None = None) -> None:
    told: JsonObject = {"uri": uri, "diagnostics": []}
    if version is not None:
        told["version"] = version
    connection.heard(framed({"method": "textDocument/publishDiagnostics", "params": told}))


@pytest.mark.anyio
@pytest.mark.parametrize("encoding", get_args(PositionEncoding))
async def test_a_place_is_sent_as_whoever_asks_counted_it(encoding: PositionEncoding) -> None:
    """Nothing is counted here: the event loop would stand still over a long line."""
    connection, positions = Connection("odd"), list[JsonObject]()
    server = LanguageServer(ServerCommand("odd", ("odd",), (".odd",)), connection)
    reader = FrameReader()

    def take(content: bytes) -> None:
        message: Any
        for message in reader.feed(content):
            if message["method"] == "initialize":
                agreed: JsonObject = {"capabilities": {"positionEncoding": encoding}}
                connection.heard(framed({"id": message["id"], "result": agreed}))
            if message["method"] == "textDocument/hover":
                positions.append(message["params"]["position"])
                connection.heard(framed({"id": message["id"], "result": None}))

    connection.sends_by(take)
    await server.begin("/w")
    counted: dict[PositionEncoding, int] = {"utf-16": 16, "utf-8": 8, "utf-32": 32}
    await server.hover(Document("/w/a", ""), At(5, counted))
    assert positions == [{"line": 5, "character": counted[encoding]}]


@pytest.mark.parametrize("version", [None, 1])
def test_what_was_said_of_a_text_counts_until_another_is_shown(version: int | None) -> None:
    server, connection, _ = begun()
    publishes(connection, "file:///w/a", version)
    uri = server.show(Document("/w/a", "old"))
    assert connection.published == {}  # said before it was opened
    publishes(connection, uri, version)
    server.show(Document("/w/a", "old"))
    assert [*connection.published] == [uri]
    server.show(Document("/w/a", "new"))
    assert connection.published == {}


def test_a_document_that_is_gone_is_closed_once() -> None:
    server, _, told = begun()
    uri = server.show(Document("/w/a", "text"))
    server.forget(uri)
    server.forget(uri)  # by another call, which saw the same
    assert told.documents == [("didOpen", "a"), ("didClose", "a")]
    assert server.shown() == ()


def test_the_document_shown_longest_ago_is_closed_when_there_are_too_many() -> None:
    server, connection, told = begun()
    for number in range(MOST_DOCUMENTS):
        server.show(Document(f"/w/{number}", "text"))
    server.show(Document("/w/0", "text"))
    publishes(connection, "file:///w/1")
    del told.documents[:]
    server.show(Document("/w/new", "text"))
    assert told.documents == [("didOpen", "new"), ("didClose", "1")]
    assert connection.published == {}
    assert len(server.shown()) == MOST_DOCUMENTS
    server.show(Document("/w/1", "text"))
    assert told.documents[2:] == [("didOpen", "1"), ("didClose", "2")]
