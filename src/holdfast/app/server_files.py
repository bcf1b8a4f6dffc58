"""Servers as other programs keep them: `mcp.json` beside the configuration, as tables of it.

The file is read as it is, so that one can be copied from elsewhere; what it says of a server is
what `[mcp.NAME]` says, and such a table adds to it. It is JSON of others: what cannot be used of it
is told and left out, and the rest counts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from holdfast.app.commented_json import NoJson, read_json
from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import locked, read_bytes, replace
from holdfast.app.toml_text import decode_text, read_text
from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.sources.mcp import reading
from holdfast.sources.mcp.setup import CALL_SECONDS, STARTUP_SECONDS, ServerSetup

SERVERS_NAME = "mcp.json"


class FoundServers(NamedTuple):
    """What a file of servers says."""

    table: Table
    """As a layer of the configuration."""
    notices: tuple[str, ...] = ()
    """What is wrong with the file."""
    file: Path | None = None
    """None: there is none."""
    unread: Path | None = None
    """The file, where it cannot be read: its servers are left out."""
    about: Mapping[str, tuple[str, ...]] = {}
    """By server, what is doubtful about it, or why it was left out."""


def find_servers(path: Path | None, copy_of: Path | None = None) -> FoundServers:
    """Read the file, if there is one. One that cannot be read stops nothing: a notice says so."""
    if path is None:
        return FoundServers({})
    named = copy_of or path
    try:
        text = read_text(path, copy_of)
        if text is None:
            return FoundServers({})
        document, _ = read_json(text)
    except NoJson as problem:
        said = f"{named}: it is no JSON ({problem}), and its servers are left out; correct it there"
        return FoundServers({}, (said,), unread=named)
    except ConfigurationError as problem:
        return FoundServers({}, (f"{problem}; until then its servers are left out",), unread=named)
    read = reading.read_servers(document)
    about = {name: tuple(f"{named}: {one}" for one in said) for name, said in read.about.items()}
    notices = () if read.about else tuple(f"{named}: {said}" for said in read.problems)
    tables: Table = {setup.name: table_of(setup) for setup in read.setups}
    return FoundServers({"mcp": tables} if tables else {}, notices, named, about=about)


def table_of(setup: ServerSetup) -> Table:
    """What is said of a server, as a table; what says nothing is left out."""
    table: Table = {
        "command": list(setup.argv),
        "url": setup.url,
        "env": dict(setup.env),
        "cwd": setup.cwd,
        "headers": dict(setup.headers),
        "disabled": setup.disabled,
        "allow": None if setup.allow is None else list(setup.allow),
        "deny": list(setup.deny),
    }
    if setup.seconds != CALL_SECONDS:
        table["seconds"] = setup.seconds
    if setup.startup_seconds != STARTUP_SECONDS:
        table["startup_seconds"] = setup.startup_seconds
    return {key: value for key, value in table.items() if value or (key == "allow" and value == [])}


class ServerFile:
    """The person's own file of servers, as it is written: what others keep in it stays."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, name: str, entry: JsonObject, *, instead: bool) -> bool:
        """Write a server down; False, and nothing is changed, where it is there already and this
        is not to stand in its place. OSError; ConfigurationError for a file that is no JSON, or
        that has what would be lost."""
        with locked(self.path):
            document, servers = self._read()
            if name in servers and not instead:
                return False
            servers[name] = entry
            self._write(document)
            return True

    def take_out(self, name: str) -> bool:
        """Whether it was in it."""
        with locked(self.path):
            document, servers = self._read()
            if servers.pop(name, None) is None:
                return False
            self._write(document)
            return True

    def _read(self) -> tuple[JsonObject, JsonObject]:
        content = read_bytes(self.path)
        try:
            text = "{}" if content is None else decode_text(content, self.path)
            document, is_plain = read_json(text)
        except NoJson as problem:
            raise ConfigurationError(
                f"{self.path}: it is no JSON ({problem}); nothing was changed; correct it there"
            ) from None
        if not is_plain:
            raise ConfigurationError(
                f"{self.path}: it has comments or last commas, which would be lost if it was"
                " written anew; nothing was changed; edit it there, or take them out"
            )
        if not isinstance(document, dict):
            raise ConfigurationError(f"{self.path}: it is no object; nothing was changed")
        key = next((one for one in reading.TOP_KEYS if one in document), reading.TOP_KEYS[0])
        servers = document.setdefault(key, {})
        if not isinstance(servers, dict):
            raise ConfigurationError(f"{self.path}: {key} is no object; nothing was changed")
        return document, servers

    def _write(self, document: JsonObject) -> None:
        replace(self.path, msgspec.json.format(encode_json(document), indent=2) + b"\n")
