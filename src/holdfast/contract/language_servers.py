"""What language servers know of source code, as a tool asks for it.

Blocking, for tools that run in a thread. Lines and columns count from 1, and columns count
characters: as people read them, whatever a server counts. Who starts servers is not known here.
"""

from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from holdfast.contract.call_port import CallPort

Severity = Literal["error", "warning", "information", "hint"]

MOST_FOUND = 200
"""So much of an answer is handed on; how much there was is told."""

_T = TypeVar("_T")


class Found(msgspec.Struct, Generic[_T], frozen=True):
    """The beginning of what a server found."""

    items: tuple[_T, ...]
    total: int


class Spot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place in a file."""

    path: str
    """Ready to be the next call's argument."""
    line: int
    column: int
    end_line: int
    end_column: int
    text: str | None = None
    """The line it begins in; None where the file may not be read, or is none."""


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a server says is wrong with a place."""

    severity: Severity
    message: str
    spot: Spot
    code: str | None = None
    source: str | None = None


class Symbol(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that has a name."""

    name: str
    kind: str
    spot: Spot
    container: str | None = None
    """What it is part of."""


class LanguageServers(CallPort, Protocol):
    """The language servers of the calling session.

    Files are shown to them as they are on disk at each question. Unavailable: there is none for
    such a file, or it cannot be started; OperationTimedOut: it did not answer in time.
    """

    def definition(self, path: str, line: int, column: int, /) -> Found[Spot]:
        """Where that is defined which stands at a place."""
        ...

    def references(self, path: str, line: int, column: int, /) -> Found[Spot]:
        """Every place that means the same, its definition included."""
        ...

    def hover(self, path: str, line: int, column: int, /) -> str | None:
        """What the server says about a place; None: nothing."""
        ...

    def diagnostics(self, path: str, /) -> Found[Diagnostic]:
        """What is wrong with a file."""
        ...

    def symbols(self, path: str, /) -> Found[Symbol]:
        """What a file defines, in its order."""
        ...

    def workspace_symbols(self, query: str, path: str | None, /) -> Found[Symbol]:
        """What the workspace defines under such a name; a path says which server is asked."""
        ...
