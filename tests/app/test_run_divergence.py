"""Recordings that were changed: the first event that is another one is named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from agents_at_work import at_work, calls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_replays import again, all_events, fail, first_of, look, with_payload

from holdfast.app.run_replaying import replay_run
from holdfast.contract.events import (
    AgentMessage,
    CallSettled,
    Event,
    ModelReplied,
    ModelRequested,
    SpanCompleted,
    StatusIdle,
    UserMessage,
)
from holdfast.contract.journal import JournalError
from holdfast.contract.wake_events import AgentEquipped
from holdfast.record.codec import IMPORTED, Chain
from holdfast.record.divergence import Divergence

pytestmark = pytest.mark.anyio

LOOK = ("look", '{"place": "north"}')


@pytest.fixture
async def events(tmp_path: Path) -> tuple[Event, ...]:
    turns = [calls(LOOK), calls(("fail", '{"text": "x"}')), "All is fine."]
    async with at_work(tmp_path, turns, tools=[look, fail]) as desk:
        await desk.told("Look around.")
        return await all_events(desk)


async def _named(events: Sequence[Event]) -> Divergence:
    found = (await again(events)).divergence
    assert found is not None
    return found


def _renumbered(events: Sequence[Event]) -> list[Event]:
    return [msgspec.structs.replace(event, sequence=place) for place, event in enumerate(events, 1)]


async def test_another_text_of_a_reply_shows_in_what_is_made_of_it(
    events: tuple[Event, ...],
) -> None:
    last = first_of(events, ModelReplied, 2)
    changed = msgspec.structs.replace(last.payload, reply={"text": "Nothing is fine."})
    found = await _named(with_payload(events, last.sequence, changed))
    said = first_of(events, AgentMessage)
    assert (found.sequence, found.event_id, found.kind) == (said.sequence, said.id, "agent.message")
    assert (found.field, found.before, found.after) == (
        *("$.message", "All is fine."),
        "Nothing is fine.",
    )


async def test_another_reply_in_the_middle_is_named_by_the_request_behind_it(
    events: tuple[Event, ...],
) -> None:
    reply = first_of(events, ModelReplied)
    said: Any = reply.payload
    changed = msgspec.structs.replace(said, reply={**said.reply, "text": "Let me see."})
    found = await _named(with_payload(events, reply.sequence, changed))
    assert (found.kind, found.field) == ("model.requested", "$.request_hash")
    assert found.sequence == first_of(events, ModelRequested, 1).sequence
    assert found.says is not None
    assert found.says.startswith("request 2 tells the model something else: its hash is ")


async def test_another_answer_of_a_call_is_named_by_the_request_that_tells_it(
    events: tuple[Event, ...],
) -> None:
    settled = first_of(events, CallSettled, 1)
    envelope = msgspec.Raw(b'{"ok":true,"result":"it did not fail","tool":"fail"}')
    changed = msgspec.structs.replace(settled.payload, envelope=envelope)
    found = await _named(with_payload(events, settled.sequence, changed))
    assert (found.kind, found.field) == ("model.requested", "$.request_hash")
    assert found.says is not None
    assert found.says.startswith("request 3 ")


async def test_another_hash_is_named_with_the_number_of_its_request(
    events: tuple[Event, ...],
) -> None:
    asked = first_of(events, ModelRequested, 1)
    changed = msgspec.structs.replace(asked.payload, request_hash="0" * 64)
    found = await _named(with_payload(events, asked.sequence, changed))
    assert (found.sequence, found.field, found.before) == (
        *(asked.sequence, "$.request_hash"),
        "0" * 64,
    )
    assert found.says is not None
    assert found.says.startswith("request 2 ")
    assert found.says.endswith("and was 000000000000")


async def test_other_words_of_a_person_and_another_outfit_show_in_the_first_request(
    events: tuple[Event, ...],
) -> None:
    spoken = first_of(events, UserMessage)
    found = await _named(with_payload(events, spoken.sequence, UserMessage(message="Look away.")))
    assert (found.kind, found.field) == ("model.requested", "$.request_hash")
    outfit = first_of(events, AgentEquipped)
    changed = msgspec.structs.replace(outfit.payload, system=("You are somebody else.",))
    found = await _named(with_payload(events, outfit.sequence, changed))
    assert (found.kind, found.field) == ("model.requested", "$.request_hash")


async def test_events_in_another_order_are_named(events: tuple[Event, ...]) -> None:
    idle, span = first_of(events, StatusIdle), first_of(events, SpanCompleted)
    assert span.sequence == idle.sequence + 1
    swapped = with_payload(events, idle.sequence, span.payload)
    found = await _named(with_payload(swapped, span.sequence, idle.payload))
    assert (found.sequence, found.field) == (idle.sequence, "$.type")
    assert (found.before, found.after) == ("span.completed", "session.status_idle")


@pytest.mark.parametrize("renumbered", [True, False])
async def test_a_missing_event_is_named(events: tuple[Event, ...], renumbered: bool) -> None:
    said = first_of(events, AgentMessage)
    left = [one for one in events if one is not said]
    found = await _named(_renumbered(left) if renumbered else left)
    assert found.sequence == said.sequence
    expected = ("$.type", "agent.message") if renumbered else ("$.sequence", said.sequence)
    assert (found.field, found.after) == expected


async def test_a_reply_that_is_gone_is_named_by_its_request(events: tuple[Event, ...]) -> None:
    reply = first_of(events, ModelReplied, 1)
    found = await _named(_renumbered([one for one in events if one is not reply]))
    assert found.sequence == reply.sequence
    assert found.says == "request 2 has neither a reply nor a failure in the recording"


async def test_an_event_too_many_is_named(events: tuple[Event, ...]) -> None:
    last = events[-1]
    more = msgspec.structs.replace(last, sequence=last.sequence + 1, id="evt_more")
    found = await _named([*events, more])
    assert (found.sequence, found.event_id, found.says) == (
        *(more.sequence, "evt_more"),
        "the run ends before it",
    )
    twice = msgspec.structs.replace(last, sequence=last.sequence + 1, wake_id=None)
    found = await _named([*events, twice])
    assert found.says == "an event of the same id stands before it"


async def test_what_somebody_else_wrote_is_not_taken_for_the_runs(
    events: tuple[Event, ...],
) -> None:
    said = first_of(events, AgentMessage)
    changed = list(events)
    changed[said.sequence - 1] = msgspec.structs.replace(said, wake_id="wak_other")
    found = await _named(changed)
    assert (found.sequence, found.says) == (
        said.sequence,
        "the run writes something here, and another run did",
    )


async def test_a_reply_that_cannot_be_read_is_named(events: tuple[Event, ...]) -> None:
    reply = first_of(events, ModelReplied)
    changed = msgspec.structs.replace(reply.payload, reply={"calls": 3})
    found = await _named(with_payload(events, reply.sequence, changed))
    assert (found.sequence, found.field) == (reply.sequence, "$.reply")


async def test_a_journal_that_was_edited_is_named_before_anything_runs(
    events: tuple[Event, ...],
) -> None:
    found = await replay_run(events, Chain(bytes(32)))
    assert found.divergence is not None
    assert (found.divergence.sequence, found.divergence.field) == (1, "$.hash")
    assert found.events_compared == 0


async def test_what_cannot_be_run_again_is_said(events: tuple[Event, ...]) -> None:
    imported = [msgspec.structs.replace(events[0], previous=IMPORTED), *events[1:]]
    outfit = first_of(events, AgentEquipped)
    older = msgspec.structs.replace(outfit.payload, terms=None)
    for recording, said in (
        (imported, "this session was imported"),
        (events[:2], "no agent ran in this session"),
        (with_payload(events, outfit.sequence, older), "by an older holdfast"),
        (events[1:], "does not begin with the beginning"),
        ((), "does not begin with the beginning"),
    ):
        with pytest.raises(JournalError, match=said):
            await replay_run(recording)


_CALLS = st.lists(
    st.sampled_from(
        [LOOK, ("look", '{"plce": 1}'), ("fail", '{"text": "x"}'), ("nothing", "{}"), ("look", "{")]
    ),
    min_size=1,
    max_size=3,
)
_TURNS = st.lists(st.one_of(st.just(""), st.text(min_size=1, max_size=20), _CALLS), max_size=6)


@given(turns=_TURNS, words=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=3))
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_whatever_the_model_says_comes_out_again(
    tmp_path_factory: pytest.TempPathFactory,
    turns: list[str | list[tuple[str, str]]],
    words: list[str],
) -> None:
    played = [one if isinstance(one, str) else calls(*one) for one in turns]
    folder = tmp_path_factory.mktemp("run")
    async with at_work(folder, [*played, "done"], tools=[look, fail]) as desk:
        for one in words:
            await desk.told(one)
        recorded = await all_events(desk)
    found = await again(recorded)
    asked = [one for one in recorded if isinstance(one.payload, ModelRequested)]
    assert (found.divergence, found.requests_compared) == (None, len(asked))
