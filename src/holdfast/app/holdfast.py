"""The opened whole: tools, policy, sidecars and one session to settle calls in."""

import logging
import math
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from anyio import CancelScope, Lock, move_on_after

from holdfast.app import answering, inquiring, restoring
from holdfast.app.assembly import Wanted, assembled
from holdfast.app.hands import moved_remark
from holdfast.app.holders import is_gone, lives_elsewhere
from holdfast.app.options import Options, read_once, refuse_unknown
from holdfast.app.problems import ConfigurationError
from holdfast.app.session_views import SessionViews
from holdfast.app.settings import DEFAULT_PROFILE
from holdfast.contract.call import RawArguments, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure
from holdfast.contract.journal import Journal, LeaseHeld
from holdfast.contract.json_value import text_of
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.contract.runtime import AbortSignal, ProgressSink
from holdfast.policy.explain import Explanation
from holdfast.runtime import recovery
from holdfast.runtime.abort import Abort, Either
from holdfast.runtime.session_log import SessionLog
from holdfast.sources.intake import to_tool

_log = logging.getLogger("holdfast")

_ENDING_SECONDS = 1.0
"""How long calls that were told to stop may take to write down how they ended."""
_NOT_AMONG_THE_TOOLS = (
    "a person allowed a call of {tool!r}, or replied to it, and there is no such tool here: open"
    " the session with it among tools=, under a profile that shows it"
)
_BELOW = (
    "session {0} is a subagent's, below session {1}: what bound that one is not known here, and"
    " only what this Holdfast is given counts; open it with the same profile, rules and hooks"
)
_WHILE_RUN = (
    "close that first, or leave session= out to begin another one; its questions can be answered"
    " meanwhile, with holdfast.answer_question or: holdfast sessions answer"
)


class Holdfast(SessionViews):
    """Settles tool calls. Open it with ``async with``; closing removes what it kept on disk."""

    def __init__(
        self,
        *,
        tools: Iterable[object] = (),
        profile: str = DEFAULT_PROFILE,
        workspace: str | Path | None = None,
        **options: Unpack[Options],
    ) -> None:
        refuse_unknown(options)
        given = tuple(map(to_tool, tools))
        whole = assembled(Wanted(given, profile, workspace, read_once(options), Holdfast))
        self._session, self._ids = whole.session, whole.ids
        self._catalog, self._sidecars = whole.catalog, whole.sidecars
        self._redactor, self._hand = whole.redactor, whole.hand
        self._judge, self._log = whole.judge, whole.log
        self._own, self._turn, self._pipeline = whole.own, whole.turn, whole.pipeline
        self._doubts, self._outside = whole.doubts, whole.outside
        self._goes_on, self._is_child = "session" in options, "above" in options
        self._taken_up: recovery.TakenUp | None = None
        self._moved: str | None = None
        self._below: str | None = None
        self._resuming = Lock()
        self._keep_outputs = options.get("keep_outputs", False)
        self._patience = options.get("server_patience", math.inf)
        self._abort = Abort()
        self._open = False

    async def __aenter__(self) -> Self:
        self._abort = Abort()
        if self._log is not None:
            self._log.open()
        try:
            if self._goes_on:
                await self._take_up()
            elif self._is_child and self._log is not None:
                await self._log.journal()  # its parent's names it: it is there, whatever it does
        except BaseException:
            await _let_go(self._log, ends=True)
            raise
        self._own.people.open()
        self._hand.open()
        self._own.open()
        self._open = True
        try:
            await self._outside.open(self._patience)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        self._own.people.close()
        self._abort.set()
        try:
            with CancelScope(shield=True):
                await self._own.tasks.close()
                await self._outside.close()
                await self._hand.close()
                await self._own.close()
                with move_on_after(_ENDING_SECONDS):
                    await self._pipeline.ended()
            await _let_go(self._log, ends=not self._own.people.any_left_open)
        finally:
            if not (self._keep_outputs or self._goes_on or self._own.people.any_left_open):
                self._sidecars.forget(self._session.id)

    async def explain(self, tool: str, arguments: RawArguments = None) -> Explanation | Failure:
        """Tell how a call would be judged; a failure when it would not even get that far."""
        call = ToolCall(
            id=self._ids.new("cal"), tool=tool, arguments=arguments, session_id=self._session.id
        )
        prepared = self._pipeline.prepare(call)
        if isinstance(prepared, Failure):
            return prepared
        self._hand.open()
        try:
            return await self._judge.explain(prepared)
        finally:
            if not self._open:
                await self._hand.close()  # judging may have started a sandbox to see what it gives

    def settle(
        self,
        tool: str,
        arguments: RawArguments = None,
        *,
        model_call_id: str | None = None,
        abort: AbortSignal | None = None,
        progress: ProgressSink | None = None,
    ) -> Coroutine[object, object, Envelope]:
        """Take one call to its one answer, whatever happens on the way. Await it.

        ``progress``: where the signs of life of this call go, instead of where those of all do.
        """
        if not self._open:
            raise RuntimeError("Holdfast is not open; use it as: async with Holdfast(...) as hf")
        call = ToolCall(
            id=self._ids.new("cal"),
            tool=tool,
            arguments=arguments,
            session_id=self._session.id,
            model_call_id=model_call_id,
        )
        heard = self._abort if abort is None else Either(abort, self._abort)
        return self._pipeline.settle(call, heard, progress=progress)

    def new_turn(self) -> None:
        """Say that a person spoke: the commands of the turn are counted anew.

        Before the first one nothing is counted. What changed at the sources of tools is taken over.
        """
        self._turn.begin()
        self._outside.take_changes()

    def take_changes(self) -> bool:
        """Have the tools of manifests and MCP servers as these are now; whether they are others.

        A turn begins with it. Call it between two requests to a model, never while one is under
        way.
        """
        return self._outside.take_changes()

    async def servers_settled(self) -> None:
        """Return when each MCP server has listed its tools, failed or had its time."""
        if self._outside.servers is not None:
            await self._outside.servers.settled()

    @property
    def remarks_on_sources(self) -> tuple[str, ...]:
        """What is doubtful about manifests and MCP servers now; it may change with each look.

        A server that is being connected is not doubtful yet.
        """
        return self._outside.remarks(settled=True)

    async def pin(
        self, server: str, tool: str | None = None, *, seen: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """Accept the definitions an MCP server gives its tools, or one tool's; gives which.

        A person's decision: show them the diffs in `servers` first, and hand back the
        `fingerprints` that stand beside them as ``seen``. LookupError for a server or tool that is
        not there, and where it says something else by now; OSError when it cannot be kept.
        """
        return await self._outside.pin(server, tool, seen)

    async def questions(self) -> tuple[Question, ...]:
        """What still waits for a person's answer, the oldest first."""
        journal = await self._journal()
        return await recovery.open_questions(journal, self._session.id)

    async def answer(self, question: Question | str, answer: Answer) -> None:
        """Answer a question or the approval of this id; NotFitting when it waits not, or no more.

        The first answer counts, whoever gives it. A call that waits for it goes on at once; one
        from before a restart is ended by `resume`.
        """
        approval_id = _approval_id(question, self._session.id)
        told = answering.checked_answer(answer)
        journal = await self._journal()
        await answering.write_answer(journal, self._session.id, approval_id, told, self._redactor)
        self._pipeline.heard(approval_id)

    async def inquiries(self) -> tuple[Inquiry, ...]:
        """What tools still ask a person, the oldest first."""
        journal = await self._journal()
        return await recovery.open_inquiries(journal, self._session.id)

    async def answer_inquiry(self, inquiry: Inquiry | str, replies: Replies) -> None:
        """Reply to an inquiry or the call of this id; NotFitting when it waits not, or no more.

        The first reply counts, whoever gives it. A call that waits for it goes on at once; one from
        before a restart is ended by `resume`.
        """
        call_id = inquiring.call_of(inquiry, self._session.id)
        told = inquiring.checked_replies(replies)
        journal = await self._journal()
        await inquiring.write_replies(journal, self._session.id, call_id, told, self._redactor)
        self._own.people.heard(call_id)

    async def resume(self) -> tuple[Envelope, ...]:
        """End the calls from before a restart that a person answered: what was allowed runs, once.

        What was refused gets its refusal, and what asked a person their reply. ConfigurationError,
        and all of them stay open, in another workspace than before, as what was allowed there would
        mean other files here, and where a tool is missing.
        """
        journal = await self._journal()
        async with self._resuming:
            stayed = frozenset[str]() if self._taken_up is None else self._taken_up.stayed
            calls = await recovery.answered_calls(journal, self._session.id, stayed)
            allowed = [one for one in calls if one.answer.allowed]
            if self._moved is not None and any(one.replies is None for one in allowed):
                raise ConfigurationError(self._moved)
            missing = [
                one.call.tool for one in allowed if self._catalog.plan(one.call.tool) is None
            ]
            if missing:
                raise ConfigurationError(_NOT_AMONG_THE_TOOLS.format(tool=missing[0]))
            for one in calls:
                if one.replies is not None:
                    self._own.people.given(one.call.id, one.replies)
            return tuple([await self._pipeline.settle(one.call, self._abort, one) for one in calls])

    async def _journal(self) -> Journal:
        if self._log is None or not self._open:
            raise RuntimeError("Holdfast is not open, or its configuration has store.kind = 'none'")
        return await self._log.journal()

    async def _take_up(self) -> None:
        if self._log is not None:
            try:
                journal, epoch = await self._log.take_up(is_gone, lives_elsewhere)
            except LeaseHeld as held:
                raise LeaseHeld(f"{held}; {_WHILE_RUN}", held.lease) from None
            self._taken_up = await recovery.close_open_calls(journal, self._session.id, epoch)
            names = [tool.name for tool in self._catalog]
            await restoring.restore(
                journal, self._session.id, self._own, names, self._pipeline.prepare
            )
            await self._own.take_up(journal)
            begun = (await journal.session(self._session.id)).state
            self._moved = moved_remark(self._session, begun.workspace)
            if self._own.tasks.depth:
                self._below = _BELOW.format(self._session.id, begun.parent_id)
            for remark in filter(None, (self._moved, self._below)):
                _log.warning("%s", remark)


async def _let_go(log: SessionLog | None, *, ends: bool) -> None:
    if log is not None:
        with CancelScope(shield=True):
            await log.close(ends=ends)


def _approval_id(question: object, session_id: str) -> str:
    if isinstance(question, str):
        return question
    if not isinstance(question, Question):
        raise TypeError(
            f"{text_of(question)} is no question; give one of questions(), or its approval_id"
        )
    if question.session_id != session_id:
        raise ValueError(
            f"the question is one of session {question.session_id}, and this is {session_id};"
            " use holdfast.answer_question(session, approval, answer)"
        )
    return question.approval_id
