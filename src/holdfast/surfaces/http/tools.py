"""The tools of the workbench: what each is and costs, why one is hidden, and how to try one."""

from collections.abc import Mapping

import msgspec

from holdfast.agent.context.budget import schema_tokens
from holdfast.agent.outfit import model_tool
from holdfast.app.holdfast import Holdfast
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import Tool
from holdfast.envelope.dialects import ok
from holdfast.policy.explain import Explanation
from holdfast.runtime.definitions import full_definition
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Plain, Query, Route


class ToolRow(msgspec.Struct, frozen=True, kw_only=True):
    """A tool."""

    name: str
    description: str | None
    input_schema: JsonObject
    output_schema: JsonObject | None
    ownership: str
    permission_policy: str
    read_only: bool
    destructive: bool
    cost: int
    """Tokens of every request to a model that is offered it, by estimate."""
    hidden: str | None = None
    """Why a model is not offered it now."""
    remarks: tuple[str, ...] = ()


class ToolList(msgspec.Struct, frozen=True, kw_only=True):
    """All that can be called in the workbench."""

    profile: str
    session_id: str
    """The workbench's own session, where calls are written down."""
    tools: list[ToolRow]


async def list_tools(asked: Plain) -> ToolList:
    """The tools that can be tried, those that models are not offered at once among them."""
    bench = asked.house.opened.workbench
    offered = {tool.name for tool in bench.offered}
    return ToolList(
        profile=asked.house.opened.profile,
        session_id=bench.session_id,
        tools=[_row(bench, tool, offered=tool.name in offered) for tool in bench.tools],
    )


async def show_tool(asked: Plain) -> ToolRow:
    """One of them."""
    bench = asked.house.opened.workbench
    tool = _named(bench, asked.names["name"])
    return _row(bench, tool, offered=tool in bench.offered)


def _row(bench: Holdfast, tool: Tool, *, offered: bool) -> ToolRow:
    told: Mapping[str, object] = full_definition(tool)
    return ToolRow(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=msgspec.convert(told.get("output_schema"), JsonObject | None),
        ownership=tool.ownership,
        permission_policy=tool.permission_policy,
        read_only=tool.read_only,
        destructive=tool.destructive,
        cost=schema_tokens(model_tool(tool)),
        hidden=None if offered else "offered once `tool_search` finds it, or a hint leads to it",
        remarks=tuple(bench.remarks_on(tool)),
    )


def _named(bench: Holdfast, name: str) -> Tool:
    for tool in bench.tools:
        if tool.name == name:
            return tool
    raise Problem(404, f"there is no tool {name!r} in this profile; see GET /api/v1/tools")


class NewCall(Body, frozen=True, kw_only=True):
    """What is to be called with."""

    arguments: JsonObject | str = msgspec.field(default_factory=dict[str, JsonValue])
    """An object, or the text that a model wrote: it is repaired and checked."""


async def call_tool(asked: Asked[Query, NewCall]) -> msgspec.Raw:
    """Settle one call, and give its envelope. One that is asked about waits for the answer."""
    # Whoever hangs up leaves it running: its end stands in the workbench's session.
    bench = asked.house.opened.workbench
    envelope = await bench.settle(asked.names["name"], asked.body.arguments)
    return msgspec.Raw(ok.render(envelope).encode())


class Doubtful(Body, frozen=True, kw_only=True):
    """Which call is meant."""

    tool: str
    arguments: JsonObject | str = msgspec.field(default_factory=dict[str, JsonValue])


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """How it would be judged, or why it would not even get that far."""

    explanation: Explanation | None = None
    failure: JsonValue = None


async def explain(asked: Asked[Query, Doubtful]) -> Explained:
    """Tell how a call would be judged, and by which rule. Nothing runs."""
    found = await asked.house.opened.workbench.explain(asked.body.tool, asked.body.arguments)
    if isinstance(found, Failure):
        return Explained(failure=msgspec.to_builtins(found))
    return Explained(explanation=found)


ROUTES = (
    Route(
        method="GET",
        path="/tools",
        name="list_tools",
        says="The tools that can be tried: schemas, costs, and why one is hidden.",
        answer=list_tools,
        gives=ToolList,
    ),
    Route(
        method="GET",
        path="/tools/{name}",
        name="show_tool",
        says="One tool.",
        answer=show_tool,
        gives=ToolRow,
        fails=(404,),
    ),
    Route(
        method="POST",
        path="/tools/{name}/calls",
        name="call_tool",
        says="Settle one call in the workbench, and give its envelope.",
        answer=call_tool,
        body=NewCall,
        gives=JsonObject,
    ),
    Route(
        method="POST",
        path="/policy/explain",
        name="explain",
        says="How a call would be judged, and by which rule. Nothing runs.",
        answer=explain,
        body=Doubtful,
        gives=Explained,
    ),
)
