"""Which sessions may go: never one that is needed, and exactly what is beyond the limits."""

from datetime import UTC, datetime

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.contract.journal import Session
from holdfast.contract.session_state import (
    ConfirmationRequest,
    CustomRequest,
    OpenCall,
    SessionState,
)
from holdfast.record.retention import Limits, StoredSession, may_go, need_of

NAMES = [f"ses_{number}" for number in range(12)]


@st.composite
def sessions(draw: st.DrawFn) -> list[StoredSession]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return [
        StoredSession(
            id=name,
            parent_id=draw(st.none() | st.sampled_from(NAMES)),
            active_at=draw(st.integers(0, 20)),
            bytes=draw(st.integers(0, 50)),
            need=draw(st.sampled_from([None, None, None, "somebody runs it"])),
        )
        for name in names
    ]


AMOUNTS = st.none() | st.integers(0, 22)
LIMITS = st.builds(Limits, AMOUNTS, AMOUNTS, st.none() | st.integers(0, 300))


def gone(stored: list[StoredSession], limits: Limits) -> set[str]:
    return {one.session.id for one in may_go(stored, limits)}


def alone(stored: list[StoredSession]) -> list[StoredSession]:
    return [one._replace(parent_id=None) for one in stored]


def related(one: StoredSession, other: StoredSession) -> bool:
    return one.parent_id == other.id or other.parent_id == one.id


@given(sessions(), LIMITS)
def test_what_is_needed_stays_with_its_family_whatever_the_limits(
    stored: list[StoredSession], limits: Limits
) -> None:
    goes = gone(stored, limits)
    stays = [one for one in stored if one.id not in goes]
    assert all(one in stays for one in stored if one.need is not None)
    for one in stored:
        if one.id in goes:
            assert not any(related(one, other) for other in stays)


@given(sessions())
def test_without_limits_nothing_goes(stored: list[StoredSession]) -> None:
    assert gone(stored, Limits()) == set()


@given(sessions(), LIMITS)
def test_the_order_they_come_in_does_not_matter_and_the_oldest_go_first(
    stored: list[StoredSession], limits: Limits
) -> None:
    going = may_go(stored, limits)
    assert going == may_go(stored[::-1], limits)
    ages = [one.session.active_at for one in going]
    assert ages == sorted(ages)


@given(sessions(), st.integers(0, 22))
def test_whoever_is_older_goes_and_nobody_else(stored: list[StoredSession], since: int) -> None:
    stored = alone(stored)
    wanted = {one.id for one in stored if one.active_at < since and one.need is None}
    assert gone(stored, Limits(active_since=since)) == wanted


@given(sessions(), st.integers(0, 13))
def test_so_many_stay_and_what_is_needed(stored: list[StoredSession], keep: int) -> None:
    stored = alone(stored)
    newest = sorted(stored, key=lambda one: (one.active_at, one.id))[::-1][:keep]
    wanted = {one.id for one in stored if one not in newest and one.need is None}
    assert gone(stored, Limits(sessions=keep)) == wanted


@given(sessions(), st.integers(0, 400))
def test_no_more_bytes_stay_and_none_goes_that_would_have_fitted(
    stored: list[StoredSession], most: int
) -> None:
    stored = alone(stored)
    goes = gone(stored, Limits(bytes=most))
    stays = [one for one in stored if one.id not in goes]
    total = sum(one.bytes for one in stays)
    assert total <= most or all(one.need is not None for one in stays)
    going = [one for one in stored if one.id in goes]
    free = [one for one in stays if one.need is None]
    assert all(old.active_at <= kept.active_at for old in going for kept in free)
    if going:
        last = max(going, key=lambda one: one.active_at)
        ties = [one.bytes for one in going if one.active_at == last.active_at]
        assert any(total + size > most for size in ties)


@given(sessions(), LIMITS)
def test_what_stays_would_stay_again(stored: list[StoredSession], limits: Limits) -> None:
    """A prune that was killed and runs again removes nothing that the first would have left."""
    goes = gone(stored, limits)
    half = [one for one in stored if one.id not in sorted(goes)[::2]]
    assert gone(half, limits) <= goes


def test_a_family_stays_for_its_youngest() -> None:
    stored = [
        StoredSession("ses_a", None, 1, 10),
        StoredSession("ses_b", "ses_a", 2, 10),
        StoredSession("ses_c", "ses_b", 9, 10),
        StoredSession("ses_d", "ses_gone", 1, 10),
        StoredSession("ses_e", "ses_gone", 9, 10),
    ]
    assert gone(stored, Limits(active_since=5)) == {"ses_d"}
    assert gone(stored, Limits(active_since=10)) == {one.id for one in stored}
    assert gone(stored, Limits(bytes=40)) == {"ses_d"}
    assert gone(stored, Limits(bytes=10)) == {"ses_a", "ses_b", "ses_c", "ses_d"}


REQUEST = ConfirmationRequest(
    id="apr_1", tool_name="t", ownership="o", permission_policy="p", input={}, requested_at=1
)
STATES = st.builds(
    SessionState,
    status=st.sampled_from(["idle", "running", "rescheduling", "requires_action", "terminated"]),
    confirmation=st.none() | st.just(REQUEST),
    custom=st.none() | st.just(CustomRequest(id="c", name="n", input={}, requested_at=1)),
    interrupts=st.sampled_from([(), ("evt_1",)]),
    calls=st.sampled_from([{}, {"cal_1": OpenCall("msg_1", 0, "asked")}]),
)


@given(STATES, st.booleans(), st.booleans(), st.booleans())
@example(SessionState(), False, False, False)
def test_only_a_session_that_waits_for_nothing_may_go(
    state: SessionState, held: bool, in_use: bool, waits: bool
) -> None:
    now = datetime.now(UTC)
    session = Session(
        id="ses_1", created_at=now, updated_at=now, sequence=1, hash=b"", epoch=0, state=state
    )
    quiet = msgspec.structs.replace(state, status="idle") == SessionState()
    over = quiet and state.status in {"idle", "terminated"}
    free = over and not (held or in_use or waits)
    assert (need_of(session, held=held, in_use=in_use, waits=waits) is None) is free
