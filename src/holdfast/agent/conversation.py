"""What a session's events say to a model: rows in an order that every model takes.

Built from events alone, one after the other, so that whoever takes a session up tells the model the
same as whoever ran it before. The answers to a reply's calls stand right behind it, in the order of
the calls; whatever a person said meanwhile comes after them. What a model was not told when it
replied stands behind its reply. Nothing is read or written here.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from holdfast.agent.context.budget import Frame, frame_of
from holdfast.agent.context.compaction import kept_behind, summary_row
from holdfast.agent.context.entries import NO_EVENT, Entry, row_tokens
from holdfast.agent.context.pruning import pruned
from holdfast.agent.directive import Learning, learning_key
from holdfast.agent.replies import KeptReply, TurnCall, read_reply
from holdfast.contract.chunks import AssistantChunk, Chunk, ToolResultChunk, UserChunk
from holdfast.contract.event_kinds import MAKES_RUNNABLE
from holdfast.contract.events import (
    CallSettled,
    ChildCreated,
    ChildIdle,
    ChildWaits,
    CustomToolResult,
    Event,
    EventsProcessed,
    ModelReplied,
    ModelRequested,
    OutcomeDefined,
    Payload,
    SpanStarted,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.wake_events import (
    AgentEquipped,
    ContextCompacted,
    LearningCaptured,
    ModelBrokenOff,
    ModelFailed,
    OutputsPruned,
    WakeQueued,
    WakesCompleted,
    WorkspaceLost,
)

BROKEN_OFF = "[You were interrupted here, in the middle of what you said.]"
FILES_LOST = (
    "[files lost] Whoever ran this session before is gone. The files of the workspace are again as"
    " they were when they were last kept. Since then {calls} ran there; what was changed in files"
    " by that is not here. Look at the files before you rely on them, and do again what is missing."
)
NEVER = datetime.min.replace(tzinfo=UTC)
RETRY = "session.retry"
"""The reason of a wake that only takes a failed run up: what is to be told is known already."""


class _BackgroundTask(msgspec.Struct):
    """What `task` answers when it does not wait."""

    session_id: str | None = None


class _Answer(msgspec.Struct):
    result: _BackgroundTask | None = None


_read_task = msgspec.json.Decoder(_Answer, strict=False).decode


class Conversation:
    """The rows of one session, and what of them is still to be done."""

    def __init__(self) -> None:
        self.began = NEVER
        """When the last run was written down as begun: whoever replays it knows that exactly."""
        self.sequence = 0
        """The number of the last event that was taken in."""
        self.entries: list[Entry] = []
        self.pending: dict[str, Payload] = {}
        """What people said and no reply has taken into account, by the ids of the events."""
        self.unseen = False
        """There are rows that no reply has taken into account."""
        self.equipped: AgentEquipped | None = None
        self._frame: tuple[AgentEquipped | None, Frame] = (None, frame_of((), ()))
        self.reply: KeptReply | None = None
        """The last one."""
        self.tokens = 0
        """How many tokens the rows are, by estimate."""
        self._aside: set[str] = set()
        """Requests whose replies are no part of the conversation."""
        self._answers: dict[str, Entry] = {}
        self._later: list[Entry] = []
        """What waits for its place behind the answers, or behind a reply that is under way."""
        self._asked = False
        self.background: set[str] = set()
        """Sessions of subagents whose end nobody waits for."""
        self.ended_early: dict[str, str] = {}
        """What to tell of subagents that ended before the call that began them."""
        self.learned: set[str] = set()
        """The keys of what was learned."""
        self.children: set[str] = set()
        """Sessions of subagents that have not come to rest."""
        self.wakes: dict[str, WakeQueued] = {}
        """The wakes that are still to come, by their ids."""

    @property
    def frame(self) -> Frame:
        """What stands around the rows, measured; once for as long as it stays."""
        equipped = self.equipped
        if equipped is not None and self._frame[0] is not equipped:
            sections = (("system", text) for text in equipped.system)
            self._frame = (equipped, frame_of(sections, equipped.tools))
        return self._frame[1]

    @property
    def open_calls(self) -> tuple[TurnCall, ...]:
        """The calls of the last reply that have no answer yet, in their order."""
        if self.reply is None:
            return ()
        return tuple(one for one in self.reply.calls if one.id not in self._answers)

    def rows(self) -> tuple[Chunk, ...]:
        """What was said, as the model is told it."""
        return tuple(entry.row for entry in self.entries)

    def take(self, events: Iterable[Event]) -> None:
        """Take further events in, in their order."""
        for event in events:
            self.sequence = event.sequence
            said = event.payload
            if event.processed_at is None and isinstance(said, MAKES_RUNNABLE):
                self.pending[event.id] = said
            taking = _TAKINGS.get(type(said))
            if taking is not None:
                taking(self, event, said)

    def say(self, text: str, sequence: int) -> None:
        """A person, or somebody in their place, said something."""
        self._add(Entry(row=UserChunk(text), sequence=sequence))

    def _add(self, entry: Entry) -> None:
        if self._asked or self.open_calls:
            self._later.append(entry)
            return
        self._append(entry)
        self.unseen = True

    def _append(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.tokens += row_tokens(entry.row)

    def put(self, entries: Iterable[Entry]) -> None:
        """These are the rows from here on."""
        self.entries = list(entries)
        self.tokens = sum(row_tokens(entry.row) for entry in self.entries)

    def _flush(self) -> None:
        later, self._later = self._later, []
        for entry in later:
            self._add(entry)

    def begin_run(self) -> None:
        """No reply is under way: whoever waited for one is gone, and what came since is told."""
        self._asked = False
        self._aside.clear()
        self._flush()

    def requested(self, _event: Event, said: ModelRequested) -> None:
        """What the model was not told of waits until it has replied."""
        if said.purpose == "summary":
            self._aside.add(said.request_id)
            return
        self.begin_run()
        self._later = [entry for entry in self.entries if entry.sequence > said.through]
        if self._later:
            self.put(entry for entry in self.entries if entry.sequence <= said.through)
        self._asked = True

    def failed(self, event: Event, said: ModelFailed | ModelBrokenOff) -> None:
        """There was no reply, or half of one: everything is to be told once more."""
        if said.request_id in self._aside:
            return
        self._asked = False
        if isinstance(said, ModelBrokenOff):
            self._append(Entry(row=AssistantChunk(said.text), sequence=event.sequence))
            self._append(Entry(row=UserChunk(BROKEN_OFF), sequence=event.sequence))
        self.unseen = True
        self._flush()

    def replied(self, event: Event, said: ModelReplied) -> None:
        """Its words and calls; what came meanwhile stands behind them."""
        if said.request_id in self._aside:
            return
        self.reply = read_reply(said.reply)
        self._answers = {}
        self.ended_early = {}  # the calls of before are answered, and told of those that matter
        self._asked = False
        said_something = bool(self.reply.text or self.reply.calls)
        self.unseen = not said_something or self.reply.finish == "length"  # ask again
        if said_something:
            self._append(Entry(row=self.reply.row(), sequence=event.sequence))
        if not self.reply.calls:
            self._flush()

    def settled(self, event: Event, said: CallSettled) -> None:
        """An answer finds its place once the others of its turn are there."""
        call = next((one for one in self.open_calls if one.id == said.call_id), None)
        if call is None or self.reply is None:
            return
        content = bytes(said.envelope).decode()
        if call.name == "task" and (child := _background_child(said)) is not None:
            _handed_over(self, child, event.sequence)
        row = ToolResultChunk(call.model_call_id, call.name, content)
        self._answers[call.id] = Entry(
            row=row, sequence=event.sequence, call_id=call.id, tool=call.name
        )
        if not self.open_calls:
            for one in self.reply.calls:
                self._append(self._answers[one.id])
            self.unseen = True
            self._flush()


def _message(talk: Conversation, event: Event, said: UserMessage) -> None:
    talk.say(said.message, event.sequence)


def _outcome(talk: Conversation, event: Event, said: OutcomeDefined) -> None:
    wanted = said.outcome
    criteria = "".join(f"\n- {one}" for one in wanted.success_criteria)
    detail = f"\n{wanted.detail}" if wanted.detail else ""
    talk.say(f"[outcome wanted] {wanted.title}{detail}{criteria}", event.sequence)


def _interrupt(talk: Conversation, event: Event, said: UserInterrupt) -> None:
    if said.note:
        talk.say(said.note, event.sequence)


def _processed(talk: Conversation, _event: Event, said: EventsProcessed) -> None:
    for event_id in said.event_ids:
        talk.pending.pop(event_id, None)


def _background_child(said: CallSettled) -> str | None:
    """The session of work that a `task` did not wait for."""
    try:
        task = _read_task(said.envelope).result
    except msgspec.MsgspecError:
        return None
    return None if task is None else task.session_id


def _handed_over(talk: Conversation, child: str, sequence: int) -> None:
    """Nobody waits for it; one that was quick has ended already."""
    if (end := talk.ended_early.pop(child, None)) is None:
        talk.background.add(child)
    else:
        talk.say(end, sequence)


def _child_ended(talk: Conversation, event: Event, said: ChildIdle) -> None:
    """Work in the background has ended; of other work the call's own answer tells."""
    child = said.child_session_id
    if child not in talk.children:
        return
    talk.children.discard(child)
    how = "ended" if said.child_stop_reason == "idle" else "failed"
    told = f"[task {child} {how}] {said.summary}"
    if child in talk.background:
        talk.background.discard(child)
        talk.say(told, event.sequence)
    else:
        talk.ended_early[child] = told


def _child_waits(talk: Conversation, _event: Event, said: ChildWaits) -> None:
    """It cannot be lost: the call that waits for it goes on with it."""
    talk.children.discard(said.child_session_id)


def _custom_result(talk: Conversation, event: Event, said: CustomToolResult) -> None:
    """What a directive asked for; the output of a call is told by its answer."""
    calls = () if talk.reply is None else talk.reply.calls
    if all(one.id != said.request_id for one in calls):
        talk.say(f"[{said.tool_name} answered] {said.output}", event.sequence)


def _child_begun(talk: Conversation, _event: Event, said: ChildCreated) -> None:
    """A lasting one cannot be lost, and tells by a wake when it rests."""
    if not said.lasting:
        talk.children.add(said.child_session_id)


def _queued(talk: Conversation, _event: Event, said: WakeQueued) -> None:
    """What is queued already under the same key stays as it is, as in the session's state."""
    keys = {one.dedupe_key for one in talk.wakes.values()} - {None}
    if said.dedupe_key not in keys:
        talk.wakes.setdefault(said.queued_wake_id, said)


def _woken(talk: Conversation, event: Event, said: WakesCompleted) -> None:
    """A wake that is due is told: nobody else says why the model is asked."""
    for name in said.queued_wake_ids:
        wake = talk.wakes.pop(name, None)
        if wake is not None and wake.reason != RETRY and not said.cancelled:
            note = f"\n{wake.note}" if wake.note else ""
            talk.say(f"[wake due] {wake.reason}{note}", event.sequence)


def _equipped(talk: Conversation, _event: Event, said: AgentEquipped) -> None:
    talk.equipped = said


def _learned(talk: Conversation, _event: Event, said: LearningCaptured) -> None:
    learning = Learning(
        kind=said.learning_kind,
        title=said.title,
        detail=said.detail,
        dedupe_key=said.dedupe_key,
    )
    talk.learned.add(learning_key(learning))


def _compacted(talk: Conversation, _event: Event, said: ContextCompacted) -> None:
    """A summary stands for what was before."""
    kept = kept_behind(talk.entries, said.kept_from)
    talk.put([Entry(row=summary_row(said.summary), sequence=NO_EVENT), *kept])


def _pruned(talk: Conversation, _event: Event, said: OutputsPruned) -> None:
    """Lines stand for what these calls answered."""
    talk.put(pruned(talk.entries, frozenset(said.call_ids)))


def _files_lost(talk: Conversation, event: Event, said: WorkspaceLost) -> None:
    calls = "one call" if said.calls == 1 else f"{said.calls} calls"
    talk.say(FILES_LOST.format(calls=calls), event.sequence)


_Taking: TypeAlias = Callable[[Conversation, Event, Any], None]


def _run_begun(talk: Conversation, event: Event, said: SpanStarted) -> None:
    if said.span_kind == "wake":
        talk.began = event.at


_TAKINGS: Mapping[type[Payload], _Taking] = {
    SpanStarted: _run_begun,
    UserMessage: _message,
    OutcomeDefined: _outcome,
    UserInterrupt: _interrupt,
    EventsProcessed: _processed,
    AgentEquipped: _equipped,
    OutputsPruned: _pruned,
    LearningCaptured: _learned,
    ModelRequested: Conversation.requested,
    ModelFailed: Conversation.failed,
    ModelBrokenOff: Conversation.failed,
    ModelReplied: Conversation.replied,
    CallSettled: Conversation.settled,
    ChildCreated: _child_begun,
    ChildIdle: _child_ended,
    ChildWaits: _child_waits,
    CustomToolResult: _custom_result,
    ContextCompacted: _compacted,
    WakeQueued: _queued,
    WakesCompleted: _woken,
    WorkspaceLost: _files_lost,
}
"""By kind; what is not here says nothing to a model."""
