"""An agent at work in the managed profile, with stand-ins for tools that notes lead to."""

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents_at_work import Desk, at_work

from holdfast import tool
from holdfast.agent.models.scripted import Choosing, Played
from holdfast.app.managed.session import ManagedSession
from holdfast.contract.events import OutcomeDefined, Payload, WantedOutcome
from holdfast.contract.json_value import JsonObject

REPORT = WantedOutcome(title="A report", success_criteria=("report.md is written",))


@tool(effects=["sandbox_execute"])
def make_report() -> str:
    """Write the report."""
    return "The file report.md is written, with three pages."


def named(name: str) -> Any:
    """A tool of this name that answers anything."""

    @tool(name=name, effects=["session_read"])
    def stand_in(
        title: str | None = None,
        wake_id: str | None = None,
        limit: int | None = None,
        tool_name: str | None = None,
        session_id: str | None = None,
        path: str | None = None,
    ) -> str:
        """Answer."""
        return name

    return stand_in


LED_TO = tuple(
    map(
        named,
        (
            *("outcome_define", "outcome_evaluate", "outcome_history", "session_get_trace"),
            *("session_get_snapshot", "permissions_check", "permissions_describe"),
            *("agent_describe_setup", "shell_wait"),
        ),
    )
)


@asynccontextmanager
async def at_managed_work(
    folder: Path,
    turns: Iterable[Played | Choosing],
    *,
    tools: Iterable[Any] = (),
    alone: bool = True,
    **options: Any,
) -> AsyncGenerator[Desk]:
    """In a workspace of its own, in the profile `managed`; ``alone``: nobody brings anything."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    equipment = {"managed": True, "directives": True, **options.pop("equipment", {})}
    given: dict[str, Any] = {
        "profile": "managed",
        "workspace": workspace,
        "tools": [*LED_TO, *tools],
        **options,
    }
    async with at_work(folder, turns, equipment=equipment, **given) as desk:
        if alone:
            brought = managed_of(desk).brought
            brought.recall = brought.setup = brought.memory = None
            brought.shows.clear()
        yield desk


def managed_of(desk: Desk) -> ManagedSession:
    found = desk.holdfast.parts.own.managed
    assert found is not None
    return found


async def say(desk: Desk, *payloads: Payload) -> None:
    """As somebody outside of any run."""
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


async def define(desk: Desk, outcome: WantedOutcome = REPORT) -> None:
    await say(desk, OutcomeDefined(outcome=outcome))


def shown(desk: Desk) -> Path:
    """The folder of its artifacts."""
    folder = managed_of(desk).artifacts
    assert folder is not None
    return folder.path


def read_json(desk: Desk, name: str) -> Any:
    return json.loads((shown(desk) / name).read_text("utf-8"))


def notes(desk: Desk, number: int = -1) -> list[str]:
    """What the model was told of where it stands, with one request."""
    return [one for one in desk.model.requests[number].notices if one.startswith("[")]


def kinds(lines: Iterable[str]) -> list[str]:
    return [line[1:].partition("]")[0] for line in lines]


def arguments(line: str) -> JsonObject:
    """Of the call that a note ends in."""
    text = line.partition(" next_args=")[2].rpartition(" next_why=")[0]
    found: JsonObject = json.loads(text)
    return found
