"""What must hold of an agent's sessions, however often their program was killed."""

from collections import Counter
from collections.abc import Iterable

from agent_chaos.script import key_of
from agent_chaos.worker import Job, is_at_rest

from holdfast.agent.conversation import Conversation
from holdfast.agent.requests import request_hash
from holdfast.app.ledger import verified
from holdfast.app.session_store import NothingStored, opened_store
from holdfast.app.settings import Settings
from holdfast.contract.archive import SessionQuery
from holdfast.contract.chunks import SystemChunk
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallSettled,
    Event,
    ModelRequested,
)
from holdfast.contract.journal import Journal
from holdfast.contract.model import ModelRequest
from holdfast.runtime.recovery import ABORTED


def effects(job: Job) -> list[str]:
    return job.effects.read_text("utf-8").split() if job.effects.exists() else []


async def last_moment(job: Job) -> dict[str, bool]:
    """The calls that a dead program had begun and not ended; whether their effect is there."""
    found: dict[str, bool] = {}
    happened = set(effects(job))
    try:
        async with opened_store(Settings(), surroundings=job.surroundings) as store:
            for one in await store.archive.sessions(SessionQuery(limit=100)):
                begun = {name for name, call in one.state.calls.items() if call.stage == "intended"}
                keys = _keys(await _events(store.journal, one.id)) if begun else {}
                found |= {name: keys.get(name) in happened for name in begun}
    except NothingStored:
        pass
    return found


async def _events(journal: Journal, session_id: str) -> list[Event]:
    found: list[Event] = []
    while page := await journal.events(session_id, after=len(found)):
        found += page
    return found


def _keys(events: Iterable[Event]) -> dict[str, str | None]:
    asked = (one.payload for one in events)
    return {
        one.call_id: key_of(one.tool, one.arguments) for one in asked if isinstance(one, CallAsked)
    }


async def check_round(job: Job, begun: dict[str, bool]) -> int:
    """Look at everything that a finished session and those below it leave; how many effects."""
    assert not job.problems.exists(), job.problems.read_text("utf-8")
    happened = effects(job)
    assert max(Counter(happened).values(), default=1) == 1, f"an effect came twice: {happened}"
    verdict = verified(Settings(), job.surroundings, None, lambda _one: None)
    assert verdict.problems == ()
    root = job.session.read_text("utf-8")
    keys: dict[str, str | None] = {}
    async with opened_store(Settings(), surroundings=job.surroundings) as store:
        for one in await store.archive.sessions(SessionQuery(limit=100)):
            events = await _events(store.journal, one.id)
            check_calls(events, set(happened), begun, whole=one.id == root)
            check_told(events)
            keys |= _keys(events)
            if one.id == root:
                assert is_at_rest(one.state)
    assert set(happened) <= set(keys.values()), "an effect of no call"
    return len(happened)


def check_calls(
    events: list[Event], happened: set[str], begun: dict[str, bool], *, whole: bool
) -> None:
    """Each call has one answer, one intent and one approval at most, and no effect without."""
    keys = _keys(events)
    payloads = [one.payload for one in events]
    intended = Counter(one.call_id for one in payloads if isinstance(one, CallIntended))
    asked = Counter(one.call_id for one in payloads if isinstance(one, ApprovalAsked))
    answered = Counter(one.call_id for one in payloads if isinstance(one, ApprovalAnswered))
    settled = [one for one in payloads if isinstance(one, CallSettled)]
    for counted in (intended, asked, answered, Counter(one.call_id for one in settled)):
        assert max(counted.values(), default=1) == 1, counted
    if whole:
        assert {one.call_id for one in settled} == set(keys), "a call without an answer"
    allowed = {one.call_id: one.allowed for one in payloads if isinstance(one, ApprovalAnswered)}
    for one in settled:
        key, envelope = keys[one.call_id], bytes(one.envelope).decode()
        there = key is not None and key in happened
        if one.call_id in begun:
            assert ABORTED in envelope, envelope
            assert there is begun[one.call_id], "a call ran again after a restart"
        elif key is not None:
            assert there is ('"ok":true' in envelope), envelope
        if there:
            assert one.call_id in intended, "an effect without an intent"
            assert allowed.get(one.call_id, True), "an effect that a person refused"


def check_told(events: list[Event]) -> None:
    """What the model was told follows from the journal alone, whoever asked it."""
    talk = Conversation()
    for event in events:
        talk.take([event])
        said = event.payload
        if isinstance(said, ModelRequested):
            equipped = talk.equipped
            assert equipped is not None
            rows = (*map(SystemChunk, equipped.system), *talk.rows())
            request = ModelRequest(rows=rows, tools=equipped.tools)
            assert request_hash(request, said.model) == said.request_hash
