"""An agent at work for a person at the command line: opened, watched, interrupted, its end told.

What `run` and `resume` share. How a run goes is not known here, nor how it is shown.
"""

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import cast

import anyio
import msgspec

from holdfast.app.agent_session import AgentSession
from holdfast.app.agent_work import OpenAgent, Work, opened_agent
from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError, MissingProgramError, ToolFileError
from holdfast.app.read_along import Subagents
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.contract.person import Asker
from holdfast.contract.tool import ToolDefinitionError
from holdfast.contract.wakes import WakeEnd
from holdfast.execution.drive import PlainTasks
from holdfast.surfaces.cli.asked_here import ApprovedHere, Decides, Desk, InquiredHere
from holdfast.surfaces.cli.asking import approver_here
from holdfast.surfaces.cli.commands_print import last_printed
from holdfast.surfaces.cli.full_screen.attending import Attending, tell_history
from holdfast.surfaces.cli.full_screen.chosen import place_shown, why_not
from holdfast.surfaces.cli.full_screen.layout import Facts
from holdfast.surfaces.cli.full_screen.terminal import Terminal
from holdfast.surfaces.cli.full_screen.view import FullScreen
from holdfast.surfaces.cli.hang_up import forget_terminals, terminals_in
from holdfast.surfaces.cli.heard import Heard
from holdfast.surfaces.cli.inquiring import asker_here
from holdfast.surfaces.cli.live_view import LiveView
from holdfast.surfaces.cli.opening import Chosen
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
from holdfast.surfaces.cli.run_view import JsonView, QuietView, View, tell_no_run
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.stopping import Ladder, Stops, heed_signals
from holdfast.surfaces.cli.told_lines import Listener

USAGE = 2
TICK_SECONDS = 0.5
_ENDING_SECONDS = 5.0
_UNASKED = (
    "nobody was there to be asked, so that a call was refused; run it at a terminal, with --later,"
    " or, unless it always asks, allow it by a rule: holdfast policy explain says what was in"
    " question"
)


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done."""

    arguments: Namespace
    chosen: Chosen
    workspace: str
    agent: str | None = None
    session: str | None = None
    message: str | None = None
    seen: int | None = None
    """The last event there was when the session was looked for."""


def done(task: Task, screen: Screen) -> int:
    """Do it; returns the exit status. JournalError, ConfigurationError."""
    return anyio.run(partial(_done, task, screen))


UNUSABLE = (
    UsageError,
    UnknownSession,
    ConfigurationError,
    ToolFileError,
    ToolDefinitionError,
)
"""What an operator has to put right first."""


def lone(problem: Exception) -> Exception:
    """What went wrong, where that is one thing: it came out of tasks within tasks."""
    if not isinstance(problem, ExceptionGroup):
        return problem
    group = cast("ExceptionGroup[Exception]", problem)
    return lone(group.exceptions[0]) if len(group.exceptions) == 1 else group


def worded(problem: Exception, screen: Screen, *, as_json: bool) -> int:
    """Say why there was no run, or why it broke off; returns the exit status."""
    step = f"; {problem.step}" if isinstance(problem, MissingProgramError) else ""
    screen.remark(f"{problem}{step}")
    missing = isinstance(problem, MissingProgramError)
    status = USAGE if isinstance(problem, UNUSABLE) and not missing else FAILED
    if as_json:
        tell_no_run(one_line(str(problem)), status, screen)
    return status


def rests(session_id: str, screen: Screen, *, as_json: bool) -> int:
    """Say that nothing is left to do in a session, without opening it; returns the exit status."""
    if as_json:
        end = WakeEnd(session_id=session_id, executed=False, reason="idle")
        JsonView(_line(screen), Paint(screen.beside)).end(end, 0, 0)
    screen.remark(NOTHING.format(session_id))
    return 0


async def _done(task: Task, screen: Screen) -> int:
    subagents = Subagents()
    view = _view(task, screen)
    desk = Desk(view)
    ladder = Ladder()
    tasks = PlainTasks()
    run = anyio.CancelScope()
    seen_at = terminals_in([screen.stage, screen.beside, sys.stdout, sys.stderr])
    stops = _stops(view, run.cancel, partial(forget_terminals, seen_at))
    try:
        async with opened_agent(_work(task), **_options(task, desk, subagents)) as opened:
            session, holdfast = opened.session, opened.holdfast
            subagents.top = session.id
            desk.redactor = holdfast.parts.redactor
            view.begin(session.id, session.model.name, _configured_name(task))
            if isinstance(view, FullScreen):
                await tell_history(view, opened, task.seen)
                tasks.begin(Attending(view, opened)())
            tasks.begin(heed_signals(session, ladder, stops))
            heard = Heard(view, opened, subagents, lambda: ladder.is_over)
            tasks.begin(_tick(opened, view, heard))
            end = WakeEnd(session_id=session.id, executed=True, ended="cancelled")
            with run:
                end = await _run(task, session, heard)
            ladder.end()
            questions = (*await holdfast.questions(), *await holdfast.inquiries())
    finally:
        await tasks.end(_ENDING_SECONDS)
        if isinstance(view, FullScreen):
            view.leave()  # also where nobody attended to it yet
    status = status_of_run(end, waits=bool(questions))
    view.end(end, status, heard.refused)
    if heard.unasked:
        view.remark(_UNASKED)
    known = end.problem is not None and view.knows(end.problem)
    answers = [*map(answer_line, questions)]
    if (said := words_at_the_end(end, answers, problem_is_known=known)) is not None:
        view.remark(said)
    return status


def _stops(view: View, end_now: Callable[[], None], hang_up: Callable[[], None]) -> Stops:
    """What signals do; to a screen that is not the ordinary one, too."""
    if not isinstance(view, FullScreen):
        return Stops(view.remark, end_now, hang_up)

    def forget() -> None:
        hang_up()
        view.terminal.forget()

    return Stops(view.remark, end_now, forget, view.leave)


async def _run(task: Task, session: AgentSession, heard: Heard) -> WakeEnd:
    """Have it work until it rests."""
    if task.session is not None:
        await heard.before_it_runs(task.seen)
    async for told in session.run(task.message, goes_on=task.session is not None):
        await heard.note(told)
    return session.last or WakeEnd(session_id=session.id, executed=False, reason="idle")


async def _tick(opened: OpenAgent, view: View, heard: Heard) -> None:
    """Tell the view what commands print meanwhile, and what subagents do."""
    while True:
        await anyio.sleep(TICK_SECONDS)
        await heard.look_below()
        running = {
            one.call_id: last_printed(one)
            for one in opened.session.window.commands.all()
            if one.state == "running"
        }
        view.tick(running)


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


def _options(task: Task, desk: Desk, subagents: Subagents) -> Options:
    options = Options(configuration=task.chosen.configuration)
    if manifests := task.chosen.sources.get("manifests"):
        options["manifests"] = manifests
    if timeouts := task.chosen.sources.get("timeouts"):
        options["timeouts"] = timeouts
    if task.arguments.later:
        options["approver"] = options["person"] = "elsewhere"
    elif not task.arguments.headless:
        decides, asks = _person(desk.view)
        if decides is not None:
            options["approver"] = ApprovedHere(decides, desk, task.workspace, subagents)
        if asks is not None:
            options["person"] = InquiredHere(asks, desk)
    return options


def _person(view: View) -> tuple[Decides | None, Asker | None]:
    """Who is asked about calls, and who is asked what tools want to know."""
    if isinstance(view, FullScreen):
        return view.decides, view.asks
    approver = approver_here()
    return None if approver is None else approver.decided, asker_here()


def _is_asked(task: Task) -> bool:
    """Whether whoever watches is the one who is asked."""
    arguments = task.arguments
    return not (arguments.later or arguments.headless) and approver_here() is not None


def _view(task: Task, screen: Screen) -> View:
    arguments = task.arguments
    if arguments.json:
        return JsonView(_line(screen), Paint(screen.beside))
    if arguments.quiet:
        return QuietView(screen.raw, Paint(screen.beside))
    if _wants_screen(task, screen):
        place = place_shown(task.workspace)
        facts = Facts(profile=task.chosen.profile, workspace=place)
        return FullScreen(Terminal(sys.stdin, screen.stage), Paint(screen.stage), facts)
    seen = screen.is_terminal
    listener = Listener(said=task.message, is_asked=_is_asked(task))
    return LiveView(Paint(screen.stage), None if seen else screen.raw, listener)


def _wants_screen(task: Task, screen: Screen) -> bool:
    """Whether the whole screen is wanted, and can be had."""
    asked: bool | None = task.arguments.screen
    if not (task.chosen.configuration.settings.run.view == "screen" if asked is None else asked):
        return False
    why = why_not(screen)
    if why is not None and (asked or screen.is_terminal):
        screen.remark(f"the whole screen cannot be had, as {why}; the ordinary view is shown")
    return why is None


def _line(screen: Screen) -> "partial[None]":
    return partial(_write_line, screen, (OSError,) if screen.is_terminal else ())


def _write_line(screen: Screen, gone: tuple[type[OSError], ...], line: str) -> None:
    with suppress(*gone):  # a terminal may be closed, and the run still ends in order
        screen.raw(line)
        screen.show_now()


BROKEN = (*UNUSABLE, JournalError)
"""What keeps a run from beginning, or from going on."""
