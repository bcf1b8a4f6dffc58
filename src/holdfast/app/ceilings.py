"""The ceiling of a configuration: its tables as requirements, and whether they can be ones.

What a ceiling means for a call is judged elsewhere.
"""

from typing import cast

import msgspec

from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import RequirementSettings
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.places import places_of
from holdfast.policy.scope import compile_scope

_ANYWHERE = ("/",)


def ceiling_requirements(given: RequirementSettings) -> RequirementSet:
    """What the table says; ValueError when it says nothing that can be required."""
    commands = [
        {"cmd": one.cmd} if one.args is None else {"cmd": one.cmd, "args": one.args}
        for one in given.shell
    ]
    return requirement_set(
        {
            "fs": {"read": given.read, "write": given.write},
            "net": {"hosts": given.hosts},
            "shell": commands,
            "capabilities": given.capabilities,
        }
    )


def check_ceiling(table: Table, origin: str) -> None:
    """Raise ConfigurationError for the first key of a ceiling with a pattern that is none.

    The table has been checked by `keys`. Each layer is tried by itself, so that it can be named.
    """
    ceiling = cast("Table", cast("Table", table.get("policy", {})).get("ceiling", {}))
    if not ceiling:
        return
    places = places_of({"workspace": _ANYWHERE, "user-data": _ANYWHERE}, DiskPaths())
    for key, value in ceiling.items():
        try:
            alone = msgspec.convert({key: value}, RequirementSettings)
            compile_scope(ceiling_requirements(alone), places)
        except ValueError as problem:
            raise ConfigurationError(
                f"{origin}: policy.ceiling.{key}: {problem}; correct or remove that entry"
            ) from None
