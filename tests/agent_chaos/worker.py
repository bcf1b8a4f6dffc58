"""A process that runs one agent session as far as it comes, until it is killed.

It says nothing: what it did stands in the journal and in the file of effects. At the moment that it
was given it stands still, so that whoever kills it finds it exactly there.
"""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec
import pytest
from agent_chaos.script import CHILD, Plan, PlannedModel
from forked_workers import serve

from holdfast import Agent, Holdfast, tool
from holdfast.app.agent_session import AgentSession
from holdfast.app.any_session import StoreOptions
from holdfast.app.session_store import opened_store
from holdfast.app.settings import CommandSettings, Settings, Surroundings
from holdfast.contract.events import ChildCreated, Event, Payload
from holdfast.contract.session_state import SessionState
from holdfast.record.store import Store
from holdfast.runtime.session_log import SessionLog

AGENTS = (
    Agent(id="main", instructions="Work.", directives=True, guidance=False, mode="primary"),
    Agent(id="worker", instructions="Work.", guidance=False, mode="subagent"),
)
SETTINGS = Settings(commands=CommandSettings(background=True))
LOOK_SECONDS = 0.01


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """Where a worker stands still, to be killed there."""

    at: Literal["before", "after", "effect", ""] = ""
    """Around an append to a journal, or right behind an effect whose end is not written down."""
    of: Literal["any", "blocking", "background"] = "any"
    """Whose append: of a subagent that is waited for, or of one in the background."""
    number: int = 0
    """Which of them, from 1."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker does."""

    home: str
    seed: int
    marker: str
    moment: Moment = Moment()

    @property
    def folder(self) -> Path:
        return Path(self.home)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def effects(self) -> Path:
        return self.workspace / "effects"

    @property
    def problems(self) -> Path:
        return self.folder / "problems"

    @property
    def session(self) -> Path:
        """The file that names the session, once it has begun."""
        return self.folder / "session"

    @property
    def plan(self) -> Plan:
        return Plan(self.seed, self.marker)

    @property
    def store(self) -> StoreOptions:
        return {"settings": Settings(), "surroundings": self.surroundings}

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(data_home=self.folder / "data", state_home=self.folder / "state")


def tools(effects: Path, happened: Callable[[], None]) -> tuple[object, ...]:
    file = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def happen(key: str) -> str:
        os.write(file, f"{key}\n".encode())
        happened()
        return f"did {key}"

    @tool
    async def mark(key: str) -> str:
        """Do it at once."""
        return happen(key)

    @tool
    async def slow(key: str) -> str:
        """Do it between two pauses."""
        await anyio.sleep(0.003)
        happen(key)
        await anyio.sleep(0.003)
        return "slow"

    @tool
    def thread(key: str) -> str:
        """Do it in a thread."""
        return happen(key)

    @tool(parallel_safe=True, resource_key=lambda values: (str(values["key"]),))
    async def look(key: str) -> str:
        """Do it beside others."""
        await anyio.sleep(0.002)
        return happen(key)

    @tool(permission_policy="always_ask")
    async def ask(key: str) -> str:
        """Do it once somebody allowed it."""
        return happen(key)

    @tool(ownership="custom")
    def order(key: str) -> str:
        """The application does it."""
        raise AssertionError(key)

    return (mark, slow, thread, look, ask, order)


class StandStill:
    """Stops the program at its moment."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._left = job.moment.number
        self._background = job.plan.background()
        self._children: dict[str, str] = {}
        """The sessions of subagents, and how their work is done."""

    def happened(self) -> None:
        """An effect is there, and nobody has heard of it."""
        if self._job.moment.at == "effect":
            self._one_more()

    def prepare(self) -> None:
        append, moment = SessionLog.append, self._job.moment

        async def appended(log: SessionLog, payloads: Sequence[Payload]) -> tuple[Event, ...]:
            counts = self._counts(log, payloads)
            if counts and moment.at == "before":
                self._one_more()
            events = await append(log, payloads)
            if counts and moment.at == "after":
                self._one_more()
            return events

        pytest.MonkeyPatch().setattr(SessionLog, "append", appended)

    def _counts(self, log: SessionLog, payloads: Sequence[Payload]) -> bool:
        for one in payloads:
            if isinstance(one, ChildCreated):
                there = one.message.removeprefix(CHILD) in self._background
                self._children[one.child_session_id] = "background" if there else "blocking"
        return self._job.moment.of in {"any", self._children.get(log.session_id)}

    def _one_more(self) -> None:
        self._left -= 1
        if self._left == 0:
            signal.raise_signal(signal.SIGSTOP)


async def work(job: Job, still: StandStill) -> None:
    """Run the session until all of the plan is done."""
    begun = job.session.read_text("utf-8") if job.session.exists() else None
    model: Any = PlannedModel(job.plan, job.problems)
    async with Holdfast(
        tools=tools(job.effects, still.happened),
        profile="host",
        workspace=job.workspace,
        settings=SETTINGS,
        surroundings=job.surroundings,
        approver="elsewhere",
        person="elsewhere",
        agents=AGENTS,
    ) as holdfast:
        session = await holdfast.new_session(agent="main", model=model, session=begun)
        if begun is None:
            await session.send("Begin.")
            job.session.write_text(session.id, "utf-8")
        async with opened_store(Settings(), surroundings=job.surroundings) as store:
            await run_on(job, session, store)


async def run_on(job: Job, session: AgentSession, store: Store) -> None:
    replies = len(job.plan.replies())
    while True:
        async for _ in session.run():
            pass
        if session.last is not None and session.last.ended == "failed":
            job.problems.write_text(f"a run failed: {session.last.problem}\n", "utf-8")
        state = (await store.journal.session(session.id)).state
        if state.status == "running":
            job.problems.write_text("a session seems to run that nobody runs\n", "utf-8")
        if is_at_rest(state) and state.usage.get("output_tokens", 0) >= replies:
            return
        await anyio.sleep(LOOK_SECONDS)


def is_at_rest(state: SessionState) -> bool:
    """Nothing waits, nothing is to come."""
    return state.status == "idle" and not (state.wakes or state.pending or state.calls)


def run(job: Job) -> None:
    still = StandStill(job)
    still.prepare()
    anyio.run(work, job, still)


if __name__ == "__main__":
    serve(Job, run)
