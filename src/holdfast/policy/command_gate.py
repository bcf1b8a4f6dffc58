"""Whether a body may run a command at all, by `requires.shell`, and what would let it.

Rules and the watchdog judge what arguments name; this is asked when a command is about to start.
"""

import posixpath
from collections.abc import Sequence

from holdfast.contract.gates import Refusal
from holdfast.policy.paths import LONGEST_SHOWN, Refused
from holdfast.policy.scope import EffectiveScope
from holdfast.policy.shell.values import ShellText
from holdfast.policy.uses import analysed

BOUND_FROM_ABOVE = (
    "The tool requires it, but a ceiling, strict mode or the agent above does not admit it."
)
_NOT_LISTED = "The command is not among those that `requires` declares or that may run."


def command_refusal(scope: EffectiveScope, command: str | Sequence[str]) -> Refusal | None:
    """Why a command may not be run; None: it may."""
    if isinstance(command, str):
        return _of_text(scope, command)
    words = [posixpath.basename(command[0]), *command[1:]] if command else [""]
    if all(layer.requirements.admits_command(words) for layer in scope.layers):
        return None
    wanted = f"requires.shell = [{{'cmd': {words[0]!r}}}]"
    return Refusal(target=" ".join(command)[:LONGEST_SHOWN], reason=_NOT_LISTED, requirement=wanted)


def _of_text(scope: EffectiveScope, command: str) -> Refusal | None:
    text = analysed(command)
    verdict = scope.admits_command(text)
    if not isinstance(verdict, Refused):
        return None
    reason = f"{verdict.reason} {what_would_admit(scope, text)}"
    return Refusal(target=command[:LONGEST_SHOWN], reason=reason)


def what_would_admit(scope: EffectiveScope, text: ShellText) -> str:
    """What stands in the way of a command text, and the requirement that would remove it."""
    if text.doubts:
        return f"It cannot be taken apart: {'; '.join(text.doubts)}."
    if text.assigns:
        return "It sets a variable in front of a command, which no list of commands covers."
    declared, *narrowing = [layer.requirements for layer in scope.layers]
    missing = [one.argv[0] for one in text.commands if not declared.admits_command(one.argv)]
    if not missing:
        for one in text.commands:
            if not all(layer.admits_command(one.argv) for layer in narrowing):
                return f"It stops at {one.text!r}. {BOUND_FROM_ABOVE}"
        return "A file it touches is outside of requires.fs."
    if any("/" in program for program in missing):
        return "Programs are named without a path: write for example git, not /usr/bin/git."
    wanted = ", ".join(f"{{'cmd': {program!r}}}" for program in dict.fromkeys(missing))
    return f"It would be admitted by requires.shell = [{wanted}]."
