"""What was told and is still due: what the slow look makes of it, on a real NATS."""

import pytest
from engine.cluster.fleets import WORD, soon, wake
from engine.cluster.test_turns import CLOCK, CREATED, announcer, stores, tenant

from holdfast.contract.session_state import due_micros
from holdfast.engine.cluster.hints import due_in, later_told
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.sweeping import Sweeper

pytestmark = pytest.mark.anyio


async def test_a_session_whose_name_no_subject_can_hold_keeps_no_other_from_being_told_again(
    link: Link,
) -> None:
    """Nobody can tell of it, so there is nothing to look for; nothing ends by that."""
    async with stores(1) as (store,):
        of = tenant("one", store)
        for name in ("ses_" + "a" * 300, "ses_b"):
            await store.create(name, [CREATED, WORD])
        one = announcer(link, of)
        await one.tell_untold()
        found = await link.last(link.names.wakes, link.names.any_wake("one", "ses_b"))
        assert found is not None
        await link.remove(link.names.wakes, found.seq)
        assert await Sweeper(link, of, one, CLOCK).sweep(0) == 1


async def test_a_hint_that_waits_for_another_moment_is_none_of_a_session_that_is_due(
    link: Link,
) -> None:
    """Whoever told it was slower than the one who knew better, or the store was put back."""
    async with stores(1) as (store,):
        of = tenant("one", store)
        await store.create("ses_1", [CREATED, wake(soon(CLOCK, 3000))])
        (before,) = (await store.standing(["ses_1"])).values()
        await store.append("ses_1", [WORD])
        one = announcer(link, of)
        await one.tell_untold()
        subject = link.names.any_wake("one", "ses_1")
        found = await link.last(link.names.wakes, subject)
        assert found is not None
        await link.remove(link.names.wakes, found.seq)
        due = due_micros(before.state)
        assert due is not None
        told = later_told(link.names, "one", before, due)
        await link.tell(told.subject, told.body, told.headers)
        assert await Sweeper(link, of, one, CLOCK).sweep(0) == 1
        assert await link.last(link.names.wakes, subject) is not None


async def test_a_hint_that_waits_as_its_session_rests_is_one(link: Link) -> None:
    """It is due, and was put off: it is not told beside that."""
    async with stores(1) as (store,):
        of = tenant("one", store)
        await store.create("ses_1", [CREATED, WORD])
        (rests,) = (await store.standing(["ses_1"])).values()
        one = announcer(link, of)
        await one.tell_untold()
        found = await link.last(link.names.wakes, link.names.any_wake("one", "ses_1"))
        assert found is not None
        await link.remove(link.names.wakes, found.seq)
        told = later_told(link.names, "one", rests, CLOCK.unix_ns() // 1000 + 60_000_000, 1)
        await link.tell(told.subject, told.body, told.headers)
        assert await Sweeper(link, of, one, CLOCK).sweep(0) == 0


def test_what_no_one_of_ours_sent_says_no_moment() -> None:
    assert due_in(b"\xff") == 0
