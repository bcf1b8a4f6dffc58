"""An agent at work for a person at the command line: opened, watched, interrupted, its end told.

What `run` and `resume` share. How a run goes is not known here, nor how it is shown.
"""

from argparse import Namespace
from functools import partial

import anyio
import msgspec

from holdfast.app.agent_work import OpenAgent, Work, opened_agent
from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError, MissingProgramError, ToolFileError
from holdfast.app.telling import Told
from holdfast.contract.events import ApprovalAnswered, CallSettled, Event
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.contract.tool import ToolDefinitionError
from holdfast.contract.wakes import WakeEnd
from holdfast.execution.drive import PlainTasks
from holdfast.policy.words import NOBODY_TO_ASK
from holdfast.surfaces.cli.asked_here import ApprovedHere, InquiredHere, Subagents
from holdfast.surfaces.cli.asking import approver_here
from holdfast.surfaces.cli.inquiring import asker_here
from holdfast.surfaces.cli.live_view import LiveView
from holdfast.surfaces.cli.opening import Chosen
from holdfast.surfaces.cli.overheard import Overheard
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.run_checks import table_name
from holdfast.surfaces.cli.run_end import (
    FAILED,
    NOTHING,
    answer_line,
    status_of_run,
    words_at_the_end,
)
from holdfast.surfaces.cli.run_options import limits_in
from holdfast.surfaces.cli.run_view import JsonView, QuietView, View
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.stopping import Ladder, heed_signals

USAGE = 2
TICK_SECONDS = 0.5
_ENDING_SECONDS = 5.0
_UNASKED = (
    "nobody was there to be asked, so that a call was refused; run it at a terminal, with --later,"
    " or allow it by a rule: holdfast policy explain says what was in question"
)


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done."""

    arguments: Namespace
    chosen: Chosen
    workspace: str
    agent: str | None = None
    session: str | None = None
    message: str | None = None


def done(task: Task, screen: Screen) -> int:
    """Do it; returns the exit status. JournalError, ConfigurationError."""
    return anyio.run(partial(_done, task, screen))


def told_as_json(problem: Exception, screen: Screen) -> None:
    """The last line for a program that reads lines, where there was no run."""
    view = JsonView(_line(screen), Paint(screen.beside))
    end = WakeEnd(session_id="", executed=False, problem=one_line(str(problem)))
    view.end(end, USAGE if isinstance(problem, UNUSABLE) else FAILED)


UNUSABLE = (
    UsageError,
    UnknownSession,
    ConfigurationError,
    ToolFileError,
    ToolDefinitionError,
)
"""What an operator has to put right first."""


def worded(problem: Exception, screen: Screen, *, as_json: bool) -> int:
    """Say why there was no run, or why it broke off; returns the exit status."""
    step = f"; {problem.step}" if isinstance(problem, MissingProgramError) else ""
    screen.remark(f"{problem}{step}")
    if as_json:
        told_as_json(problem, screen)
    missing = isinstance(problem, MissingProgramError)
    return USAGE if isinstance(problem, UNUSABLE) and not missing else FAILED


def rests(session_id: str, screen: Screen, *, as_json: bool) -> int:
    """Say that nothing is left to do in a session, without opening it; returns the exit status."""
    if as_json:
        end = WakeEnd(session_id=session_id, executed=False, reason="idle")
        JsonView(_line(screen), Paint(screen.beside)).end(end, 0)
    screen.remark(NOTHING.format(session_id))
    return 0


async def _done(task: Task, screen: Screen) -> int:
    view = _view(task, screen)
    ladder = Ladder()
    tasks = PlainTasks()
    subagents = Subagents()
    try:
        async with opened_agent(_work(task), **_options(task, view, subagents)) as opened:
            session, holdfast = opened.session, opened.holdfast
            subagents.top = session.id
            view.begin(session.id, session.model.name, _configured_name(task))
            tasks.begin(heed_signals(session, ladder, view.remark))
            tasks.begin(_tick(opened, view))
            heard = _Heard(view, subagents, Overheard(opened, lambda: ladder.is_over))
            end = await _run(task, opened, heard)
            ladder.end()
            questions = (*await holdfast.questions(), *await holdfast.inquiries())
    finally:
        await tasks.end(_ENDING_SECONDS)
    status = status_of_run(end, waits=bool(questions))
    view.end(end, status)
    if heard.unasked:
        view.remark(_UNASKED)
    if (said := words_at_the_end(end, [*map(answer_line, questions)])) is not None:
        view.remark(said)
    return status


async def _run(task: Task, opened: OpenAgent, heard: "_Heard") -> WakeEnd:
    """Have it work until it rests.

    A refusal ends a run where somebody is asked; one with words is for the model to go on from.
    """
    session = opened.session
    if task.session is not None:
        await heard.before_it_runs()
    async for told in session.run(task.message, goes_on=task.session is not None):
        await heard.note(told)
    while session.last is not None and session.last.ended == "tool_rejected" and heard.words:
        heard.words = False
        async for told in session.run(goes_on=True):
            await heard.note(told)
    return session.last or WakeEnd(session_id=session.id, executed=False, reason="idle")


class _Heard:
    """Shows what happens, and keeps of it what decides how it goes on and what is said at the
    end."""

    def __init__(self, view: View, subagents: Subagents, others: Overheard) -> None:
        self._view = view
        self._subagents = subagents
        self._others = others
        self.unasked = False
        """Whether a call was refused as nobody was there to be asked."""
        self.words = False
        """Whether the last refusal came with words for the model."""

    async def before_it_runs(self) -> None:
        """Show what was said since the last run."""
        for one in await self._others.waiting():
            self._view.show(one)

    async def note(self, told: Told) -> None:
        """One more thing that happened."""
        if self._others.is_known(told):
            return
        for one in await self._others.before(told):
            self._view.show(one)
        self._subagents.note(told)
        self._view.show(told)
        match told.payload if isinstance(told, Event) else None:
            case CallSettled(envelope=envelope):
                self.unasked = self.unasked or NOBODY_TO_ASK.encode() in bytes(envelope)
            case ApprovalAnswered(allowed=False, note=note):
                self.words = note is not None
            case _:
                pass


async def _tick(opened: OpenAgent, view: View) -> None:
    """Tell the view what commands print meanwhile."""
    while True:
        await anyio.sleep(TICK_SECONDS)
        running = {
            one.call_id: _last_line(one.stdout_tail or one.stderr_tail)
            for one in opened.holdfast.commands.all()
            if one.state == "running"
        }
        view.tick(running)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def _work(task: Task) -> Work:
    arguments = task.arguments
    return Work(
        tools=task.chosen.tools,
        profile=task.chosen.profile,
        workspace=task.workspace,
        agent=task.agent,
        model=arguments.model,
        session=task.session,
        within=limits_in(arguments),
    )


def _configured_name(task: Task) -> str | None:
    """What the model's table is called, where it has one."""
    settings = task.chosen.configuration.settings
    return table_name(settings, task.agent, task.arguments.model)


def _options(task: Task, view: View, subagents: Subagents) -> Options:
    options = Options(configuration=task.chosen.configuration)
    if manifests := task.chosen.sources.get("manifests"):
        options["manifests"] = manifests
    if timeouts := task.chosen.sources.get("timeouts"):
        options["timeouts"] = timeouts
    if task.arguments.later:
        options["approver"] = options["person"] = "elsewhere"
    elif not task.arguments.headless:
        approver, asker = approver_here(), asker_here()
        if approver is not None:
            options["approver"] = ApprovedHere(approver, view, task.workspace, subagents)
        if asker is not None:
            options["person"] = InquiredHere(asker, view)
    return options


def _view(task: Task, screen: Screen) -> View:
    arguments = task.arguments
    if arguments.json:
        return JsonView(_line(screen), Paint(screen.beside))
    if arguments.quiet:
        return QuietView(screen.raw, Paint(screen.beside))
    seen = screen.is_terminal
    return LiveView(Paint(screen.stage), None if seen else screen.raw, task.message)


def _line(screen: Screen) -> "partial[None]":
    return partial(_write_line, screen)


def _write_line(screen: Screen, line: str) -> None:
    screen.raw(line)
    screen.show_now()


BROKEN = (*UNUSABLE, JournalError)
"""What keeps a run from beginning, or from going on."""
