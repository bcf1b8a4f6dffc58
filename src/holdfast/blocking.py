"""The same surface for synchronous code: one event loop in a background thread.

    with Holdfast(tools=[weather]) as hf:
        envelope = hf.settle("weather", {"city": "Oslo"})

May be used from several threads at once. An interrupt (Ctrl-C) stops the call that is waited for.
How a call is settled is not known here.
"""

import os
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Self, TypeVar, Unpack

import anyio
import msgspec
from anyio import get_cancelled_exc_class
from anyio.from_thread import BlockingPortal, start_blocking_portal

from holdfast.app import agent_session, answering, any_session, telling
from holdfast.app.holdfast import Holdfast as AsyncHoldfast
from holdfast.app.options import Options
from holdfast.app.settings import DEFAULT_PROFILE
from holdfast.contract.agents import Agent
from holdfast.contract.call import RawArguments
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import Event
from holdfast.contract.failure import Failure
from holdfast.contract.model import ChatModel
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.contract.runtime import AbortSignal
from holdfast.contract.session_state import CustomRequest
from holdfast.contract.shell import LiveCommand
from holdfast.contract.tool import Tool
from holdfast.contract.wakes import WakeEnd
from holdfast.policy.explain import Explanation
from holdfast.sources.mcp.states import ServerState

__all__ = ["AgentSession", "Holdfast", "answer_question", "open_questions"]

_T = TypeVar("_T")


class _InThread:
    """A session whose event loop runs in a background thread for as long as it is open."""

    def __init__(
        self,
        *,
        tools: Iterable[object] = (),
        profile: str = DEFAULT_PROFILE,
        workspace: str | Path | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._inner = AsyncHoldfast(tools=tools, profile=profile, workspace=workspace, **options)
        self._portal: BlockingPortal | None = None
        self._closing = ExitStack()
        self._ended = False
        self._process = os.getpid()

    def __enter__(self) -> Self:
        if self._portal is not None:
            raise RuntimeError("Holdfast is already open")
        with ExitStack() as opening:
            portal = opening.enter_context(start_blocking_portal(name="holdfast"))
            opening.enter_context(portal.wrap_async_context_manager(self._inner))
            self._closing = opening.pop_all()
        self._portal = portal
        self._process = os.getpid()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal = None
        if self._process != os.getpid():
            return  # forked since: what is open is the parent's, which closes it
        try:
            self._closing.__exit__(kind, error, trace)
        except RuntimeError:
            if not self._ended:
                raise

    def new_session(
        self,
        *,
        agent: str | Agent | None = None,
        model: str | ChatModel | None = None,
        session: str | None = None,
    ) -> "AgentSession":
        """A session that an agent runs in; see `holdfast.Holdfast.new_session`."""
        new = partial(self._inner.new_session, agent=agent, model=model, session=session)
        return AgentSession(self._opened().call(new), self._opened, self._result)

    def run_due(self, *, forever: bool = False) -> int:
        """Run the sessions of agents that are due; see `holdfast.Holdfast.run_due`.

        ``forever``: until whoever waits for it is interrupted, or this is closed.
        """
        return self._result(partial(self._inner.run_due, forever=forever))

    def _opened(self) -> BlockingPortal:
        if self._portal is None:
            raise RuntimeError("Holdfast is not open; use it as: with Holdfast(...) as hf")
        if self._process != os.getpid():
            raise RuntimeError(
                "Holdfast was opened before this process was forked; open another one in the child"
            )
        return self._portal

    def _result(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """What comes of a work that runs bodies of tools."""
        answer = self._opened().start_task_soon(_carried, work)
        try:
            settled = answer.result()
        except CancelledError:
            if self._portal is None:
                raise  # it was closed while the call still ran
            # Not by us: a task that a body left running has ended the loop, as SystemExit does.
            self._ended = True
            raise RuntimeError("this Holdfast's event loop has ended; open a new one") from None
        except BaseException:
            # Nobody waits for the answer any more: an interrupt must not leave the call running.
            answer.cancel()
            raise
        if isinstance(settled, _Escaped):
            raise settled.error
        return settled


class Holdfast(_InThread):
    """Settles tool calls. Open it with ``with``; it takes what `holdfast.Holdfast` takes.

    Closing removes what it kept on disk, tells calls in flight to stop and waits until they have
    ended; one whose tool may not be interrupted runs to its end or its deadline.
    """

    @property
    def session_id(self) -> str:
        """The session that calls are settled in."""
        return self._inner.session_id

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be called, in the order they were registered."""
        return self._inner.tools

    @property
    def owed(self) -> tuple[Envelope, ...]:
        """The answers of calls from before a restart that ended with it; see `holdfast`."""
        return self._inner.owed

    def explain(self, tool: str, arguments: RawArguments = None) -> Explanation | Failure:
        """Tell how a call would be judged; a failure when it would not even get that far."""
        return self._opened().call(self._inner.explain, tool, arguments)

    def settle(
        self,
        tool: str,
        arguments: RawArguments = None,
        *,
        model_call_id: str | None = None,
        abort: AbortSignal | None = None,
    ) -> Envelope:
        """Take one call to its one answer, whatever happens on the way."""
        settle = partial(self._inner.settle, model_call_id=model_call_id, abort=abort)
        return self._result(partial(settle, tool, arguments))

    @property
    def servers(self) -> tuple[ServerState, ...]:
        """How each MCP server stands."""
        portal = self._portal
        return self._inner.servers if portal is None else portal.call(lambda: self._inner.servers)

    def pin(self, server: str, tool: str | None = None) -> tuple[str, ...]:
        """Accept what an MCP server says of its tools now; see `holdfast.Holdfast.pin`."""
        return self._opened().call(self._inner.pin, server, tool)

    def new_turn(self) -> None:
        """Say that a person spoke; see `holdfast.Holdfast.new_turn`."""
        self._opened().call(self._inner.new_turn)

    def take_changes(self) -> bool:
        """Have the tools of manifests and MCP servers as these are now; see `holdfast.Holdfast`."""
        return self._opened().call(self._inner.take_changes)

    def commands(self) -> tuple[LiveCommand, ...]:
        """The commands of the session that run now, and those that ended moments ago."""
        return self._opened().call(lambda: self._inner.commands.all())

    def questions(self) -> tuple[Question, ...]:
        """What still waits for a person's answer, the oldest first."""
        return self._opened().call(self._inner.questions)

    def answer(self, question: Question | str, answer: Answer) -> None:
        """Answer a question or the approval of this id; see `holdfast.Holdfast.answer`."""
        self._opened().call(self._inner.answer, question, answer)

    def inquiries(self) -> tuple[Inquiry, ...]:
        """What tools still ask a person, the oldest first."""
        return self._opened().call(self._inner.inquiries)

    def answer_inquiry(self, inquiry: Inquiry | str, replies: Replies) -> None:
        """Reply to an inquiry or the call of this id; see `holdfast.Holdfast.answer_inquiry`."""
        self._opened().call(self._inner.answer_inquiry, inquiry, replies)

    def resume(self) -> tuple[Envelope, ...]:
        """End the calls from before a restart that a person answered; see `holdfast.Holdfast`."""
        return self._result(self._inner.resume)


class AgentSession:
    """An agent at work in one session, for synchronous code. May be used from several threads."""

    def __init__(
        self,
        inner: "agent_session.AgentSession",
        opened: Callable[[], BlockingPortal],
        result: "Callable[[Callable[[], Awaitable[WakeEnd]]], WakeEnd]",
    ) -> None:
        """``opened``: what reaches the event loop that it lives on. ``result``: what waits for a
        work there, and stops it where that is interrupted."""
        self._inner = inner
        self._opened = opened
        self._result = result

    @property
    def id(self) -> str:
        """The session's own id."""
        return self._inner.id

    @property
    def last(self) -> WakeEnd | None:
        """How the last run ended."""
        return self._inner.last

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._inner.running

    def run(
        self, message: str | None = None, *, goes_on: bool = False
    ) -> "Generator[telling.Told]":
        """Say something, run until the agent rests, and tell what happens meanwhile.

        Whoever stops listening, or is interrupted, stops the run, and waits until it has ended.
        """
        told: SimpleQueue[telling.Told | _Mark] = SimpleQueue()

        async def listen() -> None:
            told.put(_Mark(begins=True))
            try:
                async for one in self._inner.run(message, goes_on=goes_on):
                    told.put(one)
            finally:
                told.put(_Mark(begins=False))

        work = self._opened().start_task_soon(listen)
        ends = True
        try:
            while not (isinstance(one := told.get(), _Mark) and not one.begins):
                if isinstance(one, _Mark):
                    ends = False
                else:
                    yield one
            ends = True
            work.result()
        finally:
            work.cancel()
            while not ends:
                one = told.get()
                ends = isinstance(one, _Mark)

    def wake(self, *, goes_on: bool = False) -> WakeEnd:
        """Run once, if there is anything to do, and wait until it rests; how it ended."""
        return self._result(partial(self._inner.wake, goes_on=goes_on))

    def send(self, message: str) -> Event:
        """Say something; the next run, or the one under way, takes it into account."""
        return self._opened().call(self._inner.send, message)

    def interrupt(self, note: str | None = None) -> None:
        """Stop what runs, is blocked or scheduled; a note is what to do instead."""
        self._opened().call(self._inner.interrupt, note)

    def interrupt_call(self) -> bool:
        """Stop the calls that run now, and let the agent go on; whether there were any."""
        return self._opened().call(self._inner.interrupt_call)

    def questions(self) -> tuple[Question, ...]:
        """The calls that wait for a person's leave, the oldest first."""
        return self._opened().call(self._inner.questions)

    def answer(self, question: Question | str, answer: Answer) -> None:
        """Answer one, or the approval of this id; NotFitting when it waits not, or no more."""
        self._opened().call(self._inner.answer, question, answer)

    def inquiries(self) -> tuple[Inquiry, ...]:
        """What tools ask a person, the oldest first."""
        return self._opened().call(self._inner.inquiries)

    def reply(self, inquiry: Inquiry | str, replies: Replies) -> None:
        """Reply to one, or to the call of this id; NotFitting when it waits not, or no more."""
        self._opened().call(self._inner.reply, inquiry, replies)

    def request(self) -> CustomRequest | None:
        """The call of a tool of the application's own that waits for what the application gives."""
        return self._opened().call(self._inner.request)

    def give(self, request: CustomRequest | str, output: str) -> None:
        """Give what the application has for it; NotFitting when it waits not, or no more."""
        self._opened().call(self._inner.give, request, output)

    def close(self) -> None:
        """Stop what runs, and let go of the session."""
        self._opened().call(self._inner.close)


def open_questions(
    session: str | None = None, **options: "Unpack[any_session.StoreOptions]"
) -> tuple[Question, ...]:
    """What waits for a person, of one session or of all; see `holdfast.open_questions`."""
    return anyio.run(partial(answering.open_questions, session, **options))


def answer_question(
    session: str, approval: str, answer: Answer, **options: "Unpack[any_session.StoreOptions]"
) -> None:
    """Answer a question of a session that anybody or nobody runs; see `holdfast`."""
    anyio.run(partial(answering.answer_question, session, approval, answer, **options))


class _Mark(msgspec.Struct, frozen=True):
    """Where a run begins to be told, and where it has ended."""

    begins: bool


class _Escaped(msgspec.Struct, frozen=True):
    """What a body raised that is no `Exception`."""

    error: BaseException


async def _carried(work: Callable[[], Awaitable[_T]]) -> _T | _Escaped:
    """Raised inside the loop, such an error would end it, and every other call with it."""
    try:
        return await work()
    except get_cancelled_exc_class():
        raise
    except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
        return _Escaped(error)
