"""What can be configured, as one frozen, validated value.

Reading files and the environment is `configuration`'s work; here is only the shape.
"""

import math
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from holdfast.contract.tool import Limits, Tool
from holdfast.execution.sidecars import DEFAULT_CALL_QUOTA, DEFAULT_SESSION_QUOTA
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES
from holdfast.runtime.visibility import Visibility

DEFAULT_PROFILE = "code"

Count = Annotated[int, msgspec.Meta(ge=1)]
Quota = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]

Amount = TypeVar("Amount", int, float)


class ToolLimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one tool, changed by the host. What is not given stays as the tool has it."""

    wall_seconds: Seconds | None = None
    """`inf` takes the wall clock away."""
    max_bytes: Count | None = None
    max_items: Count | None = None


AS_THE_TOOL_HAS_IT = ToolLimitSettings()


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[limits]` table."""

    argument_bytes: Count = MAX_ARGUMENT_BYTES
    sidecar_call_bytes: Quota = DEFAULT_CALL_QUOTA
    sidecar_session_bytes: Quota = DEFAULT_SESSION_QUOTA
    tool: dict[str, ToolLimitSettings] = {}
    at_most: dict[str, ToolLimitSettings] = {}
    """What a project narrows tools to. Worked out while loading; not a key of the table."""


class SecretSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[secrets]` table: which environment variables hold secrets beside the obvious ones."""

    variables: tuple[str, ...] = ()


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[tools]` table: Python files of tools, relative to the file that names them."""

    files: tuple[str, ...] = ()


class ProfileSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[profile.NAME]` table."""

    tools: Visibility = Visibility()


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole configuration."""

    limits: LimitSettings = LimitSettings()
    secrets: SecretSettings = SecretSettings()
    tools: ToolSettings = ToolSettings()
    profile: dict[str, ProfileSettings] = {}


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken from the machine and not from configuration."""

    data_home: Path
    secrets: tuple[str, ...] = ()


def limited(tool: Tool, limits: LimitSettings) -> Tool:
    """The tool under the host's own limits, narrowed by the project's."""
    if tool.name not in limits.tool and tool.name not in limits.at_most:
        return tool
    own = limits.tool.get(tool.name, AS_THE_TOOL_HAS_IT)
    most = limits.at_most.get(tool.name, AS_THE_TOOL_HAS_IT)
    output = tool.limits.output
    wall = _chosen(tool.limits.wall_seconds, own.wall_seconds, most.wall_seconds)
    max_bytes = _chosen(output.max_bytes, own.max_bytes, most.max_bytes)
    bound = msgspec.structs.replace(
        output,
        max_bytes=output.max_bytes if max_bytes is None else max_bytes,
        max_items=_chosen(output.max_items, own.max_items, most.max_items),
    )
    changed = Limits(wall_seconds=None if wall == math.inf else wall, output=bound)
    return msgspec.structs.replace(tool, limits=changed)


def _chosen(tools: Amount | None, hosts: Amount | None, most: Amount | None) -> Amount | None:
    """The host's limit before the tool's, and neither above the project's. None is no limit."""
    chosen = tools if hosts is None else hosts
    if most is None:
        return chosen
    return most if chosen is None else min(chosen, most)
