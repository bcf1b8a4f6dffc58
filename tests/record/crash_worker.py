"""A process that settles calls in several sessions, and tells each answer, until it is killed.

An effect is a line in a file, with the argument that only its call has.
"""

import os
import random
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal

import anyio
import msgspec
import pytest
from forked_workers import serve
from record.crash_stores import (
    Opened,
    Place,
    PostgresSessions,
    Sessions,
    SqliteSessions,
    store_at,
)
from support import make_tool

from holdfast.contract.archive import SessionQuery
from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import Journal, NotFitting
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Tool
from holdfast.envelope.dialects.ok import render
from holdfast.record.postgres import committing as postgres_store
from holdfast.record.rows import Desk
from holdfast.record.sqlite import store as sqlite_store
from holdfast.runtime.session_log import SessionLog

SECONDS = 6.0
"""How long a worker lives that nobody kills."""
NEW_SESSIONS = 2
CALLERS = 3
MOST_CALLS = 150
QUESTIONS_THAT_STAY = 2

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"key": {"type": "string"}},
    "required": ["key"],
    "additionalProperties": False,
}
TOOLS = ("mark", "slow", "thread", "ask", "never", "unknown")
WEIGHTS = (6, 3, 2, 5, 2, 1)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker does."""

    place: Place
    told: str
    """The file it tells in what it did."""
    effects: str
    seed: int
    do: Literal["work", "take_up"]
    sessions: tuple[str, ...] = ()
    """To be taken up; to look after without any named: all there are."""
    die: Literal["before", "after", "commit", ""] = ""
    """Where it kills itself: around the append of an event, or inside of a commit."""
    die_of: str = ""
    """The type of that event."""
    die_on: int = 1
    """At which time."""


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a worker tells."""

    said: Literal["opening", "ready", "answer", "loaded", "second", "resumed", "done"]
    session: str = ""
    call: str = ""
    key: str = ""
    envelope: str = ""
    open_calls: dict[str, str] = {}
    """How far each call has come that is still open."""


class Teller:
    """Writes lines that are there whole or not at all."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __call__(self, line: Line) -> None:
        os.write(self._file, msgspec.json.encode(line) + b"\n")

    def answer(self, session: str, key: str, envelope: Envelope) -> None:
        """A call's answer has arrived."""
        call = envelope.call_id or ""
        self(Line(said="answer", session=session, call=call, key=key, envelope=render(envelope)))


def tools(effects: str) -> tuple[Tool, ...]:
    file = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def happen(values: Mapping[str, object], _runtime: Runtime) -> str:
        os.write(file, f"{values['key']}\n".encode())
        return "done"

    async def at_once(values: Mapping[str, object], runtime: Runtime) -> str:
        return happen(values, runtime)

    async def slowly(values: Mapping[str, object], runtime: Runtime) -> str:
        await anyio.sleep(0.002)
        happen(values, runtime)
        await anyio.sleep(0.002)
        return "done"

    return (
        make_tool(at_once, name="mark", style="async", schema=SCHEMA),
        make_tool(slowly, name="slow", style="async", schema=SCHEMA),
        make_tool(happen, name="thread", style="thread", schema=SCHEMA),
        make_tool(at_once, name="ask", style="async", schema=SCHEMA),
        make_tool(at_once, name="never", style="async", schema=SCHEMA),
    )


RULES = (
    Rule(permission="ask", pattern="*", action="ask", scope="session", source="test"),
    Rule(permission="never", pattern="*", action="deny", scope="session", source="test"),
)


async def person(ask: Ask) -> Answer | None:
    """Allows, refuses, is not there or never answers, as the key says."""
    key = str(ask.prepared.arguments["key"])
    await anyio.sleep(0.003)
    match key[-1]:
        case "y":
            return Answer(allowed=True, by="ada")
        case "n":
            return Answer(allowed=False, by="ada")
        case "0":
            return None
        case _:
            await anyio.sleep_forever()
    return None


@asynccontextmanager
async def sessions_of(job: Job) -> AsyncGenerator[Sessions]:
    made = tools(job.effects)
    if job.place.kind == "sqlite":
        yield SqliteSessions(job.place, made, RULES, person)
        return
    async with store_at(job.place) as (journal, _archive, _parts):
        yield PostgresSessions(journal, made, RULES, person)


async def work(job: Job, tell: Teller) -> None:
    """New sessions, and some from before, each with several who call."""
    tell(Line(said="opening"))
    async with sessions_of(job) as sessions, anyio.create_task_group() as group:
        ready = partial(tell, Line(said="ready"))
        for number in range(NEW_SESSIONS):
            group.start_soon(in_session, job, sessions, None, number, ready)
        for number, session_id in enumerate(job.sessions):
            group.start_soon(in_session, job, sessions, session_id, 100 + number, ready)
        await anyio.sleep(SECONDS)
        group.cancel_scope.cancel()


async def in_session(
    job: Job, sessions: Sessions, session_id: str | None, number: int, ready: Callable[[], None]
) -> None:
    tell = Teller(job.told)
    async with sessions.open(session_id) as opened, anyio.create_task_group() as group:
        ready()
        if session_id is not None:
            for envelope in await opened.resume():
                tell.answer(opened.session_id, "", envelope)
        for caller in range(CALLERS):
            dice = random.Random(f"{job.seed} {number} {caller}")
            group.start_soon(call_on, opened, dice, f"{job.seed}.{number}.{caller}", tell)
        for question in range(QUESTIONS_THAT_STAY):
            key = f"{job.seed}.{number}.q{question}w"
            group.start_soon(call, opened, "ask", key, tell)


async def call_on(opened: Opened, dice: random.Random, name: str, tell: Teller) -> None:
    for number in range(MOST_CALLS):
        (tool,) = dice.choices(TOOLS, WEIGHTS)
        key = f"{name}.{number}-{dice.choice('yyyn0') if tool == 'ask' else ''}"
        if dice.random() < 0.1:
            with anyio.move_on_after(dice.random() * 0.004):
                await call(opened, tool, key, tell)
        else:
            await call(opened, tool, key, tell)
        await anyio.lowlevel.checkpoint()


async def call(opened: Opened, tool: str, key: str, tell: Teller) -> None:
    envelope = await opened.settle(tool, {"key": key})
    tell.answer(opened.session_id, key, envelope)


async def take_up(job: Job, tell: Teller) -> None:
    """Take up all sessions one after the other, answer what waits, and run what was allowed."""
    tell(Line(said="opening"))
    dice = random.Random(job.seed)
    async with sessions_of(job) as sessions, store_at(job.place) as (journal, archive, _parts):
        tell(Line(said="ready"))
        every = await archive.sessions(SessionQuery(limit=10_000))
        for session_id in job.sessions or [one.id for one in every]:
            async with sessions.open(session_id) as opened:
                tell(await loaded(journal, "loaded", session_id))
                for question in await opened.questions():
                    await answer(opened, question, dice, tell)
                for envelope in await opened.resume():
                    tell.answer(session_id, "", envelope)
                tell(await loaded(journal, "resumed", session_id))
                assert await opened.resume() == ()


async def loaded(journal: Journal, said: Literal["loaded", "resumed"], session_id: str) -> Line:
    calls = (await journal.session(session_id)).state.calls
    stages = {name: f"{one.stage} {one.allowed}" for name, one in calls.items()}
    return Line(said=said, session=session_id, open_calls=stages)


async def answer(opened: Opened, question: Question, dice: random.Random, tell: Teller) -> None:
    """Two answer at once, in one of three cases nobody: the first counts."""
    if dice.random() < 1 / 3:
        return
    refused = 0

    async def one(allowed: bool) -> None:
        nonlocal refused
        try:
            await opened.answer(question, Answer(allowed=allowed, by="ada"))
        except NotFitting:
            refused += 1

    async with anyio.create_task_group() as group:
        for allowed in (dice.random() < 0.8, dice.random() < 0.8):
            group.start_soon(one, allowed)
    tell(Line(said="second", session=opened.session_id, key=str(refused)))


def prepare_to_die(job: Job) -> None:
    """Have the process kill itself where the job says."""
    left = job.die_on

    def die() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    append = SessionLog.append

    async def appended(log: SessionLog, payloads: Sequence[Payload]) -> tuple[Event, ...]:
        is_it = any(one.__struct_config__.tag == job.die_of for one in payloads)
        if is_it and job.die == "before":
            die()
        events = await append(log, payloads)
        if is_it and job.die == "after":
            die()
        return events

    patched = pytest.MonkeyPatch()
    if job.die == "commit":
        for module in (sqlite_store, postgres_store):
            write: Callable[[Desk, object], None] = module.write

            def written(desk: Desk, on: object, write: Callable[..., None] = write) -> None:
                write(desk, on)
                die()

            patched.setattr(module, "write", written)
    elif job.die:
        patched.setattr(SessionLog, "append", appended)


def run(job: Job) -> None:
    prepare_to_die(job)
    tell = Teller(job.told)
    anyio.run(work if job.do == "work" else take_up, job, tell)
    tell(Line(said="done"))


if __name__ == "__main__":
    serve(Job, run)
