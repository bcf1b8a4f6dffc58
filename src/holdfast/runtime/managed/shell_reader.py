"""What the tools that read the shell answer: `ShellReading` over a `ShellBook`.

Nothing is changed here but the files in which the shell is shown.
"""

from collections.abc import Callable

from anyio import move_on_after

from holdfast.contract.managed.shell import (
    CommandPolicyView,
    CommandReread,
    LastOutput,
    LiveOutput,
    ShellDescribed,
    ShellHistory,
    Waited,
    WaitStatus,
)
from holdfast.contract.managed.shell_views import ShellPosture
from holdfast.contract.shell import LiveCommands
from holdfast.contract.steps import Step
from holdfast.policy.managed_bash import PROGRAMS
from holdfast.runtime.managed.read_first import read_first
from holdfast.runtime.managed.session_folders import shown_of
from holdfast.runtime.managed.shell_book import SHOWN, ShellBook
from holdfast.runtime.managed.shell_ledger import Kept
from holdfast.runtime.managed.shell_plans import record

_BASE_KEYS = ("PATH", "LANG", "TMPDIR", "HOME", "HOLDFAST_SESSION", "HOLDFAST_WORKSPACE")


class ShellReader:
    """Of one session."""

    def __init__(self, book: ShellBook, commands: Callable[[], LiveCommands]) -> None:
        """``commands``: what runs in the session now."""
        self._book = book
        self._commands = commands

    async def described(self, session_id: str | None, /) -> ShellDescribed:
        """How a shell stands."""
        book = self._book
        state, posture = await book.state(session_id), await book.posture(session_id)
        crowding = book.ground.crowding() if book.is_own(session_id) else None
        pressure = None if crowding is None else crowding.pressure
        calm = posture.busy_plan is None and posture.recovery_plan is None
        menu = read_first(posture, pressure, None, in_describe=True) if calm else ()
        return ShellDescribed(
            cwd=state.cwd,
            env=state.env,
            context_pressure=pressure,
            persistent_shell=state.persistent_shell,
            shell_state=state,
            artifact_paths=await self._paths(session_id),
            last_command_preview=posture.last_command_preview,
            command_policy=self.policy(state.env.keys),
            busy_plan=posture.busy_plan,
            recovery_plan=posture.recovery_plan,
            shell_read_first_alternatives=menu,
        )

    def policy(self, keys: tuple[str, ...]) -> CommandPolicyView:
        """What commands are held to; ``keys``: the variables that the session has set."""
        return CommandPolicyView(
            allowlisted_commands=PROGRAMS,
            cwd_scope=self._book.roots(writable=True),
            exposed_env_keys=(*_BASE_KEYS, *keys),
        )

    async def history(self, session_id: str | None, limit: int, /) -> ShellHistory:
        """The newest commands."""
        posture = await self._book.posture(session_id)
        kept = (await self._book.events.of(session_id)).commands[:limit]
        step = _next(posture)
        if step is None and kept:
            step = _reread(kept[0], None if self._book.is_own(session_id) else session_id)
        return ShellHistory(
            cwd=posture.cwd,
            count=len(kept),
            commands=tuple(map(record, kept)),
            artifact_paths=await self._paths(session_id),
            busy_plan=posture.busy_plan,
            recovery_plan=posture.recovery_plan,
            next_step=step,
        )

    async def last_output(self, session_id: str | None, /) -> LastOutput:
        """What the last command printed."""
        posture = await self._book.posture(session_id)
        live = self._book.live() if posture.busy else None
        return LastOutput(
            cwd=posture.cwd,
            last_command=await self._book.last(session_id),
            live_command=None
            if live is None
            else LiveOutput(
                shell_id=live.shell_id,
                command=live.current_command,
                started_at=live.current_command_started_at,
                stdout_preview=live.stdout_preview,
                stderr_preview=live.stderr_preview,
            ),
            artifact_paths=await self._paths(session_id),
            busy_plan=posture.busy_plan,
            recovery_plan=posture.recovery_plan,
            next_step=_next(posture),
        )

    async def command(self, command_id: str, session_id: str | None, /) -> CommandReread:
        """One of them, by its id."""
        posture = await self._book.posture(session_id)
        kept = (await self._book.events.of(session_id)).commands
        found = next((one.text for one in kept if one.text.command_id == command_id), None)
        return CommandReread(
            command=found,
            artifact_paths=await self._paths(session_id),
            busy_plan=posture.busy_plan,
            recovery_plan=posture.recovery_plan,
            next_step=_next(posture),
        )

    async def _paths(self, session_id: str | None) -> tuple[str, ...]:
        """Where the hand of the session that is asked about sees its shell."""
        if session_id is None or self._book.is_own(session_id):
            return self._book.paths()
        found = [await shown_of(self._book.ground, session_id, one) for one in SHOWN]
        return tuple(paths[0] for paths in found if paths)

    async def wait(self, seconds: float, /) -> Waited:
        """Wait for the command that runs in the persistent shell."""
        call_id = self._running()
        if call_id is None:
            return await self._waited("idle")
        with move_on_after(seconds):
            await self._book.events.settled(call_id)
            await self._book.show()
            return await self._over(call_id)
        return await self._waited("running")

    def _running(self) -> str | None:
        """The call whose command the persistent shell runs."""
        live = self._book.live()
        if live is None or live.status != "busy":
            return None
        for one in self._commands().all():
            if one.kind == "persistent" and one.state == "running":
                return one.call_id
        return None

    async def _over(self, call_id: str) -> Waited:
        kept = (await self._book.events.own()).commands
        found = next((one for one in kept if one.call_id == call_id), None)
        if found is None:
            return await self._waited("error", error="The command was ended before it was over.")
        if found.text.timed_out or found.text.exit_code is None:
            return await self._waited("error", found, f"The command {found.text.summary}.")
        return await self._waited("completed", found)

    async def _waited(
        self, status: WaitStatus, found: Kept | None = None, error: str | None = None
    ) -> Waited:
        state, posture = await self._book.state(), await self._book.posture()
        return Waited(
            status=status,
            persistent_shell=state.persistent_shell,
            shell_state=state,
            result=None if found is None else found.text,
            error=error,
            artifact_paths=self._book.paths(),
            busy_plan=posture.busy_plan,
            recovery_plan=posture.recovery_plan,
            next_step=_next(posture),
        )


def _next(posture: ShellPosture) -> Step | None:
    if posture.busy_plan is not None:
        return posture.busy_plan.step
    return posture.recovery_plan


def _reread(kept: Kept, session_id: str | None) -> Step:
    named = {} if session_id is None else {"session_id": session_id}
    return Step(
        tool="shell_read_command",
        args={"command_id": kept.text.command_id, **named},
        rationale="Rereads the newest command with what it printed.",
    )
