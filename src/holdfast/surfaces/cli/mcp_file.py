"""`holdfast mcp add` and `remove`: the person's own file of servers, `mcp.json`.

What is written has the common form, so that other programs read it, too.
"""

from argparse import Namespace
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from holdfast.app.configuration import load_configuration
from holdfast.app.environment import variables
from holdfast.app.locations import CONFIG_NAME, HOME_VARIABLE, user_file
from holdfast.app.own_files import check_home
from holdfast.app.server_files import SERVERS_NAME, ServerFile
from holdfast.app.server_tables import take_table_out
from holdfast.contract.json_value import JsonObject
from holdfast.sources.mcp.reading import read_servers
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError, workspace_in
from holdfast.surfaces.cli.screen import Screen

_ADDRESSES = ("http://", "https://")
_ADD = "write: holdfast mcp add NAME URL, or: holdfast mcp add NAME -- COMMAND ARGUMENTS..."


def add(arguments: Namespace, screen: Screen) -> int:
    """Write a server down."""
    words: list[str] = arguments.words
    if len(words) < 2:
        raise UsageError(f"which server? {_ADD}")
    name, first, *rest = words
    entry: JsonObject
    if first.startswith(_ADDRESSES):
        if rest:
            raise UsageError(f"{first} is an address, and {rest[0]!r} is too much; {_ADD}")
        entry = {"type": "http", "url": first}
    else:
        entry = {"command": first, "args": [*rest]}
    for key, pairs, belongs in (
        ("env", arguments.env, "command"),
        ("headers", arguments.header, "url"),
    ):
        if pairs and belongs not in entry:
            raise UsageError(f"--{key.rstrip('s')} is for a server with a {belongs}; {_ADD}")
        if pairs:
            entry[key] = dict(_pairs(pairs, key))
    read = read_servers({"mcpServers": {name: entry}})
    if read.problems:
        raise UsageError(f"{read.problems[0]}; nothing was changed")
    file = _own_file()
    with _written(file):
        done = file.put(name, entry, instead=arguments.replace)
    if not done:
        raise UsageError(
            f"{file.path} has a server {name!r}; nothing was changed; give --replace to have this"
            " one instead"
        )
    return _told(arguments, screen, f"added {name} to {file.path}", name, file)


def remove(arguments: Namespace, screen: Screen) -> int:
    """Take a server out of the file."""
    if len(arguments.words) != 1:
        raise UsageError("which server? write: holdfast mcp remove NAME")
    (name,) = arguments.words
    file = _own_file()
    with _written(file):
        was = file.take_out(name)
    known = load_configuration(workspace_in(arguments)).settings.mcp
    where = [str(file.path)] if was else []
    if name not in known and _took_its_table_out(file, name):
        where.append(f"its table [mcp.{name}] from {file.path.with_name(CONFIG_NAME)}")
    if not where:
        hint = (
            f"it is configured elsewhere: look for [mcp.{name}]"
            if name in known
            else "holdfast mcp list shows which there are"
        )
        raise UsageError(f"{file.path} has no server {name!r}; {hint}")
    if name in known:
        screen.remark(f"the configuration has a server {name!r} still: look for [mcp.{name}]")
    return _told(arguments, screen, f"removed {name} from {', and '.join(where)}", None, file)


def _took_its_table_out(file: ServerFile, name: str) -> bool:
    """What a table says of a server that is gone says nothing."""
    config = ServerFile(file.path.with_name(CONFIG_NAME))
    with _written(config):
        return take_table_out(config.path, name)


def _own_file() -> ServerFile:
    check_home(variables())
    own = user_file(variables())
    if own is None:
        raise UsageError(f"there is no home to keep it in; set HOME or {HOME_VARIABLE}")
    return ServerFile(own.with_name(SERVERS_NAME))


@contextmanager
def _written(file: ServerFile) -> Generator[None]:
    try:
        yield
    except OSError as problem:
        raise UsageError(
            f"{file.path}: it cannot be written ({problem.strerror or problem}); nothing was"
            " changed; make its folder writable for you"
        ) from None


def _pairs(given: Iterable[str], key: str) -> Generator[tuple[str, str]]:
    for pair in given:
        name, found, value = pair.partition("=")
        if not found or not name:
            raise UsageError(f"{pair!r} is no {key}; write NAME=VALUE, or NAME=${{VARIABLE}}")
        yield name, value


def _told(
    arguments: Namespace, screen: Screen, said: str, name: str | None, file: ServerFile
) -> int:
    if arguments.json:
        screen.document({"file": str(file.path), "done": said})
        return 0
    screen.look.text(printable(said))
    if name is not None:
        screen.look.text(f"next: holdfast mcp test {printable(name)}")
    return 0
