"""How a cluster's streams stand, as real servers tell it."""

import pytest
from engine.cluster.fleets import WORD, Fleet, until

from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.counting import (
    LaneStanding,
    lane_standings,
    stream_standing,
    unheard_lanes,
)
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import Heard, LinkError
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import WakeSubject


async def _nothing(session_id: str, /) -> WakeEnd:
    return WakeEnd(session_id=session_id, executed=True)


async def test_what_was_not_made_yet_is_nothing(fleet: Fleet) -> None:
    assert await stream_standing(fleet.link, fleet.link.names.wakes) is None
    assert await lane_standings(fleet.link) == ()


async def test_what_waits_is_counted_by_its_lane_and_so_is_who_listens(fleet: Fleet) -> None:
    lanes: tuple[LaneStanding, ...] = ()
    async with fleet.working(_nothing) as engine:
        await until(lambda: engine.is_waiting)
        lanes = await lane_standings(fleet.link)
        assert {(one.tenant, one.label) for one in lanes} == {("one", "any")}
        assert {one.urgency for one in lanes} == {"word", "high", "normal", "low"}
        assert all(one.listens == 1 for one in lanes)
    await fleet.made("waiting", WORD)
    announcer = fleet.engine(_nothing)._announcers[0]  # pyright: ignore[reportPrivateUsage] - it only tells
    await announcer.tell_untold()
    (word,) = [one for one in await lane_standings(fleet.link) if one.urgency == "word"]
    assert word.waits + word.in_hand == 1
    found = await stream_standing(fleet.link, fleet.link.names.wakes)
    assert found is not None
    assert found.messages == 1
    assert [(one.leads, one.is_current) for one in found.keepers] == [(True, True)]


async def test_what_waits_for_a_label_that_nobody_has_is_counted(fleet: Fleet) -> None:
    link = fleet.link
    assert await unheard_lanes(link, ()) == ()
    await link.have(Streams(link.names))
    for label, session in (("any", "a"), ("tpu", "b"), ("tpu", "c")):
        await link.tell(link.names.wake(WakeSubject("one", "word", label, session)), b"{}")
    heard = LaneStanding(tenant="one", urgency="word", label="any", waits=1, in_hand=0, listens=1)
    (found,) = await unheard_lanes(link, [heard])
    assert (found.label, found.waits, found.listens) == ("tpu", 2, 0)


async def test_the_dead_are_counted(fleet: Fleet) -> None:
    await fleet.made("gone", WORD)
    dead = Dead(fleet.link)
    await fleet.link.have(dead.streams)
    to = WakeSubject("one", "word", "any", "gone")
    await dead.bury(to, await fleet.journal.session("gone"), "why not", 5, 1_000_000)
    found = await stream_standing(fleet.link, fleet.link.names.dead)
    assert found is not None
    assert found.messages == 1


@pytest.mark.parametrize("body", [b"no json", b'{"error": {"err_code": 1, "description": "no"}}'])
async def test_what_a_server_does_not_say_is_told(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    async def answers(*_asked: object) -> Heard:
        return Heard("", body, "", {})

    monkeypatch.setattr(fleet.link.client, "request", answers)
    with pytest.raises(LinkError):
        await stream_standing(fleet.link, fleet.link.names.wakes)
