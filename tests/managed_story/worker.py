"""A process that plays one story as far as it comes, until it is killed.

It says nothing: what it did stands in the journal and on the disk. At the moment that it was given
it stands still, so that whoever kills it finds it exactly there.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec
import pytest
from forked_workers import serve
from managed_story.script import (
    ASKS,
    BEGIN,
    DONE,
    FEELS,
    GO_ON,
    KEY,
    LOOKS,
    asks,
    feels,
    looks,
    mends,
)
from managed_story.telling import Teller

from holdfast import Agent, Holdfast
from holdfast.app.agent_session import AgentSession
from holdfast.app.any_session import StoreOptions
from holdfast.app.locations import HOME_VARIABLE
from holdfast.app.session_store import opened_store
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import AgentMessage, CallAsked, Event, Payload
from holdfast.contract.session_state import SessionState
from holdfast.execution.files.rooted import Prepared
from holdfast.runtime.managed import substrate
from holdfast.runtime.session_log import SessionLog

LOOK_SECONDS = 0.01
MOST_WORDS = 20
STORIES = {BEGIN: mends, LOOKS: looks, FEELS: feels, ASKS: asks}


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """Where a worker stands still, to be killed there."""

    at: Literal["before", "after", "put", ""] = ""
    """Around an append to a journal, or before a shared file is put in its place."""
    kind: str = ""
    """Of the event that is appended; "": any."""
    tool: str = ""
    """Whose call was asked for last; "": anyone's."""
    number: int = 1
    """Which of them, from 1."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker does."""

    home: str
    message: str = BEGIN
    agent: str = "keeper"
    moment: Moment = Moment()

    @property
    def folder(self) -> Path:
        return Path(self.home)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def shared(self) -> Path:
        """The files that the agent's sessions share."""
        return self.folder / "home" / "data" / "agents" / "keeper" / "substrate"

    @property
    def session(self) -> Path:
        """The file that names the session, once it has begun."""
        return self.folder / f"session of {self.agent} on {self.message}"

    @property
    def store(self) -> StoreOptions:
        return {"settings": Settings(), "surroundings": self.surroundings}

    @property
    def surroundings(self) -> Surroundings:
        home = self.folder / "home"
        return Surroundings(data_home=home / "data", state_home=home / "state", secrets=(KEY,))


def agent_named(name: str) -> Agent:
    return Agent(
        id=name, description="Keeps tills.", instructions="Keep the till.", directives=True
    )


class StandStill:
    """Stops the program at its moment."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment
        self._left = moment.number
        self._asked = ""

    def prepare(self) -> None:
        append, at, still = SessionLog.append, self._moment.at, self
        patched = pytest.MonkeyPatch()

        async def appended(
            log: SessionLog, payloads: Sequence[Payload], *, in_run: bool = True
        ) -> tuple[Event, ...]:
            for one in payloads:
                if isinstance(one, CallAsked):
                    self._asked = one.tool
            counts = self._counts(payloads)
            if counts and at == "before":
                self._one_more()
            events = await append(log, payloads, in_run=in_run)
            if counts and at == "after":
                self._one_more()
            return events

        class Placed(Prepared):
            def put(self, before: bytes | None) -> None:
                if at == "put":
                    still.placing()
                super().put(before)

        patched.setattr(SessionLog, "append", appended)
        patched.setattr(substrate, "Prepared", Placed)

    def placing(self) -> None:
        """A shared file is kept as a version, and not in its place."""
        if self._moment.tool in {"", self._asked}:
            self._one_more()

    def _counts(self, payloads: Sequence[Payload]) -> bool:
        kinds = {one.__struct_config__.tag for one in payloads}
        moment = self._moment
        return moment.kind in {"", *kinds} and moment.tool in {"", self._asked}

    def _one_more(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGSTOP)


async def work(job: Job) -> None:
    """Play it to its end, with whoever is due beside it."""
    begun = job.session.read_text("utf-8") if job.session.exists() else None
    model: Any = Teller(STORIES)
    agent = agent_named(job.agent)
    async with Holdfast(
        profile="managed",
        workspace=job.workspace,
        approver="elsewhere",
        person="elsewhere",
        agent=agent,
        model=model,
    ) as holdfast:
        session = await holdfast.new_session(agent=agent, model=model, session=begun)
        if begun is None:
            await session.send(job.message)
            job.session.write_text(session.id, "utf-8")
        async with opened_store(**job.store) as store:

            async def events() -> Sequence[Event]:
                return await store.journal.events(session.id, limit=100_000)

            async def state() -> SessionState:
                return (await store.journal.session(session.id)).state

            await _played(job, session, events, state)
        await session.close()
        await holdfast.run_due()


async def _played(job: Job, session: AgentSession, events: Any, state: Any) -> None:
    patience = MOST_WORDS
    while True:
        async for _ in session.run():
            pass
        if session.last is not None and session.last.ended == "failed":
            raise AssertionError(session.last.problem)
        now: SessionState = await state()
        if now.status == "idle" and not (now.wakes or now.pending or now.calls):
            if job.message != BEGIN or _last_words(await events()).startswith(DONE):
                return
            patience -= 1
            assert patience > 0, "it gets nowhere"
            await session.send(GO_ON)
        else:
            await anyio.sleep(LOOK_SECONDS)


def _last_words(events: Sequence[Event]) -> str:
    said = [one.payload.message for one in events if isinstance(one.payload, AgentMessage)]
    return said[-1] if said else ""


def run(job: Job) -> None:
    os.environ |= {HOME_VARIABLE: str(job.folder / "home"), "TILL_API_KEY": KEY}
    StandStill(job.moment).prepare()
    anyio.run(work, job)


if __name__ == "__main__":
    serve(Job, run)
