"""`holdfast mcp add` and `remove`: the person's own file of servers, `mcp.json`.

What is written has the common form, so that other programs read it, too.
"""

import os
import re
from argparse import Namespace
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import join
from urllib.parse import urlsplit

from holdfast.app.configuration import load_configuration
from holdfast.app.environment import variables
from holdfast.app.locations import CONFIG_NAME, HOME_VARIABLE, state_home, user_file
from holdfast.app.own_files import check_home
from holdfast.app.pins import PinFile
from holdfast.app.program_doubts import missing_scripts, program_doubt
from holdfast.app.server_files import SERVERS_NAME, ServerFile
from holdfast.app.server_tables import take_table_out
from holdfast.contract.json_value import JsonObject
from holdfast.sources.mcp.door import INSTALL, NO_CLIENT, has_client
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.reading import read_servers
from holdfast.sources.mcp.setup import BadSetup, ServerSetup, host_of
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError, workspace_in
from holdfast.surfaces.cli.screen import Screen

_ADDRESSES = ("http://", "https://")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""What can be written in a table's head, at a command line and in a rule without any quotes."""
_HEADER = re.compile(r"([^=:\s]+)(?:=|:\s*)(.*)", re.DOTALL)
_ADD = "write: holdfast mcp add NAME URL, or: holdfast mcp add NAME -- COMMAND ARGUMENTS..."


def add(arguments: Namespace, screen: Screen) -> int:
    """Write a server down."""
    words: list[str] = arguments.words
    if len(words) < 2:
        raise UsageError(f"which server? {_ADD}")
    name, first, *rest = words
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a server's name; take up to 64 letters, digits, hyphens and"
            " underscores, and begin with a letter or digit"
        )
    entry = _entry(first, rest, arguments, screen)
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
    (setup,) = read.setups
    for note in _notes(setup):
        screen.remark(f"note: {note}")
    return _told(arguments, screen, f"added {name} to {file.path}", name, file)


def _entry(first: str, rest: list[str], arguments: Namespace, screen: Screen) -> JsonObject:
    """What the words say of a server."""
    if first.lower().startswith(_ADDRESSES):
        if rest:
            raise UsageError(f"{first} is an address, and {rest[0]!r} is too much; {_ADD}")
        return {"type": "http", "url": first}
    if "://" in first:
        raise UsageError(
            f"{first} is an address, and servers are reached by http:// and https:// alone;"
            " nothing was changed; correct it"
        )
    doubt = None if arguments.set_apart else program_doubt(first, variables())
    if doubt is not None:
        meant = join(("holdfast", "mcp", "add", arguments.words[0], "--", first, *rest))
        raise UsageError(
            f"{doubt.what}, and {first!r} is no address; nothing was changed; write https://... for"
            f" an address, or to have the program all the same: {meant}"
        )
    command, *args = _from_anywhere(first, rest, screen)
    return {"command": command, "args": [*args]}


def _notes(setup: ServerSetup) -> Iterator[str]:
    """What will keep a server that was written down from working, as far as it is seen here."""
    if not has_client():
        yield f"{NO_CLIENT}; {INSTALL}"
    try:
        meant = expanded(setup, variables())
    except BadSetup:
        return  # a variable may be set where the server is used
    if meant.url is not None:
        try:
            host_of(meant.url, setup.name)
        except BadSetup as problem:
            yield str(problem)
            return
        if "@" in urlsplit(meant.url).netloc:
            yield (
                "credentials in an address are seen by everybody who sees it; give them as a header"
                " instead: --header 'Authorization: Bearer ${TOKEN}'"
            )
        return
    doubt = program_doubt(meant.argv[0], variables())
    if doubt is not None:
        yield doubt.text
    for script in missing_scripts(meant.argv):
        yield f"there is no file {script!r}; a server starts in the workspace: name its whole path"


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
    else:
        _remember(name, screen)
    return _told(arguments, screen, f"removed {name} from {', and '.join(where)}", None, file)


def _remember(name: str, screen: Screen) -> None:
    """Pins outlast their server: another one by its name has to be accepted by a person."""
    try:
        pins = PinFile(state_home(variables())).load()
    except (OSError, ValueError):
        return
    accepted = sum(1 for pin in pins if pin.server == name)
    if accepted:
        screen.remark(
            f"note: {counted(accepted, 'tool')} of {name} stay accepted as they were; if another"
            f" server gets its name, accept that one with: holdfast mcp pin {name}"
        )


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


def _from_anywhere(program: str, args: Iterable[str], screen: Screen) -> Generator[str]:
    """The words, with the files among them named in full: a server starts in the workspace."""
    yield _in_full(program, screen) if "/" in program else program
    for word in args:
        yield _in_full(word, screen)


def _in_full(word: str, screen: Screen) -> str:
    path = Path(word)
    try:
        is_meant = not path.is_absolute() and path.is_file()
    except (OSError, ValueError):
        return word
    if not is_meant:
        return word
    full = os.path.abspath(path)  # noqa: PTH100 - a link is not followed, and dots are taken out
    screen.remark(f"note: {word} is written as {full}, so that it is found from anywhere")
    return full


def _pairs(given: Iterable[str], key: str) -> Generator[tuple[str, str]]:
    for pair in given:
        parts = header_of(pair) if key == "headers" else _variable(pair)
        if parts is None:
            forms = "NAME=VALUE, NAME: VALUE" if key == "headers" else "NAME=VALUE"
            raise UsageError(f"{pair!r} is no {key}; write {forms}, or NAME=${{VARIABLE}}")
        yield parts


def header_of(text: str) -> tuple[str, str] | None:
    """Name and value, written as others write a header or as we write a variable; None."""
    parts = _HEADER.fullmatch(text)
    return None if parts is None else (parts[1], parts[2])


def _variable(text: str) -> tuple[str, str] | None:
    name, found, value = text.partition("=")
    return (name, value) if found and name else None


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
