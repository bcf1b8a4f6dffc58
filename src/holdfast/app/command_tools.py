"""Built-in tools that run commands, as a session offers them: its times, and what it withholds.

What a tool declares is written for the widest profile; a narrower one says so in the tool itself,
so that a model is not offered what would be refused.
"""

from collections.abc import Iterable, Mapping
from typing import cast, get_args

import msgspec

from holdfast.app.settings import CommandSettings
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import FsRequirement
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Body, Tool
from holdfast.runtime.turn import runs_commands

_TIMEOUT = "timeout_ms"
_BACKGROUND = "background"
_MANAGED_SECONDS = 15.0
"""What the managed hand gives a command that says nothing about it."""
_NO_BACKGROUND = (
    "Background processes are not offered here: run the command in the foreground, or ask for"
    " commands.background = true in the configuration."
)


def strictest(policies: Iterable[CommandPolicy]) -> CommandPolicy:
    """Of several policies that all count: the one that decides how a command is run."""
    return max(policies, key=get_args(CommandPolicy).index)


def fitted(tool: Tool, settings: CommandSettings, policy: CommandPolicy) -> Tool:
    """The tool as the settings have it; any tool that runs no commands stays as it is."""
    if not runs_commands(tool):
        return tool
    declared = _properties(tool)
    if _TIMEOUT in declared:
        usual = settings.default_seconds
        if policy == "managed":
            usual = min(usual, _MANAGED_SECONDS)
        tool = _timed(tool, usual, settings.most_seconds)
    if _BACKGROUND in declared and not settings.background:
        tool = _without(tool, _BACKGROUND, _NO_BACKGROUND)
    if policy == "any" or (policy == "managed" and tool.person_decides):
        return tool
    return _reading(tool)


def _properties(tool: Tool) -> JsonObject:
    return cast("JsonObject", tool.input_schema.get("properties", {}))


def _with_properties(tool: Tool, properties: JsonObject) -> JsonObject:
    return {**tool.input_schema, "properties": properties}


def _timed(tool: Tool, usual_seconds: float, most_seconds: float) -> Tool:
    most = max(1, round(most_seconds * 1000))
    properties = _properties(tool)
    timeout = cast("JsonObject", properties[_TIMEOUT])
    own = timeout.get("maximum")
    if isinstance(own, int):  # a tool that says how long it may take says how long it usually does
        most, usual_seconds = min(most, own), cast("int", timeout["default"]) / 1000
    usual = max(1, min(round(usual_seconds * 1000), most))
    schema: JsonObject = {**properties, _TIMEOUT: {**timeout, "default": usual, "maximum": most}}
    return msgspec.structs.replace(
        tool,
        input_schema=_with_properties(tool, schema),
        body=_with_defaults(tool.body, {_TIMEOUT: usual}),
    )


def _with_defaults(body: Body, defaults: Mapping[str, object]) -> Body:
    invoke = body.invoke

    def filled(values: Mapping[str, object], runtime: Runtime) -> object:
        return invoke({**defaults, **values}, runtime)

    return msgspec.structs.replace(body, invoke=filled)


def _without(tool: Tool, name: str, reason: str) -> Tool:
    properties = {key: value for key, value in _properties(tool).items() if key != name}
    return msgspec.structs.replace(
        tool,
        input_schema=_with_properties(tool, properties),
        withheld={**tool.withheld, name: reason},
    )


def _reading(tool: Tool) -> Tool:
    """A command that only reads needs no leave to write."""
    requires = msgspec.structs.replace(tool.requires, fs=FsRequirement(read=tool.requires.fs.read))
    uses = tuple(use for use in tool.uses if use.capability != "fs.write")
    return msgspec.structs.replace(
        tool, requires=requires, uses=uses, read_only=True, destructive=False
    )
