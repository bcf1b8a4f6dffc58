"""What tests of memory share: a session of an agent, and events that others would have written."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from tool_kit import opened

from holdfast import Agent, Holdfast
from holdfast.app.managed.session import ManagedSession
from holdfast.app.settings import Settings
from holdfast.contract.call import Ask
from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallSettled,
    Event,
    OutcomeDefined,
    Payload,
    SpanCompleted,
    StatusIdle,
    WantedOutcome,
)
from holdfast.contract.json_value import encode_json
from holdfast.contract.ports import Answer
from holdfast.contract.wake_events import LearningCaptured

LOOKER = Agent(id="looker", description="Looks.", instructions="Look.")
OTHER = Agent(id="other", description="Does else.", instructions="Do else.")
TILL = WantedOutcome(title="The till adds up", success_criteria=("all tests pass",))


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="ada")


def home_of(workspace: Path) -> Path:
    return workspace.parent / f"{workspace.name}-home" / "data"


@asynccontextmanager
async def remembering(workspace: Path, **options: Any) -> AsyncGenerator[Holdfast]:
    """A session of an agent, whose calls a test makes itself."""
    given: dict[str, Any] = {
        "settings": Settings(),
        "agent": LOOKER,
        "approver": yes,
        **options,
    }
    async with opened(workspace, "managed", **given) as hf:
        yield hf


def managed_of(hf: Holdfast) -> ManagedSession:
    assert hf.parts.own.managed is not None
    return hf.parts.own.managed


async def events_of(hf: Holdfast) -> tuple[Event, ...]:
    assert hf.parts.log is not None
    journal = await hf.parts.log.journal()
    return await journal.events(hf.session_id)


async def written(
    hf: Holdfast, payloads: Sequence[Payload], wake_id: str | None = None
) -> tuple[Event, ...]:
    """Put into the journal what a run would have written."""
    log = hf.parts.log
    assert log is not None
    log.wake_id = wake_id
    try:
        return await log.append(payloads)
    finally:
        log.wake_id = None


async def run(hf: Holdfast, wake_id: str, *, shows: str, fails: bool = False) -> None:
    """A run of an agent that called one tool and came to rest."""
    envelope = encode_json({"ok": True, "tool": "bash", "result": {"stdout": shows}})
    span = SpanCompleted(
        span_id=f"{wake_id}_t",
        span_kind="tool",
        name="bash",
        result="error" if fails else "success",
    )
    await written(
        *(
            hf,
            [
                CallAsked(call_id=f"cal_{wake_id}", tool="bash", arguments="{}"),
                CallSettled(call_id=f"cal_{wake_id}", tool="bash", envelope=msgspec.Raw(envelope)),
                span,
                AgentMessage(message=f"Said in {wake_id}.", summary=f"Did {wake_id}."),
                StatusIdle(reason="idle", summary=f"Did {wake_id}."),
                SpanCompleted(
                    span_id=wake_id,
                    span_kind="wake",
                    name="session_run",
                    summary=f"Did {wake_id}.",
                    result="success",
                ),
            ],
        ),
        wake_id=wake_id,
    )


def outcome() -> OutcomeDefined:
    return OutcomeDefined(outcome=TILL)


def learning(title: str, **more: Any) -> LearningCaptured:
    given: dict[str, Any] = {"learning_kind": "lesson", "detail": f"About {title}.", **more}
    return LearningCaptured(title=title, **given)
