"""Connections that wait for an answer only so long.

A server that is stopped keeps its connections open and says nothing, and no setting of its own can
end that: so the client looks at the clock.
"""

from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow

Connection = psycopg.Connection[TupleRow]
"""Commits each statement by itself, outside of `connection.transaction()`."""

ANSWER_SECONDS = 30.0
"""How long a server may say nothing."""
_LOOK_SECONDS = 0.1

_T = TypeVar("_T")


class Unanswered(psycopg.OperationalError):
    """The server said nothing for too long; the connection is closed."""


class PatientConnection(psycopg.Connection[TupleRow]):
    """One whose server may think for a while, and not for ever."""

    patience: float | None = ANSWER_SECONDS
    """Seconds without a sign of the server; None: as long as it takes."""

    @contextmanager
    def patient_for(self, seconds: float | None) -> Generator[None]:
        """Give it another time for what is asked meanwhile."""
        before, self.patience = self.patience, seconds
        try:
            yield
        finally:
            self.patience = before

    def wait(
        self, gen: PQGen[_T], interval: float = _LOOK_SECONDS, timeout: float | None = None
    ) -> _T:
        """Have the client's steps done, each as soon as the server has answered."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        if self.patience is None:
            return super().wait(gen, interval)
        try:
            return super().wait(_heard(gen, self.patience), interval)
        except Unanswered:
            self.close()
            raise


def _heard(steps: PQGen[_T], patience: float) -> PQGen[_T]:
    """The same steps; Unanswered when nothing has come for that many seconds."""
    try:
        wanted = next(steps)
        until = monotonic() + patience
        while True:
            ready = yield wanted
            if ready:
                until = monotonic() + patience
            elif monotonic() > until:
                raise Unanswered(f"the server has not answered for {patience:g} s")
            wanted = steps.send(ready)
    except StopIteration as ended:
        return ended.value
