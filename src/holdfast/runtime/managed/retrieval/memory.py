"""The backend that looks through what is remembered: lessons, MEMORY.md, and what sessions keep of
themselves: where they stand, how far they came, their outcome, their notes, their shells.

Which sessions may be meant is found by their events; what is shown of them is how they stand now.
"""

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from anyio import to_thread

from holdfast.contract.archive import Worded
from holdfast.contract.events import CallAsked
from holdfast.contract.journal import Session
from holdfast.contract.managed.retrieval import BackendName, Source
from holdfast.contract.managed.shell_views import ShellState, ShellView
from holdfast.contract.managed.spaces import agent_space, session_space
from holdfast.contract.mounts import of_kind
from holdfast.contract.vectors import Question
from holdfast.contract.versions import Kept
from holdfast.contract.wake_events import LearningCaptured
from holdfast.execution.files.opening import standing
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.retrieval.among import Among, best, is_within
from holdfast.runtime.managed.retrieval.hits import Brought, Hit
from holdfast.runtime.managed.text_score import Query, query_of

MEMORY_FILE = "MEMORY.md"
MOST_BYTES = 256_000
"""Of a file or a note that is looked through: its beginning."""
MOST_SESSIONS = 40
_LEARNED = ("learning.captured",)
_WRITES = "call.asked/memory_write"
_SHELLS = ("call.asked/shell_run", "call.asked/shell_exec", "shell.changed")
_KEPT = (
    *("agent.message", "session.status_idle", "user.define_outcome", "outcome.evaluated"),
    *(_WRITES, *_SHELLS),
)
"""Events that change what a session keeps of itself."""
_NOTES: tuple[Source, ...] = ("session_state", "working_buffer")


class _Write(msgspec.Struct):
    """Whose notes a call wrote."""

    session_id: str | None = None


_write = msgspec.json.Decoder(_Write).decode


class MemoryBackend:
    """Finds what is remembered."""

    name: BackendName = "memory"

    def __init__(self, shell: ShellView) -> None:
        self._shell = shell

    async def search(self, asked: Question, among: Among, /) -> Brought:
        """The texts that fit, the best first. A lineage bounds sessions, and not what the agent
        knows."""
        query = query_of(asked.text)
        of_agent = msgspec.structs.replace(asked, sessions=None, without=None)
        learned = await among.near(of_agent, _LEARNED)
        kept = await among.near(asked, _KEPT)
        hits = [*_learnings(query, among, learned.events)]
        hits += [one async for one in self._shared(query, among)]
        hits += [one async for one in self._of_sessions(query, among, asked, kept.events)]
        return Brought(best(hits, asked.limit), kept.unindexed)

    async def _shared(self, query: Query, among: Among) -> AsyncIterator[Hit | None]:
        """What stands in MEMORY.md; the notes in it are told apart from the rest."""
        ground = among.ground
        notes = await among.stores.versions.newest(
            agent_space(ground.agent_id), "workspace_memory_notes"
        )
        noted = _text(notes)
        yield among.hit(query, noted, _note("workspace_memory_notes", notes))
        whole = await to_thread.run_sync(_memory, ground)
        rest = whole.replace(noted, "") if noted.strip() else whole
        made = Hit(source="workspace_memory", title=MEMORY_FILE, snippet="", points=0)
        yield among.hit(query, rest, made)

    async def _of_sessions(
        self, query: Query, among: Among, asked: Question, events: Sequence[Worded]
    ) -> AsyncIterator[Hit | None]:
        may_be_meant = [one.event.session_id for one in events]
        here = [among.current.id] if is_within(asked, among.current.id) else []
        writers = [*here, *_written(events)]
        known = await among.of(islice(dict.fromkeys([*may_be_meant, *writers]), MOST_SESSIONS))
        for session in known.values():
            if is_within(asked, session.id):
                for one in _standing(session):
                    yield among.hit(query, *one)
        for session_id in dict.fromkeys(writers):
            if session_id in known and is_within(asked, session_id):
                async for one in _notes(query, among, session_id):
                    yield one
        shells = [one.event.session_id for one in events if _kind(one) in _SHELLS]
        for session_id in dict.fromkeys([*here, *shells]):
            if session_id in known:
                yield await self._of_shell(query, among, known[session_id])

    async def _of_shell(self, query: Query, among: Among, session: Session) -> Hit | None:
        state = await self._shell.state(session.id)
        last = state.last_command
        made = Hit(
            source="shell_state",
            title=f"Shell of {_called(session)}",
            snippet="",
            points=0,
            session_id=session.id,
            created_at=last.updated_at if last is not None else session.updated_at.isoformat(),
            has_command=last is not None,
        )
        return among.hit(query, "\n".join(filter(None, _shell_texts(state))), made)


def _learnings(query: Query, among: Among, events: Iterable[Worded]) -> Iterator[Hit | None]:
    seen: set[str] = set()
    for one in events:
        said = one.event.payload
        if not isinstance(said, LearningCaptured) or one.text in seen:
            continue
        seen.add(one.text)
        made = Hit(
            source="learning",
            title=said.title,
            snippet="",
            points=0,
            session_id=one.event.session_id,
            event_id=one.event.id,
            created_at=one.event.at.isoformat(),
        )
        yield among.hit(query, one.text, made)


def _standing(session: Session) -> Iterator[tuple[str, Hit]]:
    """What a session's state says: each text, and what is found where it fits."""
    managed, state = session.state.managed, session.state
    if managed is None:
        return
    at = session.updated_at.isoformat()

    def made(source: Source, title: str, created_at: str, event_id: str | None = None) -> Hit:
        return Hit(
            source=source,
            title=title,
            snippet="",
            points=0,
            session_id=session.id,
            event_id=event_id,
            created_at=created_at,
        )

    about = managed.outcome_title or _called(session)
    if managed.summary:
        checkpoint = made("session_checkpoint", f"{about}: where it stands", at)
        texts = (managed.summary, state.title, managed.outcome_title)
        yield "\n".join(filter(None, texts)), checkpoint
    if managed.evaluated is not None:
        record = managed.evaluated
        found = record.evaluation
        evaluation = made("session_evaluation", f"{about}: {found.status}", record.evaluated_at)
        texts = (
            *(found.summary, found.status, found.trend_summary),
            *(record.outcome_title, record.grade_status),
        )
        yield "\n".join(filter(None, texts)), evaluation
    if managed.outcome_title is not None:
        outcome = made("session_outcome", about, at, managed.outcome_event_id)
        yield "\n".join((managed.outcome_title, *managed.success_criteria)), outcome


async def _notes(query: Query, among: Among, session_id: str) -> AsyncIterator[Hit | None]:
    for target in _NOTES:
        kept = await among.stores.versions.newest(session_space(session_id), target)
        yield among.hit(query, _text(kept), _note(target, kept, session_id))


def _note(target: Source, kept: Kept | None, session_id: str | None = None) -> Hit:
    return Hit(
        source=target,
        title=f"{target} of {session_id}" if session_id is not None else f"{MEMORY_FILE} notes",
        snippet="",
        points=0,
        session_id=session_id,
        created_at=None if kept is None else kept.version.at.isoformat(),
    )


def _text(kept: Kept | None) -> str:
    return "" if kept is None else kept.content[:MOST_BYTES].decode("utf-8", "replace")


def _written(events: Iterable[Worded]) -> Iterator[str]:
    """Whose notes were written, the calling session's or another's."""
    for one in events:
        said = one.event.payload
        if isinstance(said, CallAsked) and _kind(one) == _WRITES:
            yield one.event.session_id
            try:
                named = _write(said.arguments).session_id
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            if named:
                yield named


def _kind(one: Worded) -> str:
    said = one.event.payload
    return f"{one.event.type}/{said.tool}" if isinstance(said, CallAsked) else one.event.type


def _called(session: Session) -> str:
    return session.state.title or session.id


def _shell_texts(state: ShellState) -> Iterator[str]:
    """What is known of a shell, without the values of variables."""
    yield state.cwd
    yield from state.env.keys
    for one in (state.last_command, *state.recent_commands):
        if one is not None:
            yield " ".join((one.command, *one.args))
            yield one.output_preview
            yield one.stdout_preview
            yield one.stderr_preview


def _memory(ground: Ground) -> str:
    """MEMORY.md of the agent; empty: there is none. Blocking."""
    shared = of_kind(ground.mounts, "agent_substrate")
    if shared is None:
        return ""
    try:
        with standing(str(Path(shared.mount_path) / MEMORY_FILE)) as spot, spot.content() as handle:
            return os.read(handle, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
