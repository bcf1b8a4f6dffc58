"""`[mcp.NAME]` tables that name no server: told of and left out, and taken out with their server.

Such a table says more about a server of `mcp.json`; without that one it says nothing. A person's
file is changed only where what is left of it means exactly what it meant before.
"""

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from holdfast.app.keys import Table
from holdfast.app.source_settings import McpSettings
from holdfast.app.state_file import locked, read_bytes, replace

_HEADER = re.compile(r"[ \t]*\[")
_KEY = "mcp"


def names_a_server(table: McpSettings) -> bool:
    """Whether there is anything to start or to reach."""
    return bool(table.command) or table.url is not None


def notice_of(name: str, origin: str) -> str:
    """What to say of a table that is left out."""
    return (
        f"{origin}: the table [mcp.{name}] names no server and is left out; name one with:"
        f" holdfast mcp add {name} URL (or -- COMMAND), or remove the table"
    )


def take_table_out(path: Path, name: str) -> bool:
    """Take a server's table out of a file; False: it is not there, or cannot be had out safely.

    OSError: the file cannot be written.
    """
    whole = path.resolve()  # the file of a person who keeps it elsewhere stays a link
    if not whole.exists():
        return False
    with locked(whole):
        text = text_without((read_bytes(whole) or b"").decode(), name)
        if text is None:
            return False
        mode = whole.stat().st_mode
        replace(whole, text.encode())
        whole.chmod(stat.S_IMODE(mode))
        return True


def text_without(text: str, name: str) -> str | None:
    """The text without a server's table; None where that would change anything else."""
    before = _parsed(text)
    if before is None or name not in _servers(before):
        return None
    kept = "".join(_kept(text, name))
    wanted = _servers(before)
    del wanted[name]
    if not wanted:
        del before[_KEY]
    after = _parsed(kept)
    if after is not None and after.get(_KEY) == {}:
        del after[_KEY]
    return kept if after == before else None


def _kept(text: str, name: str) -> list[str]:
    """All lines but those of the server's sections."""
    kept: list[str] = []
    leaving = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            header = _parsed(line) or {}
            leaving = header.keys() == {_KEY} and _servers(header).keys() == {name}
        if not leaving:
            kept.append(line)
    return kept


def _servers(table: Mapping[str, object]) -> Table:
    found = table.get(_KEY)
    return cast("Table", found) if isinstance(found, dict) else {}


def _parsed(text: str) -> Table | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
