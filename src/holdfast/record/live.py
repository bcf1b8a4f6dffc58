"""A session's events as chunks, one event after the other: live as they come, or again later.

Events are added up as every store adds them up, and what changed in the conversation is told. What
comes late for a message that was left is told once the one after it has ended, as a message that is
gone on with: readers of the stream know one message at a time.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.contract.events import Event
from holdfast.record.appending import applied
from holdfast.record.codec import Stored, micros_of
from holdfast.record.parts import ABORT, read
from holdfast.record.rows import Desk, Draft, Loads, MessageRow, PartRow, fresh
from holdfast.record.stream import ABORTED, FINISH, AnyChunk, started, steps


class _Change(NamedTuple):
    """A part, before and after an event."""

    before: PartRow | None
    after: PartRow


class LiveStream:
    """The stream of one session. Pure: what it was given decides what it says."""

    def __init__(self, session_id: str) -> None:
        self._draft = _Watched(session_id)
        self._messages: dict[str, MessageRow] = {}
        self._parts: dict[str, dict[int, PartRow]] = {}
        self._shown: set[str] = set()
        """Messages of which all that was said so far was told."""
        self._open: str | None = None
        """The message that is being told."""
        self._later: dict[str, list[AnyChunk]] = {}

    def skip(self, event: Event) -> None:
        """It happened, and is not told."""
        self._add_up(event)

    def told(self, event: Event) -> tuple[AnyChunk, ...]:
        """What one more event says."""
        return tuple(self._told(event))

    def ended(self) -> tuple[AnyChunk, ...]:
        """Nothing more comes: what is still to be said."""
        return (*self._closed(), *self._late())

    def _told(self, event: Event) -> Iterator[AnyChunk]:
        begun, changes = self._add_up(event)
        for message in begun:
            yield from self._closed()
            yield from self._entered(message.id)
        here = self._draft.state.chat.message_id
        for change in changes:
            yield from self._change(change, here)
        if self._open != here:
            yield from self._closed()
        if self._open is None:
            yield from self._late()

    def _change(self, change: _Change, here: str | None) -> Iterator[AnyChunk]:
        message_id = change.after.message_id
        if message_id == self._open:
            yield from _steps(change)
            if change.after.type == ABORT:
                self._open = None  # that was its end
        elif message_id == here and self._open is None:
            yield from self._entered(message_id)
            yield from self._whole(message_id)
        else:
            self._later.setdefault(message_id, []).extend(_steps(change))

    def _add_up(self, event: Event) -> tuple[list[MessageRow], list[_Change]]:
        begun, changes = self._draft.add(event)
        for message in begun:
            self._messages[message.id] = message
        for change in changes:
            part = change.after
            self._parts.setdefault(part.message_id, {})[part.number] = part
        return begun, changes

    def _entered(self, message_id: str) -> Iterator[AnyChunk]:
        self._open = message_id
        self._shown.add(message_id)
        yield started(message_id, self._messages[message_id].role)

    def _closed(self) -> Iterator[AnyChunk]:
        if self._open is not None:
            self._open = None
            yield FINISH

    def _late(self) -> Iterator[AnyChunk]:
        waiting, self._later = self._later, {}
        for message_id, chunks in waiting.items():
            known = message_id in self._shown
            yield from self._entered(message_id)
            told = chunks if known else list(self._whole(message_id))
            yield from told
            if told[-1:] != [ABORTED]:
                yield from self._closed()
            self._open = None

    def _whole(self, message_id: str) -> Iterator[AnyChunk]:
        """All that a message says by now, for somebody who did not hear of it."""
        for _, part in sorted(self._parts[message_id].items()):
            yield from _steps(_Change(None, part))


def _steps(change: _Change) -> Iterator[AnyChunk]:
    before, after = change
    was = None if before is None else read(before.type, before.data)
    return steps(after.id, was, read(after.type, after.data))


class _Watched(Draft):
    """Adds events up from nothing, and tells what each of them changed."""

    def __init__(self, session_id: str) -> None:
        super().__init__(Desk(_NOTHING), fresh(session_id, 0))
        self._changes: list[_Change] = []
        self._called: set[str | None] = set()

    def add(self, event: Event) -> tuple[list[MessageRow], list[_Change]]:
        """The messages it began, and the parts it changed."""
        self.messages.clear()
        self._changes = []
        row = Stored(
            session_id=event.session_id,
            sequence=event.sequence,
            id=event.id,
            micros=micros_of(event.at),
            wake_id=event.wake_id,
            type=event.type,
            version=event.payload.VERSION,
            body=b"",
            previous=event.previous,
            hash=event.hash,
        )
        applied(self, row, event.payload)
        return list(self.messages), self._changes

    def was_called(self, call_id: str) -> bool:
        """Whether the session has known a call of this id."""
        return call_id in self._called

    def put_part(self, part: PartRow) -> None:
        """It is like this from now on."""
        self._changes.append(_Change(self.part(part.message_id, part.number), part))
        self._called.add(part.tool_call_id)
        super().put_part(part)


def _no_row(*_key: object) -> None:
    return None


def _never(*_key: object) -> bool:
    return False


_NOTHING = Loads(
    session=_no_row, part=_no_row, has_event=_never, was_called=_never, new_number=lambda: 0
)
