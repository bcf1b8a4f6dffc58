"""Names in NATS: whatever a session, tenant or label is called, it is one token and comes back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import Priority, QueuedWake
from holdfast.engine.cluster.subjects import (
    ANY,
    CLASSES,
    MOST_BYTES,
    Names,
    UnusableName,
    WakeSubject,
    class_of,
    label_of,
    name_in,
    token,
)
from holdfast.engine.cluster.tenants import ClusterPace, pace_within

NAMES = Names("fleet")
TOKEN = re.compile(r"[A-Za-z0-9_=-]+")
names = st.text(max_size=60)


@given(names)
def test_a_name_is_one_token_and_comes_back(name: str) -> None:
    assert TOKEN.fullmatch(token(name))
    assert name_in(token(name)) == name


@given(names, names)
def test_no_two_names_are_one_token(one: str, other: str) -> None:
    assert (token(one) == token(other)) == (one == other)


@given(names, st.sampled_from(CLASSES), names, names)
def test_a_subject_of_a_wake_is_read_as_it_was_made(
    tenant: str, kind: str, label: str, session_id: str
) -> None:
    to = WakeSubject(tenant, next(one for one in CLASSES if one == kind), label, session_id)
    assert NAMES.read_wake(NAMES.wake(to)) == to
    assert Names("other").read_wake(NAMES.wake(to)) is None


@given(names, names, names, names)
def test_consumers_of_different_lanes_have_different_names(
    tenant: str, label: str, another: str, other_label: str
) -> None:
    one = NAMES.consumer(tenant, "word", label)
    assert not set(one) & set(". *>/\\\t\r\n")
    same = (tenant, label) == (another, other_label)
    assert (one == NAMES.consumer(another, "word", other_label)) == same


def test_a_hint_is_in_its_own_lane_alone() -> None:
    """A lane ends in a star: what stands before it is what hints of it begin with."""
    to = WakeSubject("a.b", "high", "gpu", "ses_1")
    lane = NAMES.lane("a.b", "high", "gpu")
    assert lane == "fleet.wake.a=2Eb.high.gpu.*"
    assert NAMES.wake(to) == lane.removesuffix("*") + "ses_1"


@pytest.mark.parametrize(
    "subject",
    ["", "fleet.wake", "fleet.wake.a.word.any", "fleet.wake.a.word.any.s.t", "fleet.wake.a.b.c.d"],
)
def test_other_subjects_are_no_wakes(subject: str) -> None:
    assert NAMES.read_wake(subject) is None


def test_a_name_that_is_too_long_is_refused() -> None:
    assert token("x" * MOST_BYTES)
    with pytest.raises(UnusableName, match="256 bytes is too long"):
        token("x" * (MOST_BYTES + 1))


@pytest.mark.parametrize("namespace", ["", "a.b", "a b", "*", ">", "x" * 65, "ä"])
def test_a_namespace_is_a_plain_word(namespace: str) -> None:
    with pytest.raises(UnusableName, match="is no namespace"):
        Names(namespace)


def _wake(priority: Priority) -> QueuedWake:
    return QueuedWake(id="q", created_micros=0, due_micros=5, reason="kit", priority=priority)


def test_what_a_person_said_goes_before_queued_wakes_by_priority() -> None:
    low, high = _wake("low"), _wake("high")
    assert class_of(SessionState(pending=("evt_1",), wakes=(low,)), 9) == "word"
    assert class_of(SessionState(status="running"), 9) == "word"
    assert class_of(SessionState(wakes=(low,)), 9) == "low"
    assert class_of(SessionState(wakes=(low, _wake("normal"))), 9) == "normal"
    assert class_of(SessionState(wakes=(low, high)), 9) == "high"
    assert class_of(SessionState(children=("ses_2",)), 9) == "low"


def test_the_label_is_what_the_session_says_it_needs() -> None:
    assert label_of(SessionState(metadata={"runs_on": "gpu"})) == "gpu"
    assert label_of(SessionState()) == ANY
    assert label_of(SessionState(metadata={"runs_on": 5})) == ANY
    assert label_of(SessionState(metadata={"runs_on": ""})) == ANY


@pytest.mark.parametrize("lease_seconds", [1.0, 3.0, 14.0, 15.0, 3600.0])
def test_another_worker_has_a_hint_before_a_lease_ends(lease_seconds: float) -> None:
    """And not the same one again, by what it asked for before it stood still."""
    pace = pace_within(lease_seconds)
    assert pace.wait_seconds < pace.ack_seconds < lease_seconds
    assert pace.ack_seconds <= ClusterPace().ack_seconds
    assert pace_within(15.0) == ClusterPace()
