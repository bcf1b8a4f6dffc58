"""Sessions are listed as they stand, in the order that was asked for, without decoding them all."""

import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record.store_places import StorePlace
from session_stories import Story, tell

from holdfast.contract.archive import Kinship, Likeness, SessionQuery
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    EventsProcessed,
    SessionCreated,
    StatusChanged,
    UserMessage,
)
from holdfast.contract.journal import Session
from holdfast.contract.session_state import outcome_status, requires_action
from holdfast.record.sqlite import schema
from holdfast.record.sqlite.schema import MIGRATIONS
from holdfast.record.store import Store
from holdfast.runtime.managed.session_likeness import rank
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ME = Likeness(
    session_id="ses_me", parent_id="ses_top", setup_fingerprint="same", outcome_title="Green"
)


@pytest.fixture
async def store(place: StorePlace) -> AsyncGenerator[Store]:
    async with place.opened() as opened:
        yield opened


async def listed(store: Store, **asked: Any) -> list[str]:
    return [one.id for one in await store.archive.sessions(SessionQuery(**asked))]


FAMILY = {
    "ses_top": Story(),
    "ses_me": Story(parent="ses_top", setup="same", outcome="Green"),
    "ses_sister": Story(parent="ses_top"),
    "ses_child": Story(parent="ses_me"),
    "ses_other": Story(agent="other", parent="ses_me"),
    "ses_nobodys": Story(agent=None),
}


@pytest.mark.parametrize(
    ("kin", "found"),
    [
        ("parent", ["ses_top"]),
        ("children", ["ses_child"]),
        ("siblings", ["ses_sister"]),
        ("related", ["ses_child", "ses_sister", "ses_top"]),
    ],
)
async def test_kin_are_told_from_all_others(store: Store, kin: Kinship, found: list[str]) -> None:
    for name, story in FAMILY.items():
        await tell(store.journal, name, story)
    assert sorted(await listed(store, agent_id="looker", like=ME, kin=kin)) == found
    first = Likeness(session_id="ses_top")
    below = ["ses_me", "ses_sister"] if kin in {"children", "related"} else []
    assert sorted(await listed(store, agent_id="looker", like=first, kin=kin)) == below


async def test_sessions_of_nobody_are_listed_for_who_asks_for_them(store: Store) -> None:
    for name, story in FAMILY.items():
        await tell(store.journal, name, story)
    assert "ses_nobodys" not in await listed(store, agent_id="looker")
    assert "ses_nobodys" in await listed(store, agent_id="looker", or_nobodys=True)
    assert await listed(store, agent_id="other", or_nobodys=True) == ["ses_nobodys", "ses_other"]
    counted = await store.archive.child_counts(
        ["ses_me", "ses_top", "ses_child"], SessionQuery(agent_id="looker")
    )
    assert counted == {"ses_me": 1, "ses_top": 2}
    assert await store.archive.child_counts([], SessionQuery()) == {}


async def test_what_comes_first_is_decided_signal_by_signal(store: Store) -> None:
    """Each goes before the next by one signal, although the next one has all that come after."""
    most: dict[str, Any] = {"waits": True, "trend": "improving", "parent": "ses_me"}
    stories = {
        "ses_a": Story(setup="same", outcome="Other"),
        "ses_b": Story(setup="else", outcome="Green"),
        "ses_c": Story(outcome="Red", waits=True, trend="regressing"),
        "ses_d": Story(outcome="Red", trend="improving"),
        "ses_e": Story(outcome="Red", trend="first_iteration"),
        "ses_f": Story(outcome="Red", trend="stable"),
        "ses_g": Story(outcome="Red", trend="regressing", parent="ses_me"),
        "ses_h": Story(outcome="Red", parent="ses_top"),
        "ses_i": Story(outcome="Red"),
        "ses_j": Story(),
    }
    for name, story in stories.items():
        await tell(store.journal, name, story)
    await tell(store.journal, "ses_0", Story(setup="same", outcome="Green", **most))
    await store.journal.append("ses_i", [UserMessage(message="newer")])
    found = await listed(store, agent_id="looker", like=ME, limit=20)
    assert found == ["ses_0", *stories]
    assert await listed(store, agent_id="looker", like=ME, limit=2) == ["ses_0", "ses_a"]


async def test_the_last_active_come_first_where_nothing_else_is_asked(store: Store) -> None:
    for name in ("ses_1", "ses_2", "ses_3"):
        await tell(store.journal, name, Story())
    await store.journal.append("ses_2", [UserMessage(message="hi")])
    assert await listed(store, agent_id="looker") == ["ses_2", "ses_3", "ses_1"]
    assert await listed(store) == ["ses_2", "ses_3", "ses_1"]
    assert await listed(store, status="idle") == ["ses_3", "ses_1"]


async def test_the_ends_of_many_sessions_are_told_at_once(store: Store) -> None:
    for name in ("ses_1", "ses_2"):
        await tell(store.journal, name, Story())
    before = await store.archive.heads(["ses_1", "ses_2", "ses_none"])
    assert sorted(before) == ["ses_1", "ses_2"]
    await store.journal.append("ses_2", [UserMessage(message="hi")])
    many = [f"ses_{number}" for number in range(1200)]
    assert await store.archive.heads(many) == {**before, "ses_2": before["ses_2"] + 1}
    assert await store.archive.heads([]) == {}


async def test_a_brief_is_mended_and_goes_with_its_session(store: Store, place: StorePlace) -> None:
    await tell(store.journal, "ses_1", Story(setup="same"))
    for damage, what in (
        ("UPDATE session_briefs SET setup = 'else'", "brief setup"),
        ("DELETE FROM session_briefs", "brief"),
    ):
        place.rows(damage)
        (found,) = await store.archive.rebuild("ses_1", repair=True)
        assert found.what == what
        assert await store.archive.rebuild("ses_1", repair=False) == ()
    assert await listed(store, agent_id="looker") == ["ses_1"]
    await store.archive.delete("ses_1")
    assert place.how_many("session_briefs") == 0


def briefs_written(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM written").fetchone()
        return count


async def test_what_happens_in_a_run_writes_nothing_that_lists_need(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    place = StorePlace(str(path))
    async with place.opened() as store:
        await tell(store.journal, "ses_1", Story(setup="same", outcome="Green"))
    place.rows("CREATE TABLE written (number INTEGER)")
    for when in ("INSERT", "UPDATE", "DELETE"):
        place.rows(
            f"CREATE TRIGGER on_{when} AFTER {when} ON session_briefs"
            " BEGIN INSERT INTO written VALUES (1); END"
        )
    async with place.opened() as store:
        journal = store.journal
        runs = StatusChanged(from_status="idle", to_status="running", reason="a wake")
        await journal.append("ses_1", [runs])
        assert briefs_written(path) == 1
        lease = await journal.lease("ses_1", "somebody", 60)
        for number in range(3):
            asked = CallAsked(call_id=f"cal_{number}", tool="t", arguments="{}")
            does = CallIntended(
                call_id=f"cal_{number}", tool="t", arguments_hash="0", grounds="it reads"
            )
            await journal.append("ses_1", [asked, does], epoch=lease.epoch)
        await journal.append("ses_1", [UserMessage(message="more"), EventsProcessed(event_ids=())])
        await journal.renew(lease, 60)
        await journal.release(lease)
        assert briefs_written(path) == 1


_BEFORE_BRIEFS = 7
"""The tables of a file before it had any."""


async def test_an_older_store_lists_what_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h.db"
    place = StorePlace(str(path))
    async with place.opened() as store:
        for name in ("ses_1", "ses_2", "ses_broken"):
            await tell(store.journal, name, Story(setup="same"))
    place.rows("DROP TABLE session_briefs")
    place.rows(f"PRAGMA user_version = {_BEFORE_BRIEFS}")
    place.rows("UPDATE chat_sessions SET state_json = '{' WHERE id = 'ses_broken'")
    # What came later is there already.
    monkeypatch.setattr(schema, "MIGRATIONS", MIGRATIONS[: _BEFORE_BRIEFS + 1])
    async with place.opened() as store:
        assert await listed(store, agent_id="looker") == ["ses_2", "ses_1"]
        assert await store.archive.rebuild("ses_1", repair=False) == ()


TITLES = st.sampled_from([None, "Green", "Red"])
STORIES = st.builds(
    Story,
    agent=st.sampled_from(["looker", "looker", "other", None]),
    parent=st.sampled_from([None, "ses_me", "ses_top", "ses_far"]),
    setup=st.sampled_from([None, None, "same", "else"]),
    outcome=st.sampled_from(["Green", "Red", "Red"]),
    status=st.sampled_from(["pass", "not_ready", "fail"]),
    trend=st.sampled_from([None, None, None, "first_iteration", "improving", "stable"]),
    waits=st.sampled_from([False, False, True]),
    wake=st.sampled_from([None, "wak_1"]),
)
FILTERS: dict[str, Sequence[object]] = {
    "agent_id": ["looker"],
    "parent_id": ["ses_me"],
    "status": ["idle", "requires_action"],
    "has_outcome": [True, False],
    "outcome_status": ["pass", "not_ready", "missing_outcome", "blocked"],
    "outcome_trend": ["improving", "stable"],
    "promotion_ready": [True, False],
    "active_since": [NOON + timedelta(seconds=30)],
    "active_before": [NOON + timedelta(seconds=60)],
    "kin": ["related", "children", "parent", "siblings"],
}
ONE_FILTER = st.sampled_from(
    [(name, value) for name, values in FILTERS.items() for value in values]
)


@st.composite
def queries(draw: st.DrawFn) -> SessionQuery:
    """With two filters at the most: more would leave nothing to be ordered."""
    asked: dict[str, Any] = dict(draw(st.lists(ONE_FILTER, max_size=2)))
    like = draw(st.sampled_from([ME, Likeness(session_id="ses_1")]))
    limit = draw(st.sampled_from([12, 3]))
    return SessionQuery(**asked, or_nobodys=draw(st.booleans()), like=like, limit=limit)


def fits(one: Session, query: SessionQuery) -> bool:
    """What a query says, in other words."""
    state, managed = one.state, one.state.managed
    record = None if managed is None else managed.evaluated
    found = None if record is None else record.evaluation
    like = query.like
    assert like is not None
    rested = 0 if managed is None else managed.rested_at
    active = datetime.fromtimestamp(rested / 1e6, UTC) if rested else one.updated_at
    agents = {query.agent_id, None} if query.or_nobodys else {query.agent_id}
    has_outcome = managed is not None and managed.outcome_title is not None
    parent, child = one.id == like.parent_id, state.parent_id == like.session_id
    sibling = like.parent_id is not None and state.parent_id == like.parent_id
    kin = {
        None: True,
        "parent": parent,
        "children": child,
        "siblings": sibling,
        "related": parent or child or sibling,
    }
    return (
        one.id != like.session_id
        and kin[query.kin]
        and (query.agent_id is None or state.agent_id in agents)
        and query.parent_id in (None, state.parent_id)
        and query.status in (None, state.status)
        and query.has_outcome in (None, has_outcome)
        and query.outcome_status in (None, outcome_status(state))
        and query.outcome_trend in (None, None if found is None else found.trend)
        and query.promotion_ready in (None, found is not None and found.promotion_ready)
        and (query.active_since is None or active >= query.active_since)
        and (query.active_before is None or one.updated_at < query.active_before)
    )


async def check_queries(stories: Sequence[Story], queries: Sequence[SessionQuery]) -> None:
    clock = FakeClock(NOON)
    journal = FakeJournal(clock)
    for number, story in enumerate(stories):
        name = f"ses_{number * 7 % 11}"  # so that names do not tell which one is newer
        await tell(journal, name, story)
        clock.advance(10)
    await journal.append("ses_0", [UserMessage(message="long after its last run")])
    await journal.create("ses_top", [SessionCreated(agent_id="looker")])
    every = await journal.archive.sessions(SessionQuery())
    for query in queries:
        assert query.like is not None
        like = query.like
        found = await journal.archive.sessions(query)
        fitting = [one for one in every if fits(one, query)]
        fitting.sort(key=lambda one: (rank(one, like), one.id), reverse=True)
        assert [one.id for one in found] == [one.id for one in fitting[: query.limit]]
        counts = await journal.archive.child_counts(["ses_me"], SessionQuery(agent_id="looker"))
        below = [one for one in every if one.state.parent_id == "ses_me"]
        ours = sum(one.state.agent_id == "looker" for one in below)
        assert counts.get("ses_me", 0) == ours
    await journal.close()


@settings(max_examples=40)
@given(st.lists(STORIES, min_size=4, max_size=10), st.lists(queries(), max_size=5))
def test_a_store_lists_as_the_rule_says(stories: list[Story], asked: list[SessionQuery]) -> None:
    anyio.run(check_queries, stories, [SessionQuery(like=ME), *asked])


async def test_who_waits_for_a_person_or_the_application_is_known(store: Store) -> None:
    await tell(store.journal, "ses_1", Story(waits=True, outcome="Green"))
    (found,) = await store.archive.sessions(SessionQuery(outcome_status="blocked"))
    assert requires_action(found.state)
    assert await listed(store, outcome_status="not_ready") == []
