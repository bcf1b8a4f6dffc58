"""The session of the class-and-session face: rows that grow, a sandbox to share, a lineage.

Models, loops and files are not known here.
"""

import threading
from collections.abc import Iterable
from typing import Literal

from holdfast.contract.chunks import (
    Chunk,
    ChunkTable,
    Lineage,
    LineageKind,
    Scalar,
    SystemChunk,
    UserChunk,
)
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.execution.backends.binding import SandboxBinding
from holdfast.execution.backends.registry import Registry
from holdfast.execution.backends.shipped import BACKENDS
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

SessionKind = Literal["user", "system", "empty"]

_IDS = TimeIds(SystemClock())


class Session(SandboxBinding):
    """What was said in one run, what it cost and where it came from, on a sandbox of its own.

    Rows are only ever added. Sessions made from it share its sandbox. Without ``keeps_lineage``,
    neither it nor what is made from it says where it came from. Safe to use from any thread.
    """

    def __init__(
        self,
        chunks: Iterable[Chunk] = (),
        *,
        id: str | None = None,
        lineage: Lineage | None = None,
        usage: TokenUsage | None = None,
        keeps_lineage: bool = True,
        backends: Registry = BACKENDS,
    ) -> None:
        super().__init__(backends)
        self.id = _IDS.new("ses") if id is None else id
        self.keeps_lineage = keeps_lineage
        self._growing = threading.Lock()
        self._table = ChunkTable(tuple(chunks))
        self._lineage = (lineage if keeps_lineage else None) or Lineage()
        self._usage = usage or TokenUsage()

    @classmethod
    def from_user_message(cls, text: str, *, keeps_lineage: bool = True) -> "Session":
        """A session that begins with what a person said."""
        return cls.create("user", text, keeps_lineage=keeps_lineage)

    @classmethod
    def from_agent_prompt(cls, text: str, *, keeps_lineage: bool = True) -> "Session":
        """A session that says what an agent is to be."""
        return cls.create("system", text, keeps_lineage=keeps_lineage)

    @classmethod
    def create(
        cls, kind: SessionKind = "user", text: str = "", *, keeps_lineage: bool = True
    ) -> "Session":
        """A session of one row, or an empty one, which came from nowhere."""
        match kind:
            case "user":
                lineage = Lineage(operator="Session.create", kind="leaf_user")
                return cls((UserChunk(text),), lineage=lineage, keeps_lineage=keeps_lineage)
            case "system":
                lineage = Lineage(operator="Session.create", kind="leaf_system")
                return cls((SystemChunk(text),), lineage=lineage, keeps_lineage=keeps_lineage)
            case "empty":
                return cls(keeps_lineage=keeps_lineage)
        raise ValueError(f"unknown kind {kind!r}; it is one of 'user', 'system' and 'empty'")

    @classmethod
    def from_transcript(cls, transcript: Transcript) -> "Session":
        """A session that was kept, under its own id; its sandbox has to be given anew."""
        return cls(
            transcript.chunk_table,
            id=transcript.id,
            lineage=transcript.lineage,
            usage=transcript.cumulative_usage,
        )

    @property
    def chunk_table(self) -> ChunkTable:
        """The rows so far."""
        return self._table

    @property
    def cumulative_usage(self) -> TokenUsage:
        """What its models charged for so far."""
        return self._usage

    @property
    def lineage(self) -> Lineage:
        """Where it came from."""
        return self._lineage

    def transcript(self) -> Transcript:
        """What can be kept of it, as a value."""
        with self._growing:
            return Transcript(self.id, self._table, self._lineage, self._usage)

    def append(self, *chunks: Chunk) -> None:
        """Add rows behind the others."""
        with self._growing:
            self._table = self._table.extend(chunks)

    def add_usage(self, usage: TokenUsage) -> None:
        """Count what a model charged for."""
        with self._growing:
            self._usage += usage

    def note(self, name: str, value: Scalar) -> None:
        """Add to the extras of its lineage, if it keeps one."""
        with self._growing:
            if self.keeps_lineage:
                self._lineage = self._lineage.noting(name, value)

    def derive(
        self, chunks: Iterable[Chunk], lineage: Lineage, usage: TokenUsage | None = None
    ) -> "Session":
        """A session of these rows on the same sandbox: its open handle, counted, and its target."""
        made = Session(
            chunks,
            lineage=lineage,
            usage=usage,
            keeps_lineage=self.keeps_lineage,
            backends=self._backends,
        )
        return made.share(self)

    def fork(self) -> "Session":
        """A session with the same rows and this one as its parent; it has used nothing yet."""
        return self.derive(self.chunk_table, _came_from("fork", "op_fork", self))

    def detach(self) -> "Session":
        """A session with the same rows and no parents; it has used nothing yet."""
        return self.derive(self.chunk_table, _came_from("detach", "op_detach"))

    def merge(self, other: "Session") -> "Session":
        """Its rows and then the other's, with both as parents, on its own sandbox.

        Two that are both not opened must have their sandboxes in the same backend: ValueError.
        """
        _check_targets(self, other)
        mine, theirs = self.transcript(), other.transcript()
        return self.derive(
            mine.chunk_table.extend(theirs.chunk_table),
            _came_from("merge", "op_merge", self, other),
            mine.cumulative_usage + theirs.cumulative_usage,
        )

    def __repr__(self) -> str:
        return f"<Session {self.id}: {len(self._table)} rows, {self._lineage.kind}>"


def _check_targets(first: Session, second: Session) -> None:
    """Nobody could say which sandbox is meant when neither is open and they differ."""
    handles = (first.sandbox, second.sandbox)
    if any(handle is not None and not handle.closed for handle in handles):
        return
    wanted, other = (one.target and one.target.backend for one in (first, second))
    if wanted != other:
        raise ValueError(
            f"cannot merge unbound sessions targeting different backends: {wanted!r} vs {other!r}"
        )


def _came_from(operator: str, kind: LineageKind, *parents: Session) -> Lineage:
    return Lineage(
        parent_session_ids=tuple(parent.id for parent in parents),
        operator=f"Session.{operator}",
        kind=kind,
    )
