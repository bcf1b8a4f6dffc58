"""`holdfast tools`: what can be called, as a list or one tool in full."""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence

import anyio

from holdfast.agent.context.budget import schema_tokens
from holdfast.agent.outfit import model_tool
from holdfast.app.holdfast import Holdfast
from holdfast.app.server_absence import Absent, held_in
from holdfast.app.spelling import advice
from holdfast.contract.json_value import JsonValue, encode_json, plain
from holdfast.contract.tool import Tool
from holdfast.runtime.definitions import full_definition, published_results
from holdfast.sources.mcp.states import ServerState
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_tool_options
from holdfast.surfaces.cli.screen import Screen, indented
from holdfast.surfaces.cli.tool_names import name_here

_EXAMPLES = """\
examples:
  holdfast tools                          what an agent of the profile code has
  holdfast tools --profile readonly       what one has that changes nothing
  holdfast tools read                     one in full: its arguments and what it may reach
  holdfast tools --from my_tools.py       with tools of your own
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="show this tool in full")
    add_tool_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    opened = chosen(arguments, screen)
    holdfast = Holdfast(
        tools=opened.tools,
        profile=opened.profile,
        workspace=None if arguments.agent is None else arguments.workspace,
        configuration=opened.configuration,
        **opened.sources,
    )
    doubts, servers = (
        anyio.run(_connected, holdfast) if holdfast.waits_for_servers else ((), holdfast.servers)
    )
    if arguments.name is not None:
        _show_one(_named(arguments.name, opened, holdfast, servers), holdfast, screen, arguments)
        return 0
    for remark in doubts:
        screen.remark(remark)
    if not holdfast.tools:
        screen.remark(f"the profile {opened.profile!r} hides every tool; {opened.other_profile}")
    if arguments.json:
        screen.document([_definition(tool, holdfast) for tool in holdfast.tools])
    elif holdfast.tools:
        _list(holdfast.tools, screen)
    else:
        screen.look.text("No tool is visible.")
    return 0


def _list(tools: Sequence[Tool], screen: Screen) -> None:
    rows = [
        (one.name, _flags(one), _limits(one), f"{_tokens(one):,}", _first_line(one))
        for one in tools
    ]
    screen.look.table(("NAME", "FLAGS", "LIMITS", "TOKENS", "DESCRIPTION"), rows)


async def _connected(holdfast: Holdfast) -> tuple[tuple[str, ...], tuple[ServerState, ...]]:
    """The tools of servers are known once they have been asked; gives what is doubtful of them,
    and how they stood."""
    async with holdfast:
        return holdfast.remarks_on_sources, holdfast.servers


def _named(name: str, opened: Chosen, holdfast: Holdfast, servers: tuple[ServerState, ...]) -> Tool:
    meant = name_here(name, holdfast.tools, servers)
    for tool in holdfast.tools:
        if tool.name == meant:
            return tool
    if opened.hides(name):
        raise UsageError(
            f"the profile {opened.profile!r} hides the tool {name!r}; {opened.other_profile}"
        )
    if (elsewhere := opened.elsewhere(name)) is not None:
        raise UsageError(elsewhere)
    away = Absent(held_in(servers), [one.name for one in servers], {}, lambda: servers).get(meant)
    if away is not None:
        raise UsageError(away.message)
    known = (tool.name for tool in holdfast.tools)
    raise UsageError(f"there is no tool {name!r}; {advice(name, known)}")


def _show_one(tool: Tool, holdfast: Holdfast, screen: Screen, arguments: Namespace) -> None:
    if arguments.json:
        screen.document(_definition(tool, holdfast))
        return
    look = screen.look
    look.heading(tool.name)
    look.text(printable(tool.description or "(no description)"))
    look.text("")
    look.fields(
        {
            "flags": _flags(tool) or "-",
            "limits": _limits(tool),
            "tokens": f"about {_tokens(tool):,} of every request to a model that is offered it",
            "permission": _permission(tool),
            "requires": _requires(tool),
        }
    )
    look.text("\narguments")
    look.json(indented(encode_json(tool.input_schema)))
    if (results := published_results(tool)) is not None:
        look.text("\nresult")
        look.json(indented(encode_json(results)))
    for warning in holdfast.remarks_on(tool):
        look.text(f"\nwarning: {printable(warning)}")


def _definition(tool: Tool, holdfast: Holdfast) -> dict[str, object]:
    """A tool as plain data: everything but its body, and what is doubtful about it."""
    told = {
        "seconds": _seconds(tool),
        "schema_tokens": _tokens(tool),
        "warnings": holdfast.remarks_on(tool),
    }
    return {**full_definition(tool), **told, "permission": _permission(tool)}


def _permission(tool: Tool) -> str:
    """What holds where no rule speaks of a tool. A server's word about its own does not count."""
    if tool.ownership != "mcp":
        return tool.permission_policy
    return f"asked until a rule allows it, by the name {tool.alias}"


def _flags(tool: Tool) -> str:
    flags = ["read-only" if tool.read_only else "writes"]
    if tool.destructive:
        flags.append("destructive")
    if tool.permission_policy == "always_ask":
        flags.append("asks")
    return ", ".join(flags)


def _seconds(tool: Tool) -> float | None:
    """How long a call really may take: the shorter of both clocks counts."""
    own = None if tool.alone is None else tool.alone.seconds
    return min((one for one in (tool.limits.wall_seconds, own) if one is not None), default=None)


def _tokens(tool: Tool) -> int:
    """What offering it costs, by estimate."""
    return schema_tokens(model_tool(tool))


def _limits(tool: Tool) -> str:
    seconds = _seconds(tool)
    output = tool.limits.output
    time = "no time limit" if seconds is None else f"{seconds:g} s"
    parts = [time, f"{output.max_bytes:,} bytes"]
    if output.max_items is not None:
        parts.append(f"{output.max_items:,} items")
    return ", ".join(parts)


def _first_line(tool: Tool) -> str:
    return printable((tool.description or "").partition("\n")[0])


def _requires(tool: Tool) -> str:
    needed = _without_empty(plain(tool.requires))
    return printable(encode_json(needed).decode()) if needed else "nothing"


def _without_empty(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(item) for key, item in value.items()}
    return {key: item for key, item in kept.items() if item not in ([], {}, None)}
