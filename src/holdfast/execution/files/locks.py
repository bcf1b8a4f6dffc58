"""One lock per physical path and session: two changes of a path never overlap in time."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from holdfast.contract.errors import OperationFailed

DEFAULT_PATIENCE_SECONDS = 30.0


class _Lock:
    """A lock, and who wants it."""

    __slots__ = ("free", "holder", "wanted_by")

    def __init__(self) -> None:
        self.free = threading.Lock()
        self.holder: int | None = None
        self.wanted_by = 0


class PathLocks:
    """The locks of one session. Forgets a path as soon as nobody wants it."""

    def __init__(self, patience_seconds: float = DEFAULT_PATIENCE_SECONDS) -> None:
        self._patience = patience_seconds
        self._locks: dict[str, _Lock] = {}
        self._table = threading.Lock()

    def __len__(self) -> int:
        return len(self._locks)

    @contextmanager
    def held(self, path: str) -> Generator[None]:
        """Keep every other change of the path waiting; the reason ``busy`` when it takes too long,
        or when this very change would wait for itself."""
        with self._table:
            lock = self._locks.setdefault(path, _Lock())
            lock.wanted_by += 1
        try:
            own = lock.holder == threading.get_ident()
            if own or not lock.free.acquire(timeout=self._patience):
                raise OperationFailed(
                    f"{path} is being changed by {'this very' if own else 'another'} call;"
                    " nothing was changed.",
                    extras={"reason": "busy"},
                )
            lock.holder = threading.get_ident()
            try:
                yield
            finally:
                lock.holder = None
                lock.free.release()
        finally:
            with self._table:
                lock.wanted_by -= 1
                if not lock.wanted_by:
                    del self._locks[path]
