"""What the shell tools declare alike."""

from collections.abc import Iterable
from typing import Annotated

import msgspec

from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.shell import MOST_SECONDS
from holdfast.contract.tool import NamedUse
from holdfast.contract.tool_options import ToolOptions
from holdfast.tools.commands import ANY_COMMAND, HERE, command_options

OUTPUT_BYTES = 400_000
"""Room for the most that a call may ask for, whatever its characters weigh."""

Timeout = Annotated[int, msgspec.Meta(ge=1, le=round(MOST_SECONDS * 1000))]
Shown = Annotated[int, msgspec.Meta(ge=1, le=40_000)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


def _nothing(_arguments: JsonObject) -> Iterable[NamedUse]:
    """Opening and closing a shell runs no command."""
    return ()


def reading() -> ToolOptions:
    """Of a tool that looks at the shell."""
    return ToolOptions(
        effects=("session_read",), acp_kind="read", interrupt_behavior="cancel", parallel_safe=True
    )


def keeping() -> ToolOptions:
    """Of a tool that changes what later commands begin with."""
    return ToolOptions(
        requires={"fs": {"read": ["**"]}},
        uses_of=_nothing,
        effects=("session_write",),
        read_only=False,
        acp_kind="execute",
    )


def opening() -> ToolOptions:
    """Of a tool that opens or closes the shell: it requires what that reaches, and uses nothing."""
    return ToolOptions(
        requires={"shell": ANY_COMMAND, "fs": HERE},
        uses_of=_nothing,
        person_decides=True,  # its processes are those of commands that a person decides over
        effects=("session_write", "sandbox_execute"),
        read_only=False,
        acp_kind="execute",
    )


def running() -> ToolOptions:
    """Of a tool that runs a writable command: a person is asked about each."""
    options = command_options(OUTPUT_BYTES)
    options["permission_policy"] = "always_ask"
    options["person_decides"] = True
    options["effects"] = ("session_write", "sandbox_execute")
    return options
