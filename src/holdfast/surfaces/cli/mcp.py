"""`holdfast mcp`: the tools of a session for clients of the Model Context Protocol.

Exit status: 0 the client ended it, 2 it was not understood.
"""

import os
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from fcntl import F_DUPFD_CLOEXEC, fcntl
from functools import partial
from importlib import import_module

import anyio

from holdfast.app.environment import MCP_TOKEN_VARIABLE
from holdfast.app.holdfast import Holdfast
from holdfast.app.spelling import advice
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver
from holdfast.surfaces.cli.opening import chosen
from holdfast.surfaces.cli.parsing import (
    TOOL_OPTIONS,
    After,
    Parser,
    UsageError,
    add_tool_options,
)
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.serving_words import LOOPBACK, address_in, token_from
from holdfast.surfaces.cli.stores import check_address

# A sibling surface is loaded by its name: neither knows the other.
_STDIO = "holdfast.surfaces.mcp.stdio"
_HTTP = "holdfast.surfaces.mcp.http_server"
_FREE = 3
_EXAMPLES = """\
examples:
  holdfast mcp                                      over standard input and output
  holdfast mcp serve --profile code --workspace .   the same, in other words
  holdfast mcp --from tools.py                      with tools of your own
  holdfast mcp --http 8765                          over HTTP, for clients on this machine
  holdfast mcp list                                 the servers, and how each one stands
  holdfast mcp add git -- uvx mcp-server-git        a server whose tools you want here
  holdfast mcp add far https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'
  holdfast mcp remove git                           take it out again
  holdfast mcp test git                             connect it, and list its tools
  holdfast mcp pin git                              accept its tools as they are now
"""

_Make = Callable[[Approver, Asker], Holdfast]


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "what", metavar="WHAT", nargs="?", default="serve", help=f"{', '.join(_ANSWERS)}"
    )
    parser.offer("what", _ANSWERS)
    parser.add_argument(
        "words", metavar="WORDS", nargs="*", default=[], help="a server, and what belongs to it"
    )
    add_tool_options(parser)
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="for add: a variable of the server's program; ${VARIABLE} is one of yours",
    )
    parser.add_argument(
        "--header",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="for add, also as 'NAME: VALUE': sent with every request; ${VARIABLE} is one of yours",
    )
    parser.add_argument("--replace", action="store_true", help="for add: instead of another one")
    parser.add_argument("--yes", action="store_true", help="for pin: do not ask; for scripts")
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.add_argument(
        "--http", metavar="[HOST:]PORT", help=f"over HTTP instead of a pipe; {LOOPBACK} by default"
    )
    parser.add_argument(
        "--token-file", metavar="FILE", help=f"what clients have to send; else {MCP_TOKEN_VARIABLE}"
    )
    parser.add_argument(
        "--expose",
        metavar="NAME",
        action="append",
        default=[],
        help="a host name that clients elsewhere use; needed for any HOST but this machine's own",
    )
    for name, after in _AFTER.items():
        parser.after[name] = after
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    answer = _ANSWERS.get(arguments.what)
    if answer is None:
        raise UsageError(
            f"mcp does not know {arguments.what!r}; {advice(arguments.what, _ANSWERS)}"
        )
    return answer(arguments, screen)


def _serve(arguments: Namespace, screen: Screen) -> int:
    if arguments.http is None and (arguments.token_file or arguments.expose):
        raise UsageError("--token-file and --expose are for --http; see holdfast mcp --help")
    if arguments.words:
        raise UsageError(f"mcp serve takes no {arguments.words[0]!r}; see holdfast mcp --help")
    make = _sessions(arguments, screen)
    if arguments.http is None:
        stdin = _taken_input()
        anyio.run(import_module(_STDIO).serve, make, stdin, screen.descriptor, screen.remark)
        return 0
    return _serve_http(arguments, screen, make)


def _serve_http(arguments: Namespace, screen: Screen, make: _Make) -> int:
    host, port = address_in(arguments.http)
    token = token_from(arguments.token_file, MCP_TOKEN_VARIABLE, screen.remark)
    try:
        server = import_module(_HTTP)
    except ImportError as problem:
        raise UsageError(
            f"--http needs a part ({problem}); run: pip install 'holdfast[serve]'"
        ) from None
    names = tuple(arguments.expose)
    if not server.is_loopback(host) and not names:
        raise UsageError(
            f"--http {arguments.http}: {host} can be reached from elsewhere; name who may come with"
            " --expose HOSTNAME, and put TLS in front of it"
        )
    listening = server.Listening(host=host, port=port, names=names, token=token)
    try:
        anyio.run(partial(server.serve, make, listening, screen.remark))
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"--http {arguments.http}: {reason}; choose another port") from None
    return 0


def _sessions(arguments: Namespace, screen: Screen) -> _Make:
    opened = chosen(arguments, screen)
    check_address(opened.configuration.settings)

    def make(approver: Approver, person: Asker) -> Holdfast:
        return Holdfast(
            tools=opened.tools,
            profile=opened.profile,
            workspace=arguments.workspace,
            configuration=opened.configuration,
            approver=approver,
            person=person,
            server_patience=0.0,  # a client that waits for one server waits for every tool
            **opened.sources,
        )

    return make


def _taken_input() -> int:
    """Standard input for the protocol alone: what tools read there is empty."""
    try:
        ours = fcntl(0, F_DUPFD_CLOEXEC, _FREE)
    except OSError:
        raise UsageError(
            "standard input is closed; start it from a client, or use --http"
        ) from None
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    return ours


def _about_servers(function: str) -> Callable[[Namespace, Screen], int]:
    """Loaded by name: who serves needs none of it, and is started every time."""

    def answer(arguments: Namespace, screen: Screen) -> int:
        module, _, name = function.partition(":")
        found = getattr(import_module(f"holdfast.surfaces.cli.{module}"), name)
        return int(found(arguments, screen))

    return answer


_ASKING = frozenset({*TOOL_OPTIONS, "json", "help"})
_AFTER = {
    "serve": After(
        options=frozenset({*TOOL_OPTIONS, "http", "token_file", "expose", "help"}),
        says="Serve the tools over standard input and output, or over HTTP.",
    ),
    "list": After(
        options=_ASKING,
        says="Connect every configured server and say how it stands. Exit status 1: one is not"
        " there, or a tool of one is quarantined.",
    ),
    "add": After(
        options=frozenset({"env", "header", "replace", "json", "help"}),
        takes="NAME URL | NAME -- COMMAND ARGUMENTS...",
        says="Write a server into your mcp.json. Give options before the two hyphens.",
    ),
    "remove": After(
        options=frozenset({"workspace", "json", "help"}),
        takes="NAME",
        says="Take a server out of your mcp.json, and the table that says more about it.",
    ),
    "test": After(
        options=_ASKING,
        takes="NAME",
        says="Connect a server and show its tools, what it may reach and what is doubtful. Exit"
        " status 1: it is not there, or a tool of it is quarantined.",
    ),
    "pin": After(
        options=_ASKING | {"yes"},
        takes="NAME [TOOL]",
        says="Show what changed about a server's tools, and accept it. Exit status 3: it was not"
        " accepted.",
    ),
}
_ANSWERS: dict[str, Callable[[Namespace, Screen], int]] = {
    "serve": _serve,
    "list": _about_servers("mcp_servers:show_all"),
    "add": _about_servers("mcp_file:add"),
    "remove": _about_servers("mcp_file:remove"),
    "test": _about_servers("mcp_servers:test_one"),
    "pin": _about_servers("mcp_pin:pin_tools"),
}
