"""One who listens: what is told before an event that was sent is left out, and gaps are read."""

from pathlib import Path

import anyio
import pytest
from served_home import PATIENCE, served

from holdfast.app.telling import told_json
from holdfast.contract.events import UserMessage
from holdfast.surfaces.http.live.frames import STILL_HERE, Frame, frame
from holdfast.surfaces.http.live.subscription import Subscription

pytestmark = pytest.mark.anyio


def live(text: str) -> Frame:
    return Frame(0, text.encode())


async def heard(folder: Path, *told: Frame | int, through: int) -> bytes:
    """What is sent of a session with four events; a number stands for an event."""
    async with served(folder) as home:
        session = await home.begun(None)
        log = home.runner.parts.log
        assert log is not None
        journal = await log.journal()
        await journal.append(session, [UserMessage(message=f"word {at}") for at in range(3)])
        events = await journal.events(session)
        mine = Subscription(session, journal, 0, live=True)
        mine.begin(through)
        for one in told:
            if isinstance(one, int):
                one = frame("event", told_json(events[one - 1]), one)
            mine.put(one)
        mine.end()
        with anyio.fail_after(PATIENCE):
            return b"".join([piece async for piece in mine.pieces() if piece != STILL_HERE])


def order(sent: bytes) -> list[str]:
    """Numbers of events, and what was told live."""
    words = sent.decode().replace("id: ", "\n").replace("LIVE", "\nLIVE").splitlines()
    return [one[:6] for one in words if one.isdigit() or one.startswith("LIVE")]


async def test_what_an_event_told_whole_is_not_told_live_behind_it(tmp_path: Path) -> None:
    sent = await heard(tmp_path, live("LIVE-1"), 2, live("LIVE-2"), 3, 4, through=2)
    assert order(sent) == ["1", "2", "LIVE-2", "3", "4"]


async def test_a_gap_is_read_from_the_journal(tmp_path: Path) -> None:
    sent = await heard(tmp_path, 2, live("LIVE-1"), 4, live("LIVE-2"), through=1)
    assert order(sent) == ["1", "2", "LIVE-1", "3", "4", "LIVE-2"]
