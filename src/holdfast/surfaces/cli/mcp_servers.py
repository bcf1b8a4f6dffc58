"""`holdfast mcp list` and `test`: the configured MCP servers, asked how they are.

Each of them connects, as a session would. Exit status: 0 all is well, 1 a server is not there or a
tool of it is quarantined.
"""

from argparse import Namespace
from collections.abc import Sequence

import anyio

from holdfast.app import servers
from holdfast.app.holdfast import Holdfast
from holdfast.app.requirement_tables import requirements_of
from holdfast.app.source_settings import McpSettings
from holdfast.app.spelling import advice
from holdfast.contract.json_value import plain
from holdfast.contract.requirements import NOTHING_REQUIRED, RequirementSet
from holdfast.sources.mcp.states import ServerState, ToolState
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.mcp_others import hint_at_others
from holdfast.surfaces.cli.needs import in_words
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen

_NOT_WELL = 1
_NONE = (
    "No MCP server is configured. Add one with: holdfast mcp add NAME -- COMMAND, or put an"
    " mcp.json with mcpServers beside your configuration."
)


def show_all(arguments: Namespace, screen: Screen) -> int:
    """All that are configured, and how each one stands."""
    if arguments.words:
        raise UsageError(f"mcp list takes no {arguments.words[0]!r}; one alone: holdfast mcp test")
    opened = chosen(arguments, screen)
    tables = opened.configuration.settings.mcp
    _note(opened, screen, *opened.configuration.server_notices)
    states = _asked(opened, arguments, list(tables)) if tables else ()
    if arguments.json:
        screen.document([_document(one, tables[one.name]) for one in states])
    elif not states:
        screen.look.text(_NONE)
        if (hint := hint_at_others(arguments.workspace)) is not None:
            screen.remark(hint)
    else:
        screen.look.table(
            ("NAME", "STATUS", "PROTOCOL", "TOOLS", "WHERE"),
            [_row(one) for one in states],
        )
        _remark(states, screen)
    is_read = not opened.configuration.unread
    are_well = all(one.status == "disabled" or _is_well(one) for one in states)
    return 0 if is_read and are_well else _NOT_WELL


def test_one(arguments: Namespace, screen: Screen) -> int:
    """Connect one, and show all that it says."""
    opened, name = named_server(arguments, screen)
    (state,) = _asked(opened, arguments, [name])
    table = opened.configuration.settings.mcp[name]
    if arguments.json:
        screen.document(_document(state, table))
    else:
        _show(state, table, screen)
    if state.status == "disabled":
        screen.remark(
            f"{name} is disabled; to enable it write disabled = false in [mcp.{name}], or take"
            ' "disabled", or "enabled": false, out of its entry in mcp.json'
        )
    return 0 if _is_well(state) else _NOT_WELL


def named_server(
    arguments: Namespace, screen: Screen, *, takes_a_tool: bool = False
) -> tuple[Chosen, str]:
    """What the command line stands for, and the server that it names."""
    words: Sequence[str] = arguments.words
    if not 1 <= len(words) <= 1 + takes_a_tool:
        more = " [TOOL]" if takes_a_tool else ""
        raise UsageError(f"which server? write: holdfast mcp {arguments.what} NAME{more}")
    opened = chosen(arguments, screen)
    known = opened.configuration.settings.mcp
    _note(opened, screen, words[0])
    if words[0] not in known:
        hint = advice(words[0], known) if known else _NONE
        theirs = hint_at_others(arguments.workspace, words[0])
        raise UsageError(f"there is no MCP server {words[0]!r}; {theirs or hint}")
    return opened, words[0]


def _note(opened: Chosen, screen: Screen, *names: str) -> None:
    """Say what is doubtful about how these are configured."""
    for name in names:
        for notice in opened.configuration.server_notices.get(name, ()):
            screen.remark(f"note: {notice}")


def session_with(opened: Chosen, arguments: Namespace, names: Sequence[str]) -> Holdfast:
    """A session that connects these servers."""
    return Holdfast(
        tools=opened.tools,
        profile=opened.profile,
        workspace=arguments.workspace,
        configuration=opened.configuration,
        servers=names,
    )


def _asked(opened: Chosen, arguments: Namespace, names: Sequence[str]) -> tuple[ServerState, ...]:
    async def ask() -> tuple[ServerState, ...]:
        async with session_with(opened, arguments, names) as holdfast:
            return holdfast.servers

    return anyio.run(ask)


def _is_well(state: ServerState) -> bool:
    return state.status == "connected" and not state.quarantined


def _requires(table: McpSettings) -> RequirementSet:
    return NOTHING_REQUIRED if table.requires is None else requirements_of(table.requires)


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
        "where": state.where,
        "requires": plain(_requires(table)),
        "tools": tools,
        "quarantined": [plain(one) for one in state.quarantined],
        "remarks": [*state.remarks],
    }


def _row(state: ServerState) -> tuple[str, ...]:
    return (
        printable(state.name),
        state.status,
        state.protocol_version or "-",
        _tools(state),
        printable(state.where),
    )


def _tools(state: ServerState) -> str:
    held = len(state.quarantined)
    return f"{len(state.tools)} ({held} held)" if held else str(len(state.tools))


def _show(state: ServerState, table: McpSettings, screen: Screen) -> None:
    look = screen.look
    look.heading(printable(state.name))
    says = " ".join(filter(None, (state.server_name, state.server_version)))
    look.fields(
        {
            "status": state.status,
            "where": printable(state.where),
            "may reach": printable(_reach(table)),
            "protocol": state.protocol_version or "-",
            "calls itself": printable(says) or "-",
        }
    )
    if state.tools:
        look.text("")
        held = {one.tool for one in state.quarantined}
        rows = [
            (one.id, _pinned(one, held), printable(one.definition.description or ""))
            for one in state.tools
        ]
        look.table(("TOOL", "PINNED", "DESCRIPTION"), rows)
    _remark((state,), screen)


def _reach(table: McpSettings) -> str:
    """What its program may reach; of one at an address only what calls of its tools require."""
    own = "its address" if table.url is not None else "the files it is started from"
    declared = in_words(_requires(table), "")
    return f"{own}, {declared}" if declared else f"{own} alone"


def _pinned(tool: ToolState, held: set[str]) -> str:
    if tool.name in held:
        return "changed"
    return "yes" if tool.pinned else "no"


def _remark(states: Sequence[ServerState], screen: Screen) -> None:
    for state in states:
        for remark in servers.remarks_on(state):
            screen.remark(remark)
