"""What tests of outcomes and permissions share: an agent of the managed profile, and a shell that
stands as a test wants it."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from agents_at_work import Desk, at_work, calls
from tool_kit import result

from holdfast import Holdfast
from holdfast.app.managed.session import ManagedSession
from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.shell_views import (
    BusyPlan,
    CommandPreview,
    PersistentView,
    ShellPosture,
    ShellState,
)
from holdfast.contract.model import ModelReply
from holdfast.contract.shell import PersistentFacts
from holdfast.contract.steps import Step

CRITERION = "pytest tests/till.py passes"
OUTCOME: dict[str, Any] = {"title": "The till adds up", "success_criteria": [CRITERION]}
SHOWN = "$ pytest tests/till.py\n3 passed in 0.1 s\n"
"""What a file says that shows it."""


@asynccontextmanager
async def agent_of_the_till(
    folder: Path, turns: Iterable[Any], **options: Any
) -> AsyncGenerator[Desk]:
    """An agent of the managed profile, beside a file that shows that its work is done."""
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "report.txt").write_text(SHOWN, "utf-8")
    given: dict[str, Any] = {
        "profile": "managed",
        "workspace": workspace,
        "equipment": {"managed": True},
        **options,
    }
    async with at_work(folder, turns, **given) as desk:
        yield desk


def managed_of(hf: Holdfast) -> ManagedSession:
    found = hf.parts.own.managed
    assert found is not None
    return found


def asks(name: str, /, **arguments: Any) -> ModelReply:
    return calls((name, encode_json(arguments).decode()))


DEFINE = asks("outcome_define", **OUTCOME)
READ = asks("read", path="report.txt")
FAILS = asks("read", path="nowhere.txt")
WORK = [DEFINE, READ, "I made the till add up."]


async def records(desk: Desk) -> list[dict[str, Any]]:
    return (await result(desk.holdfast, "outcome_history"))["evaluations"]


async def evaluation_of(desk: Desk) -> dict[str, Any]:
    return (await result(desk.holdfast, "outcome_evaluate"))["evaluation"]


COMMAND = CommandPreview(
    command_id="ab12",
    command="shell",
    args=("make",),
    cwd="/ws",
    updated_at="2026-01-02T03:04:05+00:00",
    output_preview="made",
    stdout_preview="made",
    stderr_preview="",
)
WAIT = Step(tool="shell_wait", args={"timeout_ms": 1000}, rationale="A command runs.")
REOPEN = Step(tool="shell_restart", args={"cwd": "/ws"}, rationale="The shell is closed.")
BUSY_PLAN = BusyPlan(
    step=WAIT,
    allowlisted_read_tools=("shell_wait", "read"),
    evidence_plan=Step(tool="shell_read_last_output", rationale="It shows what was printed."),
    avoid_tools=("shell_run",),
)


class StandingShell:
    """A shell that stands as it is told to."""

    def __init__(self, posture: ShellPosture, live: PersistentFacts | None = None) -> None:
        self._posture = posture
        self._live = live

    def live(self) -> PersistentFacts | None:
        return self._live

    async def state(self, _session_id: str | None = None, /) -> ShellState:
        return ShellState(cwd=self._posture.cwd)

    async def posture(self, _session_id: str | None = None, /) -> ShellPosture:
        return self._posture


def idle_shell(cwd: str, **more: Any) -> StandingShell:
    view = PersistentView(shell_id="shl_1", status="active")
    return StandingShell(ShellPosture(status="active", cwd=cwd, persistent_shell=view, **more))


def busy_shell(cwd: str) -> StandingShell:
    live = PersistentFacts(shell_id="shl_1", status="busy", cwd=cwd, env_keys=(), command_count=1)
    posture = ShellPosture(status="active", busy=True, cwd=cwd, busy_plan=BUSY_PLAN)
    return StandingShell(posture, live)


def closed_shell(cwd: str) -> StandingShell:
    step = msgspec.structs.replace(REOPEN, args={"cwd": cwd})
    return StandingShell(ShellPosture(status="closed", cwd=cwd, recovery_plan=step))
