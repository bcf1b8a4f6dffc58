"""`holdfast mcp pin`: what changed about a server's tools, shown, and accepted if a person says so.

Exit status: 0 it was accepted, 2 there is no such thing or the server is not there, 3 nothing was
accepted.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial

import anyio

from holdfast.app.holdfast import Holdfast
from holdfast.app.spelling import nearest
from holdfast.contract.json_value import plain
from holdfast.sources.mcp.naming import alias_of
from holdfast.sources.mcp.pins import Quarantined
from holdfast.sources.mcp.states import ServerState
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.mcp_servers import named_server, session_with
from holdfast.surfaces.cli.opening import Chosen
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.person import agrees
from holdfast.surfaces.cli.screen import Screen

_REFUSED = 3


def pin_tools(arguments: Namespace, screen: Screen) -> int:
    """Show what changed, and accept it if a person says so."""
    opened, name = named_server(arguments, screen, takes_a_tool=True)
    wanted = arguments.words[1] if len(arguments.words) > 1 else None
    return anyio.run(partial(_pinned, opened, arguments, screen, name, wanted))


async def _pinned(
    opened: Chosen, arguments: Namespace, screen: Screen, name: str, wanted: str | None
) -> int:
    async with session_with(opened, arguments, [name]) as holdfast:
        (state,) = holdfast.servers
        if state.status != "connected":
            raise UsageError(f"{name} is {state.status}: {state.problem}; nothing was accepted")
        tool = None if wanted is None else _tool_of(state, wanted)
        something = _show_changes(state, tool, screen)
        agreed = (
            not something
            or arguments.yes
            or agrees(
                f"accept what {name} says of its tools?",
                screen,
                unasked="give --yes to accept it without being asked",
                otherwise="nothing was accepted",
            )
        )
        accepted = await _accepted(holdfast, state, tool) if agreed and something else ()
    if arguments.json:
        changed = [plain(one) for one in state.quarantined if tool in (None, one.tool)]
        screen.document({"server": name, "accepted": [*accepted], "changed": changed})
    elif agreed and something:
        screen.look.text(f"accepted {counted(len(accepted), 'tool')} of {printable(name)}")
    return 0 if agreed else _REFUSED


async def _accepted(holdfast: Holdfast, state: ServerState, tool: str | None) -> Sequence[str]:
    """What was shown is accepted, and nothing that came after it."""
    try:
        return await holdfast.pin(state.name, tool, seen=state.fingerprints)
    except LookupError as problem:
        listed = f"holdfast mcp test {state.name} lists what there is"
        raise UsageError(f"{problem}; {listed}") from None
    except OSError as problem:
        raise UsageError(
            f"it cannot be kept ({problem.strerror or problem}); nothing was accepted"
        ) from None


def _tool_of(state: ServerState, wanted: str) -> str:
    """The server's own name of a tool that is meant by that, by its name here or by a rule's."""
    for tool in state.tools:
        if wanted in (tool.name, tool.id, alias_of((state.name, tool.name))):
            return tool.name
    names = [tool.name for tool in state.tools]
    near = nearest(wanted, names)
    known = f"did you mean {near!r}?" if near else f"it has: {', '.join(names) or 'none'}"
    raise UsageError(
        f"the MCP server {state.name!r} has no tool {wanted!r}; {known}; nothing was accepted"
    )


def _show_changes(state: ServerState, tool: str | None, screen: Screen) -> bool:
    """To a person; programs read the same in the document. Gives whether there are any."""
    held = [one for one in state.quarantined if tool in (None, one.tool)]
    for (summary, diff), tools in _by_server(held).items():
        screen.remark(f"{', '.join(tools)}: {summary}")
        _show(diff)
    for one in held:
        if one.of_tool or not one.of_server:
            both = "its definition is another one, too" if one.of_server else one.summary
            screen.remark(f"{one.tool}: {both}")
            _show(one.of_tool)
    fresh = [one.name for one in state.tools if not one.pinned and tool in (None, one.name)]
    if fresh:
        screen.remark(f"accepted for the first time: {', '.join(map(printable, fresh))}")
    if not held and not fresh:
        screen.remark("nothing has changed since it was accepted")
    return bool(held or fresh)


def _by_server(held: Sequence[Quarantined]) -> dict[tuple[str, str], list[str]]:
    """The tools whose server is another one, by what is to be said of it: once for all of them."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in held:
        if one.of_server:
            found.setdefault((one.summary, one.of_server), []).append(one.tool)
    return found


def _show(diff: str) -> None:
    sys.stderr.writelines(f"{printable(line)}\n" for line in diff.splitlines())
