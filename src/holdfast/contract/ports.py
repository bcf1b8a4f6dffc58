"""Protocols behind which the world stands. Each has a fake in `holdfast.testing`."""

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeGuard, runtime_checkable

import msgspec

from holdfast.contract.call import Ask, Deny, Permit, Prepared, Verdict
from holdfast.contract.person import Postponed
from holdfast.contract.rules import Remember, Rule

IdPrefix = Literal["ses", "wak", "evt", "cal", "msg", "prt", "apr", "ver", "job", "shl"]


class Clock(Protocol):
    """The time, in UTC, and a stopwatch that never goes back."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        ...

    def unix_ns(self) -> int:
        """The same moment as nanoseconds since 1970."""
        ...

    def ticks(self) -> int:
        """Nanoseconds from some fixed moment."""
        ...


@runtime_checkable
class SharedClock(Clock, Protocol):
    """The clock of a server, as far as it can be told from here."""

    def hear(self, unix_micros: int, /) -> None:
        """What time it was there, a moment ago."""
        ...


class IdSource(Protocol):
    """Names that sort by the time they were given."""

    def new(self, prefix: IdPrefix) -> str:
        """A fresh id."""
        ...


class GrantStore(Protocol):
    """Keeps a project's remembered answers, apart from sessions and from the workspace.

    Blocking; what a running session keeps is kept off the event loop.
    """

    def load(self) -> tuple[Rule, ...]:
        """The grants given so far, the oldest first."""
        ...

    def add(self, grants: Sequence[Rule], /) -> None:
        """Keep these too. Raises OSError when that fails; nothing is then kept."""
        ...


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said to a question."""

    allowed: bool
    by: str
    note: str | None = None
    remember: Remember = "once"
    """For how long it holds; a refusal is remembered for the session at most."""
    wider: bool = False
    """Remember the wider patterns of the question, too: they were shown."""


def is_answer(given: object) -> TypeGuard[Answer]:
    """Whether a person's surface gave an answer: one made in code is as it was put together."""
    return (
        isinstance(given, Answer)
        and type(given.allowed) is bool
        and type(given.by) is str
        and (given.note is None or type(given.note) is str)
        and type(given.remember) is str
    )


class Judge(Protocol):
    """Decides whether a prepared call may run."""

    def __call__(self, prepared: Prepared, /) -> Verdict | Awaitable[Verdict]:
        """Decide; to be awaited only where something outside has to be asked."""
        ...

    async def answered(self, ask: Ask, answer: Answer | None, /) -> Permit | Deny:
        """What becomes of a question: remembers what is to be remembered."""
        ...


class Approver(Protocol):
    """Puts a question to a person. None means that nobody is there."""

    async def __call__(self, ask: Ask, /) -> Answer | Postponed | None:
        """Wait for an answer, or leave the question open for whoever answers it later."""
        ...


class StoredOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Where output went that was too large to show."""

    path: str
    stored_bytes: int


class SidecarStore(Protocol):
    """Keeps whole outputs for a session. A blocking call; used off the event loop."""

    def keep(self, session_id: str, name: str, content: bytes) -> StoredOutput | None:
        """Store as much as the quotas allow; None when nothing could be kept."""
        ...

    def forget(self, session_id: str) -> None:
        """Remove everything kept for the session."""
        ...


PathTrouble = Literal[
    "empty", "nul", "not_text", "too_long", "loop", "not_a_directory", "forbidden", "no_workspace"
]
"""Why nobody can say where a path leads."""


class PathView(msgspec.Struct, frozen=True, gc=False):
    """Where a path leads, twice: by its text alone, and on the disk."""

    lexical: str
    """Absolute, with dots and doubled separators taken out of the text."""
    physical: str
    """Absolute and without links: the nearest thing that exists, resolved, and the rest."""


class PathProblem(msgspec.Struct, frozen=True, gc=False):
    """A path that leads nowhere."""

    trouble: PathTrouble
    lexical: str | None = None
    """By its text alone, where the text is good enough for that."""


class PathFacts(Protocol):
    """Says where paths lead. It judges nothing and opens nothing for reading or writing."""

    def look(self, path: str, base: str | None, /) -> PathView | PathProblem:
        """Follow a path as it is written; a relative one begins at ``base``, an absolute path."""
        ...
