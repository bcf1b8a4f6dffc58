"""What tests of `permissions_*` share: a session whose shell, context and rules stand as a test
wants them, beside all tools that matter."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from outcomes_at_work import StandingShell, idle_shell, managed_of
from tool_kit import opened, result

from holdfast import Holdfast
from holdfast.app.settings import Settings
from holdfast.contract.events import Payload, ToolUse
from holdfast.contract.managed.crowding import Crowding, Pressure
from holdfast.contract.managed.permissions import CHANGES_SHELL, GATED, PermissionAdvice
from holdfast.contract.runtime import Ports, Runtime
from holdfast.contract.tool import Tool
from holdfast.runtime.managed.permission_desk import Foreseen, PermissionDesk

ASKING = ("shell_run", "shell_exec", *sorted(GATED))
CROWDED = Crowding(budget={}, pressure=Pressure(level="high", reasons=("low_headroom:12",)))
ROOMY = Crowding(budget={}, pressure=Pressure(level="low"))
CAT = {"command": "cat notes/a.md"}


def catalogue(like: Tool) -> tuple[Tool, ...]:
    """The shell's and the sharing tools, by what is declared of them."""
    return tuple(
        msgspec.structs.replace(
            like,
            name=name,
            permission_policy="always_ask" if name in ASKING else "always_allow",
            read_only=False,
            destructive=name in GATED,
            effects=("session_write",),
            alias=None,
        )
        for name in (*sorted(CHANGES_SHELL), *sorted(GATED))
    )


@asynccontextmanager
async def advised(
    workspace: Path,
    shell: StandingShell | None = None,
    crowding: Crowding | None = None,
    foreseen: Foreseen | None = None,
) -> AsyncGenerator[Holdfast]:
    """A session whose shell stands as it is told to, beside all tools that matter here."""
    desks: list[PermissionDesk] = []

    async def foresee(_tool: str, _arguments: object) -> Foreseen | None:
        return foreseen

    def desk(_call: Runtime) -> PermissionDesk:
        return desks[0]

    ports: Ports = {PermissionAdvice: desk}
    async with opened(workspace, "managed", settings=Settings(), ports=ports) as hf:
        managed = managed_of(hf)
        managed.shell = shell or idle_shell(str(workspace))
        managed.crowding = lambda: crowding
        own = tuple(managed.ground.tools())
        others = catalogue(own[0])
        known = {one.name: one for one in (*own, *others)}
        ground = msgspec.structs.replace(managed.ground, tools=lambda: tuple(known.values()))
        desks.append(PermissionDesk(ground, managed.gate, lambda: managed.shell, foresee))
        yield hf


async def check(hf: Holdfast, name: str, **arguments: Any) -> dict[str, Any]:
    given = {"tool_args": arguments} if arguments else {}
    return await result(hf, "permissions_check", tool_name=name, **given)


async def append(hf: Holdfast, *payloads: Payload) -> None:
    assert hf.parts.log is not None
    await (await hf.parts.log.journal()).append(hf.session_id, payloads)


def waits(tool: str, **arguments: Any) -> ToolUse:
    return ToolUse(
        request_id="apr_1",
        tool_name=tool,
        ownership="managed",
        permission_policy="always_ask",
        input=arguments,
    )


def named(step: dict[str, Any] | None) -> str | None:
    return None if step is None else step["tool"]


def level_of(pressure: dict[str, Any] | None) -> str | None:
    return None if pressure is None else pressure["level"]


def names(steps: list[dict[str, Any]]) -> list[str]:
    return [one["tool"] for one in steps]
