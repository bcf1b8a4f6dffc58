"""Which sessions are left alone for a while, although they are due: running them changed nothing.

A pause grows with every run in vain, and does not hold for whatever is new. Who runs sessions, and
how, is not known here.
"""

from collections.abc import Iterable

import msgspec

from holdfast.contract.session_state import SessionState, due_micros

FIRST_SECONDS = 2.0
MOST_SECONDS = 30.0
MOST_SECONDS_OF_OTHERS = 5.0
"""While somebody else runs it: they may be gone any moment, and looking costs little."""
_FORGOTTEN_SECONDS = 60.0
_SECOND = 1_000_000_000
_ANSWERED = frozenset({"answered", "replied"})

Causes = frozenset[str]
"""Why a session is due: what of it waits."""


def causes_of(state: SessionState, now_micros: int) -> Causes:
    """What of a session waits for a run; empty: it is not due.

    A queued wake is known by what it is for: the same again is nothing new.
    """
    due = due_micros(state)
    if due is None or due > now_micros:
        return frozenset()
    return frozenset(
        (
            *state.pending,
            *(name for name, call in state.calls.items() if call.stage in _ANSWERED),
            *(f"wake {one.dedupe_key or one.reason}" for one in state.wakes),
            *(("running",) if state.status == "running" else ()),
            *(f"child {one}" for one in state.children),
        )
    )


class _Rest(msgspec.Struct, frozen=True):
    causes: Causes
    seconds: float
    until: int
    """In ticks of the clock."""


class Resting:
    """Sessions that are left alone."""

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}

    def __len__(self) -> int:
        return len(self._rests)

    def is_left_alone(self, session_id: str, causes: Causes, ticks: int) -> bool:
        """Whether it is not to be run now: nothing about it is new, and its pause is not over."""
        rest = self._rests.get(session_id)
        return rest is not None and ticks < rest.until and causes <= rest.causes

    def begin(self, session_id: str, causes: Causes, ticks: int, most_seconds: float) -> None:
        """Running it was in vain: leave it alone, for longer than the last time."""
        before = self._rests.get(session_id)
        seconds = FIRST_SECONDS if before is None else before.seconds * 2
        seconds = min(seconds, most_seconds)
        self._rests[session_id] = _Rest(causes, seconds, ticks + int(seconds * _SECOND))

    def end(self, session_id: str) -> None:
        """Something came of it."""
        self._rests.pop(session_id, None)

    def cut_short(self, session_ids: Iterable[str]) -> None:
        """Somebody asks for these: they are run once more, and it is known how often in vain."""
        for session_id in session_ids:
            rest = self._rests.get(session_id)
            if rest is not None:
                self._rests[session_id] = msgspec.structs.replace(rest, causes=frozenset())

    def forget_old(self, ticks: int) -> None:
        """A session that nobody has run for long is not due any more."""
        old = ticks - int(_FORGOTTEN_SECONDS * _SECOND)
        self._rests = {name: rest for name, rest in self._rests.items() if rest.until > old}

    def next_seconds(self, ticks: int) -> float:
        """How long the next pause still lasts; without any, for ever."""
        left = [rest.until - ticks for rest in self._rests.values() if rest.until > ticks]
        return min(left) / _SECOND if left else float("inf")
