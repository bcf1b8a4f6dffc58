"""Looking on at a session of one's own process: bounded, in order, and without a gap."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import anyio
import pytest

from holdfast.app.control import beside
from holdfast.app.control.beside import Beside
from holdfast.app.control.window import Window
from holdfast.contract.events import Event, UserMessage
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.model import TextDelta

pytestmark = pytest.mark.anyio


def event(number: int) -> Event:
    return Event(
        session_id="ses_1",
        sequence=number,
        id=f"evt_{number}",
        at=datetime.now(UTC),
        wake_id=None,
        payload=UserMessage(message=str(number)),
        previous=b"",
        hash=b"",
    )


class Journaled:
    """A window whose journal has so many events."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.inside: list[object] = []
        self.is_closed = False

    def enter(self, one: object) -> None:
        self.inside.append(one)

    def leave(self, one: object) -> None:
        self.inside.remove(one)

    async def events(self, after: int) -> Sequence[Event]:
        if self.is_closed:
            raise JournalUnavailable("it is closed")
        return [event(number) for number in range(after + 1, self.count + 1)]


async def told(window: Journaled, one: Beside) -> list[object]:
    with anyio.fail_after(5):
        found: list[object] = [
            piece.sequence if isinstance(piece, Event) else piece async for piece in one()
        ]
    one.close()
    assert window.inside == []
    return found


async def test_what_does_not_fit_is_read_or_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "MOST_HELD", 2)
    window = Journaled(3)
    one = Beside(cast("Window", window), 0)
    one.hear(event(1))
    one.hear(TextDelta("live"))
    one.hear(TextDelta("lost"))
    one.hear(event(2))
    one.end()
    assert await told(window, one) == [1, TextDelta("live"), 1, 2, 3]


async def test_what_others_wrote_in_between_comes_first() -> None:
    window = Journaled(4)
    one = Beside(cast("Window", window), 1)
    one.hear(event(1))
    one.hear(event(4))
    one.look()
    one.end()
    assert await told(window, one) == [2, 3, 4]


async def test_a_journal_that_is_closed_with_the_session_is_no_problem_and_another_one_is() -> None:
    window = Journaled(2)
    window.is_closed = True
    over = Beside(cast("Window", window), 0)
    over.end()
    assert await told(window, over) == []
    goes_on = Beside(cast("Window", window), 0)
    with pytest.raises(JournalUnavailable):
        await anext(aiter(goes_on()))
    goes_on.close()


async def test_what_is_written_without_a_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LOOK_SECONDS", 0.01)
    window = Journaled(1)
    one = Beside(cast("Window", window), 0)
    stream = one()
    first = await anext(stream)
    assert isinstance(first, Event)
    window.count = 2
    with anyio.fail_after(5):
        second = await anext(stream)
    assert isinstance(second, Event)
    assert second.sequence == 2
    await stream.aclose()
    one.close()
