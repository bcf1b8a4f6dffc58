"""Which commands a profile runs, beyond what rules say: any, only reading ones, or ten programs.

It only narrows. What a command can reach is bounded by the kernel as everywhere; this keeps a
profile from running what it was not made for, and tells a model what to call instead.
"""

from collections.abc import Mapping

import msgspec

from holdfast.contract.commanding import CommandDone, CommandGround, CommandPolicy
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.json_value import encode_json
from holdfast.contract.paths import is_within
from holdfast.contract.ports import PathFacts, PathView
from holdfast.contract.shell import CommandText
from holdfast.policy import managed_bash, read_only

_NOT_READING = (
    "This profile runs only commands that are known to change nothing: ls, pwd, echo, cat, head,"
    " tail, wc, grep, find, rg and the reading verbs of git, one plain command per call."
)
_ELSEWHERE = "Here a command reads below its working directory's root alone; {!r} lies elsewhere."
_NO_ARGUMENTS: Mapping[str, object] = {}


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session's commands work."""

    roots: tuple[str, ...]
    """What is mounted: absolute, without links. The first is where relative paths begin."""
    facts: PathFacts


def refusal_of(
    policy: CommandPolicy,
    command: str,
    grounds: Grounds,
    directory: str | None = None,
    extra: Mapping[str, object] = _NO_ARGUMENTS,
) -> str | None:
    """Why a profile does not run a command, and what to call instead; None: it runs it.

    ``directory``: where it is to run, as the call says; ``extra``: its other arguments.
    """
    if policy == "any":
        return None
    place = _placed(grounds, directory)
    if policy == "read_only":
        reason = None if read_only.is_read_only(command) else _NOT_READING
    else:
        judged = managed_bash.managed_command(command)
        if isinstance(judged, managed_bash.ManagedCommand):
            return _out_of_place(judged, grounds, place)
        reason = judged.reason
    return (
        None
        if reason is None
        else f"{reason}{_instead(command, place or read_only.WORKSPACE, extra)}"
    )


def _out_of_place(
    judged: "managed_bash.ManagedCommand", grounds: Grounds, place: str | None
) -> str | None:
    root = None if place is None else _root(grounds, place)
    if place is None or root is None:
        return "Here a command runs in a directory below a mounted root."
    for operand in judged.operands:
        seen = grounds.facts.look(operand, place)
        if not isinstance(seen, PathView) or not is_within(seen.physical, root):
            return _ELSEWHERE.format(operand)
    return None


def _placed(grounds: Grounds, directory: str | None) -> str | None:
    base = grounds.roots[0] if grounds.roots else None
    seen = grounds.facts.look(directory or ".", base)
    return seen.physical if isinstance(seen, PathView) else None


def _root(grounds: Grounds, place: str) -> str | None:
    return next((root for root in grounds.roots if is_within(place, root)), None)


def _instead(command: str, directory: str, extra: Mapping[str, object]) -> str:
    """The call of another tool that asks the same, as far as there is one."""
    found = read_only.alternatives(command, directory, extra).preferred
    if found is None or found.tool == "bash":
        return ""
    return f" Call {found.tool} with {encode_json(found.args).decode()} instead."


class _NothingKept:
    """Of a session that keeps nothing from one command to the next."""

    async def ground(self) -> CommandGround:
        """The workspace, and no variables."""
        return CommandGround()

    async def ran(self, _done: CommandDone, /) -> None:
        """Nobody remembers it."""


class TextForm(_NothingKept):
    """A command as it is written, for a shell."""

    def form(self, command: str, /) -> CommandText:
        """The text itself."""
        return command


class WordsForm(_NothingKept):
    """A command of the managed hand: its words, and no shell."""

    def form(self, command: str, /) -> CommandText:
        """The words of the one program; PolicyDenied for anything else."""
        judged = managed_bash.managed_command(command)
        if isinstance(judged, managed_bash.NotManaged):
            raise PolicyDenied(judged.reason)
        return judged.words


def form_of(policy: CommandPolicy) -> TextForm | WordsForm:
    """How a profile runs its commands."""
    return WordsForm() if policy == "managed" else TextForm()
