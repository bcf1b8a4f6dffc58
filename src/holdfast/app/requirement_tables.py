"""What a configuration says may be reached, and at most: its tables as requirements.

What that means for a call is judged elsewhere.
"""

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.variables import STANDARD_VARIABLES
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.places import Places, places_of
from holdfast.policy.scope import compile_scope

_ANYWHERE = ("/",)
_TABLES = ("ceiling", "reach")
_SOURCES = ("manifest", "mcp")


def requirements_of(given: RequirementSettings) -> RequirementSet:
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


def check_requirements(table: Table, origin: str) -> None:
    """Raise ConfigurationError for the first key with a pattern that is none.

    The table has been checked by `keys`. Each layer is tried by itself, so that it can be named.
    """
    for where, found in _tables(table):
        for key, value in found.items():
            try:
                alone = msgspec.convert({key: value}, RequirementSettings)
                compile_scope(requirements_of(alone), anywhere())
            except ValueError as problem:
                raise ConfigurationError(
                    f"{origin}: {where}.{key}: {problem}; correct or remove that entry"
                ) from None


def _tables(table: Table) -> Iterator[tuple[str, Table]]:
    """Every table of requirements, and what it is called."""
    policy = cast("Table", table.get("policy", {}))
    yield from ((f"policy.{name}", cast("Table", policy.get(name, {}))) for name in _TABLES)
    for kind in _SOURCES:
        for name, source in cast("dict[str, Table]", table.get(kind, {})).items():
            yield f"{kind}.{name}.requires", cast("Table", source.get("requires", {}))


def anywhere() -> Places:
    """Where patterns are tried that are to be looked at before there is a session."""
    variables: dict[str, Sequence[str]] = dict.fromkeys(STANDARD_VARIABLES, _ANYWHERE)
    return places_of(variables, DiskPaths())
