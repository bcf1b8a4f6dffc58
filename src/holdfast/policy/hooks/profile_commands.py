"""Holds every command that a tool is given to what the profile runs. It cannot be switched off."""

import shlex
from collections.abc import Awaitable, Callable, Iterator
from typing import cast

import msgspec

from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import NamedUse, Tool
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.command_policies import Grounds, refusal_of
from holdfast.policy.uses import given_argument

DIRECTORIES = ("workdir", "cwd")
"""How tools call the argument that says where a command runs."""
_UNREADABLE = ""
"""No policy but `any` runs it."""

Begins = Callable[[], Awaitable[str | None]]
"""Where a command runs of which nobody says it; None: in the workspace."""


class ProfileCommands:
    """Refuses what a profile does not run."""

    __name__ = "profile_commands"

    def __init__(
        self,
        policy: CommandPolicy,
        grounds: Grounds,
        begins: Begins | None = None,
        leaves: Callable[[Tool], bool] = lambda _tool: True,
    ) -> None:
        """``leaves``: whether commands of a tool may be left to a person, where its calls ask."""
        self._policy: CommandPolicy = policy
        self._grounds = grounds
        self._begins = begins
        self._leaves = leaves

    def __call__(self, inspection: Inspection, /) -> Opinion | Awaitable[Opinion]:
        """Look at every argument that is a command."""
        arguments = inspection.arguments
        commands = list(_commands(inspection.prepared.tool, arguments))
        if not commands or self._is_left_to_a_person(inspection.prepared.tool, arguments):
            return NOTHING_AGAINST_IT
        if self._begins is None or all(one.directory for one in commands):
            return self._opinion(commands, arguments)
        return self._where_it_begins(commands, arguments, self._begins)

    def _is_left_to_a_person(self, tool: Tool, arguments: JsonObject) -> bool:
        """What only reads stays so whoever is asked; the list of ten is for what asks nobody."""
        listed = self._policy == "managed" and tool.person_decides
        return listed and tool.always_asks(arguments) and self._leaves(tool)

    async def _where_it_begins(
        self, commands: list[NamedUse], arguments: JsonObject, begins: Begins
    ) -> Opinion:
        place = await begins()
        placed = [
            one if one.directory else msgspec.structs.replace(one, directory=place)
            for one in commands
        ]
        return self._opinion(placed, arguments)

    def _opinion(self, commands: list[NamedUse], arguments: JsonObject) -> Opinion:
        extra = {"timeout_ms": arguments.get("timeout_ms")}
        for one in commands:
            reason = refusal_of(self._policy, one.target, self._grounds, one.directory, extra)
            if reason is not None:
                return Opinion("deny", reason)
        return NOTHING_AGAINST_IT


def _commands(tool: Tool, arguments: JsonObject) -> Iterator[NamedUse]:
    """Each command, and where it is to run."""
    directory = next((arguments[name] for name in DIRECTORIES if name in arguments), None)
    place = directory if isinstance(directory, str) and directory else None
    for text in _texts(tool, arguments):
        yield NamedUse(capability="shell.run", target=text, directory=place)
    if tool.uses_of is not None:
        yield from (one for one in tool.uses_of(arguments) if one.capability == "shell.run")


def _texts(tool: Tool, arguments: JsonObject) -> Iterator[str]:
    for use in tool.uses:
        if use.capability == "shell.run":
            given = given_argument(tool, arguments, use.argument)
            if isinstance(given, str):
                yield given
            elif isinstance(given, list):
                yield shlex.join(map(str, cast("list[object]", given)))
            elif given is not None:
                yield _UNREADABLE
