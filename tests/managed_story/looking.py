"""What must hold of a story once it is told, however often its program was killed."""

import json
import stat
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec
from agent_chaos.looking import check_intents, check_replay
from managed_story.script import BETTER, BROKEN, KEY, MENDED, NOTE
from managed_story.telling import Came, came_of
from managed_story.worker import Job

from holdfast.app.ledger import verified
from holdfast.app.session_store import opened_store
from holdfast.app.settings import Settings
from holdfast.contract.archive import SessionQuery
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
)
from holdfast.contract.journal import Session
from holdfast.contract.managed.spaces import agent_space, substrate_space
from holdfast.execution.files.placing import ASIDE
from holdfast.record.store import Store

CONFIRMED = frozenset(
    {
        *("shell_run", "shell_exec", "memory_promote_note"),
        *("resources_promote_to_substrate", "resources_restore_version"),
    }
)


class Call(NamedTuple):
    """A call, and what came of it."""

    tool: str
    args: dict[str, Any]
    came: Came


@asynccontextmanager
async def store_of(job: Job) -> AsyncGenerator[Store]:
    async with opened_store(**job.store) as store:
        yield store


async def sessions_in(store: Store) -> dict[str, Session]:
    return {one.id: one for one in await store.archive.sessions(SessionQuery(limit=100))}


async def events_in(store: Store, session_id: str) -> tuple[Event, ...]:
    return tuple(await store.journal.events(session_id, limit=100_000))


def calls_in(events: Sequence[Event]) -> list[Call]:
    """In the order in which they were asked for."""
    payloads = [one.payload for one in events]
    asked = [one for one in payloads if isinstance(one, CallAsked)]
    came = {one.call_id: one for one in payloads if isinstance(one, CallSettled)}
    return [
        Call(one.tool, json.loads(one.arguments), came_of(bytes(came[one.call_id].envelope)))
        for one in asked
    ]


async def check_told(job: Job) -> None:
    """The end is the same, each effect is there once, and everything is written down."""
    root = job.session.read_text("utf-8")
    check_files(job)
    check_artifacts(job, root)
    check_no_secret(job)
    verdict = verified(Settings(), job.surroundings, None, lambda _one: None)
    assert verdict.problems == ()
    async with store_of(job) as store:
        await check_versions(store)
        sessions = await sessions_in(store)
        children = {name for name, one in sessions.items() if one.state.parent_id == root}
        assert len(children) == 2, "a child too many or too few"
        for name in sessions:
            events = await events_in(store, name)
            check_calls(events)
            await check_replay(events)
            assert KEY not in repr([one.payload for one in events])
        check_children(await events_in(store, root), children)


def check_files(job: Job) -> None:
    assert (job.workspace / "ran.txt").read_text("utf-8") == "ran\n", "the command ran twice"
    assert (job.workspace / "till.py").read_text("utf-8") == BETTER
    assert (job.shared / "till.py").read_text("utf-8") == MENDED
    memory = (job.shared / "MEMORY.md").read_text("utf-8")
    assert memory.count(NOTE) == 1
    assert memory.count("Slices lose the last coin.") == 1


async def check_versions(store: Store) -> None:
    space = substrate_space("keeper")
    history = await store.versions.history(space, "till.py", limit=100)
    assert [one.origin.source for one in reversed(history)] == [
        *("substrate.found", "resources_promote_to_substrate"),
        *("resources_promote_to_substrate", "resources_restore_version"),
    ]
    texts = [(await store.versions.read(space, one.id)).content.decode() for one in history]
    assert texts[::-1] == [BROKEN, MENDED, BETTER, MENDED]
    notes = await store.versions.history(agent_space("keeper"), "workspace_memory_notes", limit=9)
    assert len(notes) == 1


def check_calls(events: Sequence[Event]) -> None:
    """One answer, one intent and one approval at most for each, and none for two."""
    payloads = [one.payload for one in events]
    asked = {one.call_id: one.tool for one in payloads if isinstance(one, CallAsked)}
    settled = [one.call_id for one in payloads if isinstance(one, CallSettled)]
    assert sorted(settled) == sorted(asked), "not one answer for each call"
    questions = [one for one in payloads if isinstance(one, ApprovalAsked)]
    assert max(Counter(one.call_id for one in questions).values(), default=1) == 1
    assert max(Counter(one.approval_id for one in questions).values(), default=1) == 1
    assert max(check_intents(payloads).values(), default=1) == 1
    for place, one in enumerate(payloads):
        if isinstance(one, CallIntended) and one.tool in CONFIRMED:
            assert any(
                isinstance(before, ApprovalAnswered)
                and before.call_id == one.call_id
                and before.allowed
                for before in payloads[:place]
            ), f"{one.tool} ran unconfirmed"


def check_children(events: Sequence[Event], children: set[str]) -> None:
    """The one above was told where each of them rests."""
    payloads = [one.payload for one in events]
    made = {one.child_session_id for one in payloads if isinstance(one, ChildCreated)}
    rested = {one.child_session_id for one in payloads if isinstance(one, ChildIdle)}
    assert children == rested <= made


def check_artifacts(job: Job, session_id: str) -> None:
    """They are there for people and the session's own hand, and can be read."""
    folder = job.workspace / ".holdfast-runtime" / session_id
    # A program that is killed while it writes one leaves what it wrote aside, under no such name.
    files = {one.name: one for one in folder.iterdir() if not one.name.startswith(ASIDE)}
    assert files.keys() >= {
        *("managed-tools.json", "permissions.json", "environment.json", "agent-setup.json"),
        *("skills.json", "vaults.json", "context-budget.json", "permission-posture.json"),
        *("session-status.json", "outcome.json", "outcome-grade.json", "outcome-repair.md"),
        *("outcome-evaluation.json", "outcome-evaluations.json", "event-feed.json"),
        *("wake-traces.json", "session-relations.json", "session-runtime.json"),
        *("shell-state.json", "shell-history.json", "shell-last-output.json"),
        *("staged-substrate.json",),
    }
    for one in files.values():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
        text = one.read_text("utf-8")
        assert text.startswith("# ") if one.suffix == ".md" else msgspec.json.decode(text)


def check_no_secret(job: Job) -> None:
    """Nowhere but in the file that a person has put it in."""
    key = KEY.encode()
    shown = [
        str(one)
        for one in job.folder.rglob("*")
        if one.is_file() and one.name != "key.txt" and key in one.read_bytes()
    ]
    assert not shown
