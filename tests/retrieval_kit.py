"""What tests of the tools that search share: sessions with something to find in them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tool_kit import opened

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.managed.session import ManagedSession
from holdfast.app.settings import Settings
from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    OutcomeDefined,
    Payload,
    SessionCreated,
    SpanCompleted,
    WantedOutcome,
)
from holdfast.contract.journal import Journal
from holdfast.contract.managed.retrieval import Wanted
from holdfast.contract.managed.shell_views import CommandPreview, ShellPosture, ShellState
from holdfast.contract.managed.spaces import agent_space, session_space
from holdfast.contract.managed_events import OutcomeEvaluated, SetupDescribed
from holdfast.contract.mounts import Mount
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, outcome_fingerprint
from holdfast.contract.shell import PersistentFacts
from holdfast.contract.versions import Origin
from holdfast.contract.wake_events import LearningCaptured
from holdfast.runtime.managed.retrieval.finding import Finding

SEARCHES = ("memory_search", "session_search_context", "session_search_traces", "retrieval_search")
OUTCOME = WantedOutcome(title="Fix the till", success_criteria=("src/till.py adds up",))


@asynccontextmanager
async def under(workspace: Path, **options: Any) -> AsyncGenerator[Holdfast]:
    given: dict[str, Any] = {
        "settings": Settings(),
        "agent": Agent(id="looker", description="Looks.", instructions="Look."),
        "model": ScriptedModel([]),
        **options,
    }
    async with opened(workspace, "managed", **given) as hf:
        yield hf


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


def managed_of(hf: Holdfast) -> ManagedSession:
    managed = hf.parts.own.managed
    assert managed is not None
    return managed


def setup(name: str) -> SetupDescribed:
    return SetupDescribed(
        fingerprint=name, resource_contract_fingerprint="r", environment_fingerprint="e", setup={}
    )


async def begun(
    hf: Holdfast, name: str, *said: Payload, parent: str | None = None, agent: str = "looker"
) -> None:
    created = SessionCreated(agent_id=agent, parent_id=parent)
    await (await journal_of(hf)).create(name, [created, *said])


def evaluated(wake_id: str, summary: str = "The till is off.") -> OutcomeEvaluated:
    return OutcomeEvaluated(
        record=EvaluationRecord(
            evaluated_at="2026-01-01T00:00:00+00:00",
            wake_id=wake_id,
            iteration=0,
            outcome_title=OUTCOME.title,
            outcome_fingerprint=outcome_fingerprint(OUTCOME),
            grade_status="in_progress",
            evaluation=Evaluation(
                status="not_ready", confidence="low", summary=summary, trend="stable"
            ),
        )
    )


def rested(wake_id: str, summary: str) -> list[Payload]:
    return [
        AgentMessage(message=summary, summary=summary),
        SpanCompleted(
            span_id=wake_id, span_kind="wake", name="run", summary=summary, result="success"
        ),
    ]


async def with_everything(hf: Holdfast, name: str = "ses_past") -> None:
    """A session of which something of each kind is remembered."""
    await begun(hf, name, setup("other"), OutcomeDefined(outcome=OUTCOME))
    journal = await journal_of(hf)
    done: list[Payload] = [*rested("wak_1", "The till rounds."), evaluated("wak_1")]
    await journal.append(name, done, wake_id="wak_1")
    asked = CallAsked(
        call_id="cal_1",
        tool="memory_write",
        arguments='{"target": "session_state", "content": "till notes"}',
    )
    run = CallAsked(call_id="cal_2", tool="shell_run", arguments='{"command": "cat till"}')
    learned = LearningCaptured(learning_kind="lesson", title="Till", detail="Tills round.")
    await journal.append(name, [asked, run, learned])
    versions = (await managed_of(hf).stores()).versions
    for space, target in (
        (session_space(name), "session_state"),
        (session_space(name), "working_buffer"),
        (agent_space("looker"), "workspace_memory_notes"),
    ):
        await versions.write(space, target, b"The till notes.", origin=Origin(source="test"))


class Shells:
    """Every shell ran one command."""

    def __init__(self, *, used: bool = True) -> None:
        self._used = used

    def live(self) -> PersistentFacts | None:
        return None

    async def state(self, session_id: str | None = None, /) -> ShellState:
        last = CommandPreview(
            command_id="c", command="cat", args=("till.txt",), cwd="/", updated_at="2026"
        )
        return ShellState(cwd="/till", last_command=last if self._used else None)

    async def posture(self, session_id: str | None = None, /) -> ShellPosture:
        raise NotImplementedError


def wanted(query: str, **more: Any) -> Wanted:
    return Wanted(query=query, **more)


def shared(folder: Path) -> tuple[Mount, ...]:
    return (
        Mount(
            kind="agent_substrate",
            mount_path=str(folder.resolve()),
            access="read_write",
            scope="agent",
            prompt="Shared.",
        ),
    )


def finding_of(hf: Holdfast, *, shells: Shells, folder: Path | None = None) -> Finding:
    ground = managed_of(hf).ground
    return Finding(replace(ground, mounts=shared(folder) if folder else ()), shells)
