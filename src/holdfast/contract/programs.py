"""Programs that a source of tools brings along: run as declared, confined to what it requires.

They are no commands of a model: which program runs, and with which arguments, is fixed before any
call. Who starts them is not known here.
"""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.shell import NO_LIMITS, CommandLimits, CommandReport, KilledBy


class DeclaredProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program as its source declares it."""

    argv: tuple[str, ...]
    passed: tuple[str, ...] = ()
    """Names of variables that it gets of the parent's environment beside PATH and HOME."""
    variables: Mapping[str, str] = {}
    """Variables that it is given as they stand here; they outweigh the parent's."""
    cwd: str | None = None
    """Where it begins; None: in the workspace."""


class Listener(msgspec.Struct, frozen=True):
    """Who hears of a program that is spoken with."""

    printed: Callable[[bytes], None]
    """With every piece of its standard output, in order, on the event loop."""
    over: Callable[[str, KilledBy | None], None]
    """Once, when it has ended or was let go: how, and who ended it if it was not itself."""


class Conversation(Protocol):
    """A program that is spoken with over its standard streams for as long as it lives."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        ...

    def send(self, content: bytes, /) -> None:
        """Have it read this after what was sent before. Nobody waits for that."""
        ...

    def last(self, name: Literal["stdout", "stderr"], count: int, /) -> bytes:
        """The end of what it printed there, so many bytes at most; also once it is over."""
        ...

    def end(self, by: KilledBy, /) -> None:
        """End it at once, and all it started."""
        ...


class Programs(CallPort, Protocol):
    """The declared programs of the calling tool's source.

    They run under what the tool requires itself, and no shell looks at their arguments.
    """

    async def run(
        self, program: DeclaredProgram, /, *, stdin: bytes, limits: CommandLimits = NO_LIMITS
    ) -> CommandReport:
        """Run one to its end; Unavailable: there is no sandbox.

        What is printed is read while ``stdin`` is written. One that cannot be started is a report.
        """
        ...

    async def converse(self, program: DeclaredProgram, listener: Listener, /) -> Conversation:
        """Start one that is spoken with while it runs; it goes on after the call.

        It ends with its session at the latest. Unavailable: there is no sandbox, or it cannot be
        started.
        """
        ...
