"""The opened whole: tools, policy, sidecars and one session to settle calls in."""

import logging
from collections.abc import Coroutine, Iterable
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, Unpack

import msgspec
from anyio import CancelScope, Lock, move_on_after

from holdfast.app.answering import checked_answer, write_answer
from holdfast.app.audit import audit_log
from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.hands import HandSetup, hand_for, moved_remark, remarks_of
from holdfast.app.holders import is_gone, lives_elsewhere
from holdfast.app.judging import JudgeParts, judge_for, profile_settings, reach_of
from holdfast.app.locations import project_root
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import (
    DEFAULT_PROFILE,
    Settings,
    Surroundings,
    limited,
)
from holdfast.app.store import session_log
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.call import Ask, RawArguments, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import SessionCreated
from holdfast.contract.failure import Failure
from holdfast.contract.journal import Journal, LeaseHeld
from holdfast.contract.json_value import text_of
from holdfast.contract.ports import Answer, Approver, Clock
from holdfast.contract.question import Question
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import AbortSignal, Progress, ProgressSink, SessionFacts
from holdfast.contract.shell import LiveCommands
from holdfast.contract.tool import Tool
from holdfast.contract.watchdog import Hook
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.explain import Explanation
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.recovery import TakenUp, answered_calls, close_open_calls, open_questions
from holdfast.runtime.visibility import visible
from holdfast.sources.intake import to_tool
from holdfast.sources.lint import lint

_log = logging.getLogger("holdfast")

_NOTHING_TO_GO_ON_WITH = (
    "Holdfast(session=...) cannot go on with a session: store.kind is none, so that nothing is"
    " written down; set store.kind = 'sqlite', or leave session= out"
)
_ENDING_SECONDS = 1.0
"""How long calls that were told to stop may take to write down how they ended."""
_NOT_AMONG_THE_TOOLS = (
    "a person allowed a call of {tool!r}, and there is no such tool here: open the session with it"
    " among tools=, under a profile that shows it"
)
_WHILE_RUN = (
    "close that first, or leave session= out to begin another one; its questions can be answered"
    " meanwhile, with holdfast.answer_question or: holdfast sessions answer"
)


class Options(TypedDict, total=False):
    """What may be handed in instead of the usual parts."""

    settings: Settings
    """These, and no file is read: neither configuration nor rules."""
    configuration: Configuration
    """What was read from files before."""
    surroundings: Surroundings
    approver: Approver | None
    """Who is asked. Without one nobody is there, and every question is a refusal."""
    rules: Iterable[Rule]
    """Further rules of the program's own."""
    hooks: Iterable[Hook]
    """Further hooks of the watchdog."""
    progress: ProgressSink
    clock: Clock
    keep_outputs: bool
    """Leave whole outputs on disk after closing, for somebody who still has to read them."""
    session: str
    """Go on with this session, which was written down before."""


class Holdfast:
    """Settles tool calls. Open it with ``async with``; closing removes what it kept on disk."""

    def __init__(
        self,
        *,
        tools: Iterable[object] = (),
        profile: str = DEFAULT_PROFILE,
        workspace: str | Path | None = None,
        **options: Unpack[Options],
    ) -> None:
        _refuse_unknown(options)
        configuration = _configuration(options, workspace)
        settings = configuration.settings
        surroundings = options.get("surroundings") or surroundings_of_this_process(settings)
        clock = options.get("clock") or SystemClock()
        self._ids = TimeIds(clock)
        self._session = SessionFacts(
            id=options.get("session") or self._ids.new("ses"),
            workspace=None if workspace is None else str(Path(workspace).resolve()),
        )
        catalog = Catalog(limited(to_tool(tool), settings.limits) for tool in tools)
        chosen = profile_settings(settings, profile)
        self._catalog = visible(catalog, chosen.tools)
        self._sidecars = SidecarFiles(
            surroundings.data_home / "sessions",
            call_quota=settings.limits.sidecar_call_bytes,
            session_quota=settings.limits.sidecar_session_bytes,
        )
        place = None if self._session.workspace is None else Path(self._session.workspace)
        audit = audit_log(settings.audit, surroundings)
        judging = JudgeParts(
            settings=settings,
            profile=profile,
            profile_settings=chosen,
            surroundings=surroundings,
            tools=self.tools,
            workspace=place,
            project=configuration.project or (None if place is None else project_root(place)),
            session_id=self._session.id,
            found=configuration.rules,
            rules=tuple(options.get("rules", ())),
            hooks=tuple(options.get("hooks", ())),
            audit=audit,
            headless=options.get("approver") is None,
        )
        reach = reach_of(judging)
        redactor = self._redactor = Redactor(surroundings.secrets)
        self._hand = hand_for(
            HandSetup(
                session=self._session,
                tools={tool.name: tool for tool in self.tools},
                reach=reach,
                settings=settings.sandbox,
                surroundings=surroundings,
                sidecars=self._sidecars,
                redactor=redactor,
                clock=clock,
                ids=self._ids,
                audit=audit,
            )
        )
        judging = msgspec.structs.replace(judging, protects=self._hand.protects)
        self._judge = judge_for(judging, reach, clock.now)
        created = SessionCreated(profile=profile, workspace=self._session.workspace)
        self._log = session_log(settings, surroundings, created, self._session.id, clock, self._ids)
        if "session" in options and self._log is None:
            raise ConfigurationError(_NOTHING_TO_GO_ON_WITH)
        self._goes_on = "session" in options
        self._taken_up = TakenUp(frozenset(), ())
        self._moved: str | None = None
        self._resuming = Lock()
        self._pipeline = Pipeline(
            Parts(
                catalog=self._catalog,
                judge=self._judge,
                approver=options.get("approver") or _nobody,
                clock=clock,
                ids=self._ids,
                sidecars=self._sidecars,
                redactor=redactor,
                session=self._session,
                progress=options.get("progress") or _unheard,
                hand=self._hand,
                log=self._log,
                remarks=remarks_of(settings.sandbox),
                max_argument_bytes=settings.limits.argument_bytes,
            )
        )
        self._keep_outputs = options.get("keep_outputs", False)
        self._abort = Abort()
        self._open = False

    async def __aenter__(self) -> Self:
        self._abort = Abort()
        if self._log is not None:
            self._log.open()
        if self._goes_on:
            try:
                await self._take_up()
            except BaseException:
                await self._let_go()
                raise
        self._hand.open()
        self._open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        self._abort.set()
        try:
            with CancelScope(shield=True):
                await self._hand.close()
                with move_on_after(_ENDING_SECONDS):
                    await self._pipeline.ended()
            await self._let_go()
        finally:
            if not (self._keep_outputs or self._goes_on):
                self._sidecars.forget(self._session.id)

    @property
    def session_id(self) -> str:
        """The session that calls are settled in."""
        return self._session.id

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be called, in the order they were registered."""
        return tuple(self._catalog)

    @property
    def commands(self) -> LiveCommands:
        """The commands that run now: what they print, and how to end one."""
        return self._hand.commands

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is doubtful about the tools' schemas, and about a session that was taken up.

        None of it keeps a tool from being called.
        """
        moved = () if self._moved is None else (self._moved,)
        return (*moved, *(remark for tool in self._catalog for remark in self.remarks_on(tool)))

    @property
    def owed(self) -> tuple[Envelope, ...]:
        """The answers of calls that were open when the session was taken up, and ended then.

        Whoever asked for them before is owed these now: what may have begun ends as an error and is
        never run again, what a person refused gets its refusal.
        """
        return self._taken_up.ended

    def remarks_on(self, tool: Tool) -> list[str]:
        """What is doubtful about the schema of one of the tools."""
        plan = self._catalog.plan(tool.name)
        ignored = [] if plan is None else [f"{tool.name}: {remark}" for remark in plan.remarks]
        return list(dict.fromkeys([*lint(tool), *ignored]))

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
    ) -> Coroutine[object, object, Envelope]:
        """Take one call to its one answer, whatever happens on the way. Await it."""
        if not self._open:
            raise RuntimeError("Holdfast is not open; use it as: async with Holdfast(...) as hf")
        call = ToolCall(
            id=self._ids.new("cal"),
            tool=tool,
            arguments=arguments,
            session_id=self._session.id,
            model_call_id=model_call_id,
        )
        return self._pipeline.settle(call, abort or self._abort)

    async def questions(self) -> tuple[Question, ...]:
        """What still waits for a person's answer, the oldest first."""
        journal = await self._journal()
        return await open_questions(journal, self._session.id)

    async def answer(self, question: Question | str, answer: Answer) -> None:
        """Answer a question or the approval of this id; NotFitting when it waits not, or no more.

        The first answer counts, whoever gives it. A call that waits for it goes on at once; one
        from before a restart is ended by `resume`.
        """
        approval_id = _approval_id(question, self._session.id)
        told = checked_answer(answer)
        journal = await self._journal()
        await write_answer(journal, self._session.id, approval_id, told, self._redactor)
        self._pipeline.heard(approval_id)

    async def resume(self) -> tuple[Envelope, ...]:
        """End the calls from before a restart that a person answered: what was allowed runs, once.

        What was refused gets its refusal. ConfigurationError, and all of them stay open, in another
        workspace than before, as what was allowed there would mean other files here, and where a
        tool is missing.
        """
        journal = await self._journal()
        async with self._resuming:
            calls = await answered_calls(journal, self._session.id, self._taken_up.stayed)
            allowed = [one.call.tool for one in calls if one.answer.allowed]
            if self._moved is not None and allowed:
                raise ConfigurationError(self._moved)
            missing = [tool for tool in allowed if self._catalog.plan(tool) is None]
            if missing:
                raise ConfigurationError(_NOT_AMONG_THE_TOOLS.format(tool=missing[0]))
            return tuple([await self._pipeline.settle(one.call, self._abort, one) for one in calls])

    async def _journal(self) -> Journal:
        if self._log is None or not self._open:
            raise RuntimeError("Holdfast is not open, or its configuration has store.kind = 'none'")
        return await self._log.journal()

    async def _let_go(self) -> None:
        if self._log is not None:
            with CancelScope(shield=True):
                await self._log.close()

    async def _take_up(self) -> None:
        if self._log is not None:
            try:
                journal, epoch = await self._log.take_up(is_gone, lives_elsewhere)
            except LeaseHeld as held:
                raise LeaseHeld(f"{held}; {_WHILE_RUN}", held.lease) from None
            self._taken_up = await close_open_calls(journal, self._session.id, epoch)
            begun_in = (await journal.session(self._session.id)).state.workspace
            self._moved = moved_remark(self._session, begun_in)
            if self._moved is not None:
                _log.warning("%s", self._moved)


def _configuration(options: Options, workspace: str | Path | None) -> Configuration:
    given = options.get("configuration")
    settings = options.get("settings")
    if given is not None and settings is not None:
        raise TypeError("Holdfast() takes either settings or configuration, not both")
    if settings is not None:
        return Configuration(settings=settings)
    return load_configuration(workspace) if given is None else given


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


def _refuse_unknown(options: Options) -> None:
    """A misspelt option must not go unnoticed: an approver would then never be asked."""
    known = sorted(Options.__annotations__)
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}=?" if near else f"known: {', '.join(known)}"
            raise TypeError(f"Holdfast() has no option {name!r}; {hint}")


async def _nobody(_ask: Ask) -> Answer | None:
    return None


def _unheard(_progress: Progress) -> None:
    return None
