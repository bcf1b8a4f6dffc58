"""What happens while a person is asked: kept until they have answered.

Events are all kept: there are few, and each is told once. Of what is told live only so much is:
events tell it again when it is whole.
"""

from collections import deque

from holdfast.app.read_along import Below
from holdfast.app.telling import Told
from holdfast.contract.events import Event
from holdfast.contract.model import TextDelta

MOST_LIVE = 1000
"""Live pieces that are kept."""

Shown = Told | Below
"""What a view is told."""


class Held:
    """Waits for its turn."""

    def __init__(self) -> None:
        self._waiting: deque[Shown] = deque()
        self._live = 0
        self.dropped = 0
        """How many live pieces were not kept."""
        self.words_dropped = False
        """Whether something of what the model says is among them."""

    def add(self, told: Shown) -> None:
        """One more."""
        if not isinstance(told, Event | Below):
            if self._live == MOST_LIVE:
                self.dropped += 1
                self.words_dropped = self.words_dropped or isinstance(told, TextDelta)
                return
            self._live += 1
        self._waiting.append(told)

    def next(self) -> Shown | None:
        """The oldest; None: that was all."""
        if not self._waiting:
            self._live = 0
            return None
        return self._waiting.popleft()

    def told_dropped(self) -> int:
        """How many were dropped since this was asked last."""
        dropped, self.dropped = self.dropped, 0
        return dropped
