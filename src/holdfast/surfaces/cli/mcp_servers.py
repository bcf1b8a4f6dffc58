"""`holdfast mcp list`, `test` and `pin`: the configured MCP servers, asked how they are.

Each of them connects, as a session would. Exit status: 0 all is well, 1 a server is not there, 3
nothing was accepted.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial

import anyio

from holdfast.app.holdfast import Holdfast
from holdfast.app.servers import remarks_on
from holdfast.app.source_settings import McpSettings
from holdfast.app.spelling import advice
from holdfast.contract.json_value import plain
from holdfast.sources.mcp.states import ServerState
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.person import agrees
from holdfast.surfaces.cli.screen import Screen

_NOT_THERE = 1
_REFUSED = 3
_NONE = (
    "No MCP server is configured. Add one with: holdfast mcp add NAME -- COMMAND, or put an"
    " mcp.json with mcpServers beside your configuration."
)


def show_all(arguments: Namespace, screen: Screen) -> int:
    """All that are configured, and how each one stands."""
    opened = chosen(arguments, screen)
    tables = opened.configuration.settings.mcp
    _note(opened, screen, *opened.configuration.server_notices)
    states = _asked(opened, arguments, list(tables)) if tables else ()
    if arguments.json:
        screen.document([_document(one, tables[one.name]) for one in states])
        return 0
    if not states:
        screen.look.text(_NONE)
        return 0
    rows = [
        (
            printable(one.name),
            one.status,
            one.protocol_version or "-",
            str(len(one.tools)),
            printable(_where(tables[one.name])),
        )
        for one in states
    ]
    screen.look.table(("NAME", "STATUS", "PROTOCOL", "TOOLS", "WHERE"), rows)
    _remark(states, screen)
    return 0 if all(one.status in ("connected", "disabled") for one in states) else _NOT_THERE


def test_one(arguments: Namespace, screen: Screen) -> int:
    """Connect one, and show all that it says."""
    opened, name = _named(arguments, screen)
    (state,) = _asked(opened, arguments, [name])
    table = opened.configuration.settings.mcp[name]
    if arguments.json:
        screen.document(_document(state, table))
    else:
        _show(state, table, screen)
    return 0 if state.status == "connected" else _NOT_THERE


def pin_tools(arguments: Namespace, screen: Screen) -> int:
    """Show what changed, and accept it if a person says so."""
    opened, name = _named(arguments, screen, takes_a_tool=True)
    tool = arguments.words[1] if len(arguments.words) > 1 else None
    return anyio.run(partial(_pinned, opened, arguments, screen, name, tool))


async def _pinned(
    opened: Chosen, arguments: Namespace, screen: Screen, name: str, tool: str | None
) -> int:
    async with _session(opened, arguments, [name]) as holdfast:
        (state,) = holdfast.servers
        if state.status != "connected":
            raise UsageError(f"{name} is {state.status}: {state.problem}; nothing was accepted")
        _show_changes(state, tool, screen)
        agreed = arguments.yes or agrees(
            f"accept what {name} says of its tools?",
            screen,
            unasked="give --yes to accept it without being asked",
            otherwise="nothing was accepted",
        )
        if not agreed:
            return _REFUSED
        try:
            accepted = await holdfast.pin(name, tool, seen=state.fingerprints)
        except LookupError as problem:
            raise UsageError(f"{problem}; holdfast mcp test {name} lists what there is") from None
        except OSError as problem:
            raise UsageError(
                f"it cannot be kept ({problem.strerror or problem}); nothing was accepted"
            ) from None
    if arguments.json:
        screen.document({"server": name, "accepted": [*accepted]})
    else:
        screen.look.text(f"accepted {counted(len(accepted), 'tool')} of {printable(name)}")
    return 0


def _show_changes(state: ServerState, tool: str | None, screen: Screen) -> None:
    """To a person; whoever reads JSON is told of what was accepted alone."""
    held = [one for one in state.quarantined if tool in (None, one.tool)]
    for one in held:
        screen.remark(f"{one.tool}: {one.summary}")
        sys.stderr.writelines(f"{printable(line)}\n" for line in one.diff.splitlines())
    fresh = [one.name for one in state.tools if not one.pinned and tool in (None, one.name)]
    if fresh:
        screen.remark(f"accepted for the first time: {', '.join(map(printable, fresh))}")
    if not held and not fresh:
        screen.remark("nothing has changed since it was accepted")


def _named(
    arguments: Namespace, screen: Screen, *, takes_a_tool: bool = False
) -> tuple[Chosen, str]:
    words: Sequence[str] = arguments.words
    if not 1 <= len(words) <= 1 + takes_a_tool:
        more = " [TOOL]" if takes_a_tool else ""
        raise UsageError(f"which server? write: holdfast mcp {arguments.what} NAME{more}")
    opened = chosen(arguments, screen)
    known = opened.configuration.settings.mcp
    _note(opened, screen, words[0])
    if words[0] not in known:
        hint = advice(words[0], known) if known else _NONE
        raise UsageError(f"there is no MCP server {words[0]!r}; {hint}")
    return opened, words[0]


def _note(opened: Chosen, screen: Screen, *names: str) -> None:
    """Say what is doubtful about how these are configured."""
    for name in names:
        for notice in opened.configuration.server_notices.get(name, ()):
            screen.remark(f"note: {notice}")


def _session(opened: Chosen, arguments: Namespace, names: Sequence[str]) -> Holdfast:
    return Holdfast(
        tools=opened.tools,
        profile=opened.profile,
        workspace=arguments.workspace,
        configuration=opened.configuration,
        servers=names,
    )


def _asked(opened: Chosen, arguments: Namespace, names: Sequence[str]) -> tuple[ServerState, ...]:
    async def ask() -> tuple[ServerState, ...]:
        async with _session(opened, arguments, names) as holdfast:
            return holdfast.servers

    return anyio.run(ask)


def _where(table: McpSettings) -> str:
    """The program's name or the address, without what may be secret: arguments and queries."""
    if table.command:
        return table.command[0]
    address = (table.url or "").partition("?")[0]
    scheme, found, rest = address.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"


def _document(state: ServerState, table: McpSettings) -> dict[str, object]:
    tools = [
        {"id": one.id, "name": one.name, "pinned": one.pinned, "definition": plain(one.definition)}
        for one in state.tools
    ]
    return {
        "name": state.name,
        "status": state.status,
        "problem": state.problem,
        "protocol_version": state.protocol_version,
        "server": {"name": state.server_name, "version": state.server_version},
        "where": _where(table),
        "tools": tools,
        "quarantined": [plain(one) for one in state.quarantined],
        "remarks": [*state.remarks],
    }


def _show(state: ServerState, table: McpSettings, screen: Screen) -> None:
    look = screen.look
    look.heading(printable(state.name))
    says = " ".join(filter(None, (state.server_name, state.server_version)))
    look.fields(
        {
            "status": state.status,
            "where": printable(_where(table)),
            "protocol": state.protocol_version or "-",
            "calls itself": printable(says) or "-",
        }
    )
    if state.tools:
        look.text("")
        rows = [
            (one.id, "yes" if one.pinned else "no", printable(one.definition.description or ""))
            for one in state.tools
        ]
        look.table(("TOOL", "PINNED", "DESCRIPTION"), rows)
    _remark((state,), screen)


def _remark(states: Sequence[ServerState], screen: Screen) -> None:
    for state in states:
        for remark in remarks_on(state):
            screen.remark(remark)
