"""What the events of one session say of its shell, added up. Pure: who reads them is elsewhere.

Events are told in their order, each once. Values of variables stay in here.
"""

import hashlib
import posixpath
from collections import deque
from collections.abc import Mapping
from typing import cast

import msgspec

from holdfast.contract.commanding import CommandDone
from holdfast.contract.events import CallAsked, CallSettled, Event
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.managed.shell import KEPT_COMMANDS, CommandText
from holdfast.contract.managed_events import ShellChanged
from holdfast.contract.truncate import truncate_for_model
from holdfast.envelope.dialects import ok
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES, parse_arguments

PREVIEW_CHARACTERS = 240
MOST_KEPT = 20_000
"""Characters of a stream that are remembered of a command."""
TYPES = ("shell.changed", "call.asked", "call.settled")

_TOOLS = frozenset({"bash", "shell_run", "shell_exec", "sandbox_execute"})
_ACTIONS = frozenset({"run_command", "run_shell", "exec_persistent_shell"})
_PERSISTENT = frozenset({"shell_exec", "exec_persistent_shell"})


class Kept(msgspec.Struct, frozen=True):
    """A command that has run, and where it ran."""

    call_id: str
    text: CommandText
    persistent: bool = False


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """The persistent shell as it was written down last."""

    shell_id: str
    status: str
    started_at: str
    updated_at: str
    command_count: int = 0
    last_command_at: str | None = None


def command_id(call_id: str) -> str:
    """By which a command is known: made of its call's id alone, so it is the same for ever."""
    return hashlib.sha256(call_id.encode()).hexdigest()[:16]


def remembered(done: CommandDone, at: str) -> CommandText:
    """A command as it is shown later."""
    stdout, stderr = (truncate_for_model(text, MOST_KEPT) for text in (done.stdout, done.stderr))
    return CommandText(
        command_id=command_id(done.call_id),
        command=done.command,
        cwd=done.cwd,
        updated_at=at,
        exit_code=done.exit_code,
        timed_out=done.timed_out,
        duration_ms=done.duration_ms,
        output_preview=_preview(stdout if stdout.strip() else stderr),
        stdout_preview=_preview(stdout),
        stderr_preview=_preview(stderr),
        stdout=stdout,
        stderr=stderr,
        summary=_summary(done),
    )


def _preview(text: str) -> str:
    return truncate_for_model(text, PREVIEW_CHARACTERS)


def _summary(done: CommandDone) -> str:
    how = f"exit {done.exit_code}" if done.exit_code is not None else "did not exit by itself"
    return f"{'timed out' if done.timed_out else how} after {done.duration_ms} ms"


class Ledger:
    """Of one session."""

    def __init__(self, workspace: str) -> None:
        self.cwd = workspace
        self.values: dict[str, str] = {}
        """Durable variables with their values, as far as those are known."""
        self.withheld: dict[str, None] = {}
        """Durable variables whose values are not known here."""
        self.process: Process | None = None
        self._workspace = workspace
        self._commands: deque[Kept] = deque(maxlen=KEPT_COMMANDS)
        self._asked: dict[str, CallAsked] = {}

    @property
    def commands(self) -> tuple[Kept, ...]:
        """The newest first."""
        return tuple(reversed(self._commands))

    @property
    def lacks(self) -> bool:
        """Whether an older command may belong to those that are remembered."""
        return len(self._commands) < KEPT_COMMANDS

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the durable variables."""
        return tuple(sorted({*self.values, *self.withheld}))

    def tell(self, event: Event) -> None:
        """The next event."""
        at = event.at.isoformat()
        match event.payload:
            case ShellChanged() as changed:
                self.change(changed, at)
            case CallAsked(call_id=call_id, tool=tool) as asked if tool in _TOOLS:
                self._asked[call_id] = asked
            case CallSettled(call_id=call_id) as settled if call_id in self._asked:
                self._settle(self._asked.pop(call_id), settled, at)
            case _:
                pass

    def change(self, changed: ShellChanged, at: str) -> None:
        """What goes on is different from here on."""
        self.cwd = changed.cwd or self.cwd
        for name in changed.unset_env:
            self.values.pop(name, None)
            self.withheld.pop(name, None)
        for name, value in changed.set_env:
            self.values[name] = value
            self.withheld.pop(name, None)
        for name in changed.withheld_env:
            self.values.pop(name, None)
            self.withheld[name] = None
        if changed.shell_id is not None and changed.status is not None:
            self.process = self._process(changed.shell_id, changed.status, at)

    def keep(self, kept: Kept) -> None:
        """A command has run; what was known of the same call before counts no more."""
        known = [one for one in self._commands if one.call_id != kept.call_id]
        if len(known) == len(self._commands) and kept.persistent and self.process is not None:
            self.process = msgspec.structs.replace(
                self.process,
                command_count=self.process.command_count + 1,
                last_command_at=kept.text.updated_at,
                updated_at=kept.text.updated_at,
            )
        self._commands.clear()
        self._commands.extend([*known, kept])

    def _process(self, shell_id: str, status: str, at: str) -> Process:
        known = self.process
        if known is None or known.shell_id != shell_id:
            return Process(shell_id=shell_id, status=status, started_at=at, updated_at=at)
        return msgspec.structs.replace(known, status=status, updated_at=at)

    def _settle(self, asked: CallAsked, settled: CallSettled, at: str) -> None:
        parsed = parse_arguments(asked.arguments, max_bytes=MAX_ARGUMENT_BYTES)
        arguments = {} if isinstance(parsed, Failure) else parsed.arguments
        action = asked.tool
        if action == "sandbox_execute":
            action = str(arguments.get("name") or "").strip()
            if action not in _ACTIONS:
                return
            arguments = _object(arguments.get("input"))
        done = self._done(asked.call_id, arguments, settled)
        if done is not None:
            self.keep(Kept(asked.call_id, remembered(done, at), action in _PERSISTENT))

    def _done(
        self, call_id: str, arguments: JsonObject, settled: CallSettled
    ) -> CommandDone | None:
        """How it went; None: it never ran."""
        try:
            envelope = ok.parse(bytes(settled.envelope))
        except ok.NotAnEnvelope:
            return None
        shown = _shown(envelope.failure, envelope.result)
        if shown is None:
            return None
        head = _text(shown.get("head"))
        more = envelope.metadata.tail
        tail = f"\n...\n{more}" if head and more else ""
        exit_code = shown.get("exit_code")
        took = shown.get("duration_ms")
        return CommandDone(
            call_id=call_id,
            command=_text(shown.get("command")) or _text(arguments.get("command")),
            cwd=_text(shown.get("cwd")) or self._placed(arguments),
            exit_code=exit_code if isinstance(exit_code, int) else None,
            timed_out=shown.get("timed_out") is True,
            duration_ms=took if isinstance(took, int) else envelope.metadata.duration_ms or 0,
            stdout=_text(shown.get("stdout")) or f"{head}{tail}",
            stderr=_text(shown.get("stderr")),
        )

    def _placed(self, arguments: JsonObject) -> str:
        named = _text(arguments.get("workdir")) or _text(arguments.get("cwd"))
        if not named:
            return self.cwd
        return posixpath.normpath(posixpath.join(self._workspace, named))


def _shown(failure: Failure | None, result: JsonValue) -> JsonObject | None:
    """What the answer to a command holds of it; None: the command was never started."""
    if failure is not None:
        return dict(failure.extras) if "stdout" in failure.extras else None
    shown = _object(result)
    if "ok" not in shown:
        return shown or None
    output = shown.get("output")
    return cast("JsonObject", output) if isinstance(output, dict) else None


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def durable(ledger: Ledger, private: Mapping[str, str]) -> dict[str, str]:
    """Every variable that later commands begin with, of which the value is known."""
    known = {name: private[name] for name in ledger.withheld if name in private}
    return {**ledger.values, **known}
