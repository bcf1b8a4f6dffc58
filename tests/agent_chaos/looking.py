"""What must hold of an agent's sessions, however often their program was killed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from agent_chaos.script import CHILD, key_of
from agent_chaos.worker import Job, is_at_rest

from holdfast.agent.conversation import Conversation
from holdfast.agent.requests import request_hash
from holdfast.app.ledger import verified
from holdfast.app.run_replaying import replay_run
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
    ChildCreated,
    ChildIdle,
    Event,
    ModelRequested,
    Payload,
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


async def children_under_way(job: Job) -> set[str]:
    """How the subagents worked whose end nobody had written down when the program was killed."""
    if not job.session.exists():
        return set()
    root = job.session.read_text("utf-8")
    async with opened_store(Settings(), surroundings=job.surroundings) as store:
        said = [one.payload for one in await _events(store.journal, root)]
    over = {one.child_session_id for one in said if isinstance(one, ChildIdle)}
    begun = [one for one in said if isinstance(one, ChildCreated)]
    works = [one.message.removeprefix(CHILD) for one in begun if one.child_session_id not in over]
    background = job.plan.background()
    return {"background" if one in background else "blocking" for one in works}


async def check_round(job: Job, begun: dict[str, bool]) -> None:
    """Look at everything that a finished session and those below it leave."""
    assert not job.problems.exists(), job.problems.read_text("utf-8")
    happened = effects(job)
    assert happened, "nothing was done"
    assert max(Counter(happened).values()) == 1, f"an effect came twice: {happened}"
    verdict = verified(Settings(), job.surroundings, None, lambda _one: None)
    assert verdict.problems == ()
    root = job.session.read_text("utf-8")
    keys: dict[str, str | None] = {}
    async with opened_store(Settings(), surroundings=job.surroundings) as store:
        for one in await store.archive.sessions(SessionQuery(limit=100)):
            events = await _events(store.journal, one.id)
            if one.id == root:
                assert is_at_rest(one.state)
            # Whoever was killed at the work of a subagent leaves that session where it stood.
            check_calls(events, set(happened), begun, whole=one.state.status == "idle")
            check_told(events)
            await check_replay(events)
            keys |= _keys(events)
    assert set(happened) <= set(keys.values()), "an effect of no call"


async def check_replay(events: Sequence[Event]) -> None:
    """Whatever was recorded comes out again, over all the programs that were killed."""
    if any(one.wake_id is not None for one in events):
        found = await replay_run(events)
        assert found.divergence is None, found.divergence


def check_calls(
    events: Sequence[Event], happened: Set[str], begun: Mapping[str, bool], *, whole: bool
) -> None:
    """Each call has one answer, one intent and one approval at most, and no effect without.

    ``begun``: calls that a dead program had begun, and whether their effect was there by then.
    ``whole``: every call has its answer.
    """
    keys = _keys(events)
    payloads = [one.payload for one in events]
    asked = Counter(one.call_id for one in payloads if isinstance(one, ApprovalAsked))
    answered = Counter(one.call_id for one in payloads if isinstance(one, ApprovalAnswered))
    settled = {one.call_id: one for one in payloads if isinstance(one, CallSettled)}
    intended = check_intents(payloads)
    ends = Counter(one.call_id for one in payloads if isinstance(one, CallSettled))
    for counted in (intended, asked, answered, ends):
        assert max(counted.values(), default=1) == 1, f"more than one: {counted}"
    assert set(settled) <= set(keys), "an answer to no call"
    if whole:
        assert set(settled) == set(keys), "a call without an answer"
    for call_id, key in keys.items():
        there = key is not None and key in happened
        assert not there or call_id in intended, "an effect without an intent"
        if call_id in begun:
            assert there is begun[call_id], "a call ran again after a restart"
        if call_id in settled:
            check_answer(settled[call_id], key, there=there, dead=call_id in begun)


def check_answer(said: CallSettled, key: str | None, *, there: bool, dead: bool) -> None:
    """An answer tells whether the effect is there; of a dead program nobody can tell."""
    envelope = bytes(said.envelope).decode()
    assert '"kind":"unavailable"' not in envelope, f"what was there before is not: {envelope}"
    if dead:
        assert ABORTED in envelope, envelope
    elif key is not None:
        assert there is ('"ok":true' in envelope), envelope


def check_intents(payloads: Sequence[Payload]) -> Counter[str]:
    """Nothing is begun that asks for leave, before a person has given it; how often each was."""
    found: Counter[str] = Counter()
    leave: dict[str, bool] = {}
    waits: set[str] = set()
    for one in payloads:
        match one:
            case CallAsked(tool="ask") | ApprovalAsked():
                waits.add(one.call_id)
            case ApprovalAnswered():
                leave[one.call_id] = one.allowed
            case CallIntended():
                found[one.call_id] += 1
                given = leave.get(one.call_id)
                assert given is not False, "a call began that a person refused"
                assert given or one.call_id not in waits, "a call began without leave"
            case _:
                pass
    return found


def check_told(events: Sequence[Event]) -> None:
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
