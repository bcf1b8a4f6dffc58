"""The changes of one call: each is recorded, with what it replaces, before it happens."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TypeVar

from holdfast.execution.files.changes import Change, Changes, State, observed
from holdfast.execution.files.kept import CannotBeUndone
from holdfast.execution.files.opening import Spot

_T = TypeVar("_T")


class Recorder:
    """Hands what is about to be replaced to the session's changes."""

    def __init__(self, changes: Changes, call_id: str, tool: str = "") -> None:
        self._changes = changes
        self._call_id = call_id
        self._tool = tool

    def changing(self) -> AbstractContextManager[None]:
        """Around a change and its record: nothing is taken back meanwhile."""
        return _together(self._changes)

    def before(self, spot: Spot) -> State:
        """What is there, kept. Raises OSError as `observed` does, or CannotBeUndone."""
        return observed(spot, self._kept)

    def _kept(self, handle: int) -> str:
        return _or_refused(lambda: self._changes.keep(handle, bounded=True))

    @contextmanager
    def recorded(
        self, spot: Spot, before: State, after: State, aside: str | None = None
    ) -> Generator[None]:
        """Record, then let it happen. A record of what failed is withdrawn."""
        change = self._described(spot.path, before, after, aside)
        change = _or_refused(lambda: self._changes.add(change))
        try:
            yield
        except OSError:
            self._changes.withdraw(change)
            raise

    def _described(self, path: str, before: State, after: State, aside: str | None) -> Change:
        return Change(
            call_id=self._call_id,
            tool=self._tool,
            path=path,
            before=before,
            after=after,
            aside=aside,
        )


@contextmanager
def _together(changes: Changes) -> Generator[None]:
    with ExitStack() as held:
        _or_refused(lambda: held.enter_context(changes.together_with_others()))
        yield


class UndoRecorder(Recorder):
    """Keeps what is replaced while changes are taken back.

    It has the changes for itself already, and no quota: what was changed can always be undone.
    """

    def __init__(self, changes: Changes, call_id: str, undoes: int) -> None:
        super().__init__(changes, call_id)
        self._undoes = undoes

    def changing(self) -> AbstractContextManager[None]:
        """Nothing to wait for."""
        return nullcontext()

    def _kept(self, handle: int) -> str:
        return self._changes.keep(handle, bounded=False)

    def _described(self, path: str, before: State, after: State, aside: str | None) -> Change:
        return Change(
            call_id=self._call_id,
            path=path,
            before=before,
            after=after,
            aside=aside,
            undoes=self._undoes,
        )


def _or_refused(work: Callable[[], _T]) -> _T:
    try:
        return work()
    except OSError as problem:
        raise CannotBeUndone(
            f"What is there now cannot be kept for undo ({problem.strerror}); nothing was changed."
            " Make room for holdfast's own data, or see to it that it can be written."
        ) from problem
