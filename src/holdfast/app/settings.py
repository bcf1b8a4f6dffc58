"""What can be configured, as one frozen, validated value.

Reading files and the environment is `configuration`'s work; here is only the shape.
"""

from pathlib import Path

import msgspec

from holdfast.contract.tool import Limits, Tool
from holdfast.execution.sidecars import DEFAULT_CALL_QUOTA, DEFAULT_SESSION_QUOTA
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES
from holdfast.runtime.visibility import Visibility


class ToolLimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one tool, changed by the host. What is not given stays as the tool has it."""

    wall_seconds: float | None = None
    max_bytes: int | None = None
    max_items: int | None = None


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[limits]` table."""

    argument_bytes: int = MAX_ARGUMENT_BYTES
    sidecar_call_bytes: int = DEFAULT_CALL_QUOTA
    sidecar_session_bytes: int = DEFAULT_SESSION_QUOTA
    tool: dict[str, ToolLimitSettings] = {}


class SecretSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[secrets]` table: which environment variables hold secrets beside the obvious ones."""

    variables: tuple[str, ...] = ()


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[tools]` table: Python files whose tools are loaded."""

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
    """The tool under the host's own limits."""
    own = limits.tool.get(tool.name)
    if own is None:
        return tool
    output = tool.limits.output
    changed = msgspec.structs.replace(
        output,
        max_bytes=output.max_bytes if own.max_bytes is None else own.max_bytes,
        max_items=output.max_items if own.max_items is None else own.max_items,
    )
    wall = tool.limits.wall_seconds if own.wall_seconds is None else own.wall_seconds
    return msgspec.structs.replace(tool, limits=Limits(wall_seconds=wall, output=changed))
