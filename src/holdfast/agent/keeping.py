"""What the runner of a session writes down, and what it takes in of what others write meanwhile.

Everything that is written here is heard here, and a number that is left out tells that somebody
else wrote something: only then is the journal read. What events mean is not known here.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from holdfast.agent.conversation import Conversation
from holdfast.agent.replies import TurnCall
from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import MOST_EVENTS
from holdfast.runtime.session_log import SessionLog

_sequence = attrgetter("sequence")


class Keeper:
    """Keeps a conversation up to date with the journal of its session."""

    def __init__(self, log: SessionLog, talk: Conversation) -> None:
        self._log = log
        self.talk = talk
        self.as_written: Mapping[str, TurnCall] = {}
        """The calls of the last reply as the model wrote them, by their ids: the journal has them
        without secrets."""
        self._heard: list[Event] = []
        log.listeners.append(self._heard.append)

    def close(self) -> None:
        """Listen no longer."""
        self._log.listeners.remove(self._heard.append)

    async def tell(self, payloads: Sequence[Payload]) -> tuple[Event, ...]:
        """Write down, and take in; JournalError."""
        events = await self._log.append(payloads)
        await self.catch_up()
        return events

    async def catch_up(self) -> None:
        """Take in what was written since, by whomever."""
        if not self._heard:
            return
        heard = sorted(self._heard, key=_sequence)
        self._heard.clear()
        first = self.talk.sequence + 1
        if [event.sequence for event in heard] == list(range(first, first + len(heard))):
            self.talk.take(heard)
            return
        for event in heard:
            if event.sequence > self.talk.sequence + 1:
                await self._read_up_to(event.sequence)
            if event.sequence == self.talk.sequence + 1:
                self.talk.take([event])

    def hear(self, event: Event) -> None:
        """It was written, and not by way of the log."""
        self._heard.append(event)

    async def _read(self, limit: int) -> None:
        """Take in what the journal holds beyond what is known, so many at a time."""
        journal = await self._log.journal()
        session_id = self._log.session_id
        while page := await journal.events(session_id, after=self.talk.sequence, limit=limit):
            self.talk.take(page)
            if len(page) < limit:
                return

    async def read_up_to(self, sequence: int) -> None:
        """Take in what was written up to this number."""
        await self.catch_up()
        await self._read_up_to(sequence)

    async def _read_up_to(self, sequence: int) -> None:
        if (left := sequence - self.talk.sequence) > 0:
            await self._read(min(left, MOST_EVENTS))
