"""What is doubtful about the sources of tools while they are served, for the person at the server.

A line on standard error, once for each change, however many sessions see it. What is doubtful is
found elsewhere.
"""

import select
from collections.abc import Callable, Collection
from contextlib import suppress

_STDERR = 2
_MOST_CHARACTERS = 800
"""Of a line: it has to fit into a pipe whenever there is room at all."""
_MOST_SAID = 1000
"""Lines that are remembered; there are no further ones then."""


class Remarks:
    """Remembers what was said."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """``tell``: writes one line to standard error."""
        self._tell = tell
        self._by_session: dict[object, Collection[str]] = {}
        self._said: set[str] = set()
        self._room = select.poll()
        self._room.register(_STDERR, select.POLLOUT)

    def take(self, session: object, now: Collection[str]) -> None:
        """Say what nobody has found doubtful before."""
        known = {one for others in self._by_session.values() for one in others}
        self._by_session[session] = now
        for remark in now:
            if remark not in known:
                known.add(remark)
                self._say(remark[:_MOST_CHARACTERS])

    def once(self, line: str) -> None:
        """Say it, if it was not said before."""
        if line not in self._said and len(self._said) < _MOST_SAID:
            self._said.add(line)
            self._say(line[:_MOST_CHARACTERS])

    def _say(self, line: str) -> None:
        # Some clients never read what their servers say, or hang up on it: that must not matter.
        if self._room.poll(0) == [(_STDERR, select.POLLOUT)]:
            with suppress(OSError):
                self._tell(line)

    def forget(self, session: object) -> None:
        """It is over."""
        self._by_session.pop(session, None)
