"""Holds every command that a tool is given to what the profile runs. It cannot be switched off."""

import shlex
from collections.abc import Iterator
from typing import cast

from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.json_value import JsonObject
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.command_policies import Grounds, refusal_of
from holdfast.policy.uses import given_argument

DIRECTORIES = ("workdir", "cwd")
"""How tools call the argument that says where a command runs."""
_UNREADABLE = ""
"""No policy but `any` runs it."""


class ProfileCommands:
    """Refuses what a profile does not run."""

    __name__ = "profile_commands"

    def __init__(self, policy: CommandPolicy, grounds: Grounds) -> None:
        self._policy: CommandPolicy = policy
        self._grounds = grounds

    def __call__(self, inspection: Inspection, /) -> Opinion:
        """Look at every argument that is a command."""
        arguments = inspection.arguments
        for command in _commands(inspection, arguments):
            directory = next((arguments[name] for name in DIRECTORIES if name in arguments), None)
            place = directory if isinstance(directory, str) and directory else None
            extra = {"timeout_ms": arguments.get("timeout_ms")}
            reason = refusal_of(self._policy, command, self._grounds, place, extra)
            if reason is not None:
                return Opinion("deny", reason)
        return NOTHING_AGAINST_IT


def _commands(inspection: Inspection, arguments: JsonObject) -> Iterator[str]:
    tool = inspection.prepared.tool
    for use in tool.uses:
        if use.capability == "shell.run":
            given = given_argument(tool, arguments, use.argument)
            if isinstance(given, str):
                yield given
            elif isinstance(given, list):
                yield shlex.join(map(str, cast("list[object]", given)))
            elif given is not None:
                yield _UNREADABLE
