"""The session that a loop writes: there at once, its rows when they are done.

Reading rows or bill from outside waits for the end and tells why it failed, once. Whoever reads
inside of the loop, a tool above all, sees the rows there are. How the rows come is not known here.
"""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

from anyio import to_thread

from holdfast.agent.flow.background import Work, in_event_loop
from holdfast.contract.chunks import Chunk, ChunkTable, Lineage
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.runtime.flow_session import Session

_OPERATOR = "run_session_loop"
# A tool is called in a thread of its own with this context: nothing else tells it from a stranger.
_inside: ContextVar[frozenset[str]] = ContextVar("holdfast_flow_inside", default=frozenset())


class LoopSession(Session):
    """The output of a loop. Its id, sandbox and lineage are ready before its rows are."""

    _work: Work | None = None

    @classmethod
    def of(cls, user: Session, agent: Session) -> "LoopSession":
        """An output that begins with the user's rows, on their sandbox, with both as parents."""
        lineage = Lineage(
            parent_session_ids=(user.id, agent.id), operator=_OPERATOR, kind="op_session_loop"
        )
        out = cls(
            user.chunk_table,
            lineage=lineage,
            keeps_lineage=user.keeps_lineage,
            backends=user._backends,
        )
        return out.share(user)

    @property
    def done(self) -> bool:
        """Whether its rows are all there."""
        return self._work is None or self._work.done

    def begun(self, work: Work) -> Self:
        """Its rows come from this work."""
        self._work = work
        return self

    def wait(self) -> Self:
        """Return at the loop's end; what it failed with is raised here, once."""
        work = self._work
        if work is None or self.id in _inside.get():
            return self
        if not work.done:
            if in_event_loop():
                raise RuntimeError(
                    "reading this session would block the event loop; use: await session.waited()"
                )
            work.wait()
        error = work.error()
        if error is not None:
            raise error
        return self

    async def waited(self) -> Self:
        """The same for code that runs in an event loop."""
        if not self.done:
            await to_thread.run_sync(self._over, abandon_on_cancel=True)
        return self.wait()

    def cancel(self) -> None:
        """Have the loop stop where it is; reading then tells so. Harmless afterwards."""
        if self._work is not None:
            self._work.cancel()

    @property
    def chunk_table(self) -> ChunkTable:
        """The rows, once they are all there."""
        return self.wait()._table

    @property
    def cumulative_usage(self) -> TokenUsage:
        """What its models charged for, once that is known."""
        return self.wait()._usage

    def transcript(self) -> Transcript:
        """What can be kept of it, as a value."""
        self.wait()
        return super().transcript()

    def append(self, *chunks: Chunk) -> None:
        """Add rows behind the others, which are awaited."""
        self.wait()
        super().append(*chunks)

    def _over(self) -> None:
        if self._work is not None:
            self._work.wait()

    def __del__(self) -> None:
        error = None if self._work is None else self._work.failed_unheard
        if error is not None:
            warnings.warn(
                f"session {self.id}: its loop failed and nobody read it: {error!r}",
                RuntimeWarning,
                stacklevel=1,
                source=self,
            )


@contextmanager
def inside(out: Session) -> Generator[None]:
    """Within this, the rows of the output session are those there are."""
    token = _inside.set(_inside.get() | {out.id})
    try:
        yield
    finally:
        _inside.reset(token)
