"""What a run tells, as updates of the protocol: live as it happens, and again from the journal.

Whoever sends them is not known here. Text that came in pieces is not told a second time.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    PlanEntry,
    UserMessageChunk,
)

from holdfast.agent.place import Sign
from holdfast.agent.replies import read_reply
from holdfast.app.changed_texts import ChangedText
from holdfast.app.read_along import Below
from holdfast.app.telling import Told
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
    UserMessage,
)
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.truncate import cut_text
from holdfast.contract.wake_events import ContextCompacted, ModelBrokenOff, ModelFailed
from holdfast.surfaces.acp import calls
from holdfast.surfaces.acp.diffs import made_changes, written_changes
from holdfast.surfaces.acp.results import settled
from holdfast.surfaces.acp.texts import text_block
from holdfast.surfaces.acp.titles import title_of

Update: TypeAlias = (
    AgentMessageChunk | AgentThoughtChunk | UserMessageChunk | AgentPlanUpdate | calls.Update
)
Changed: TypeAlias = Callable[[str], Awaitable[tuple[ChangedText, ...]]]
"""What a call changed in files, by its id."""

_COMPACTED = "(A summary stands for what was said before.)"
_LINE = 160


class Telling:
    """Tells one session."""

    def __init__(self, known: calls.Calls, changed: Changed, workspace: str | None) -> None:
        self.calls = known
        self._changed = changed
        self._workspace = workspace
        self._request = ""
        """The name of the request that is answered, for names of cards."""
        self._is_aside = False
        """The reply under way is no part of the conversation."""
        self._has_spoken = self._has_thought = False
        self.is_live = True
        """False: it is told again what happened before."""

    async def of(self, told: Told) -> list[Update]:
        """One more thing that happened."""
        match told:
            case Event(payload=CallSettled() as said):
                return await self._settled(said)
            case Event(payload=said):
                return list(self._event(said))
            case Sign(call_id=call_id, progress=sign):
                return list(self.calls.says(call_id, sign.message)) if sign.message else []
            case _ if self._is_aside:
                return []
            case TextDelta(text):
                self._has_spoken = True
                return [message(text)]
            case ReasoningDelta(text):
                self._has_thought = True
                return [thought(text)]
            case CallDelta():
                return list(self.calls.writes(told.index, told.name, self._request))

    async def below(self, below: Below) -> list[Update]:
        """Something that happened in the session of a subagent."""
        said = below.event.payload
        own = getattr(said, "call_id", None)
        found: list[Update] = []
        if isinstance(own, str) and self.calls.get(own) is not None:  # somebody was asked about it
            if isinstance(said, CallIntended):
                found += self.calls.begun(own)
            elif isinstance(said, CallSettled):
                found += await self._settled(said)
        line = _line_below(below)
        if line is not None and (card := self._task(below.name)) is not None:
            found += self.calls.does_below(card, line)
        return found

    def _event(self, said: Payload) -> Iterator[Update]:
        match said:
            case ModelRequested():
                self._request = said.request_id
                self._is_aside = said.purpose == "summary"
                self._has_spoken = self._has_thought = False
            case ModelReplied():
                yield from self._replied(said)
            case CallAsked():
                yield from self.calls.asked(said.call_id, said.tool, said.arguments)
            case CallIntended(call_id=call_id):
                yield from self.calls.begun(call_id)
            case UserMessage(message=text) if not self.is_live:
                yield UserMessageChunk(
                    session_update="user_message_chunk", content=text_block(text)
                )
            case ModelFailed() | ModelBrokenOff():
                yield from self._failed(said)
            case ContextCompacted():
                yield thought(_COMPACTED)
            case ChildCreated() | ChildIdle():
                yield from self._child(said)
            case _:
                pass

    def _replied(self, said: ModelReplied) -> Iterator[Update]:
        if self._is_aside:
            self._is_aside = False
            return
        reply = read_reply(said.reply)
        if reply.reasoning and not self._has_thought:
            yield thought(reply.reasoning)
        if reply.text and not self._has_spoken:
            yield message(reply.text)
        yield from self.calls.whole(reply.calls)

    def _failed(self, said: ModelFailed | ModelBrokenOff) -> Iterator[Update]:
        yield from self.calls.dropped()
        if not isinstance(said, ModelFailed) or said.retry_in_seconds is None or not self.is_live:
            return
        again = f"{said.retry_in_seconds:.1f} s"
        yield thought(f"(The model gave no reply: {said.message}; it is asked again in {again}.)")

    async def _settled(self, said: CallSettled) -> list[Update]:
        decoded = decode_json(bytes(said.envelope))
        envelope: JsonObject = decoded if isinstance(decoded, dict) else {}
        card = self.calls.get(said.call_id)
        if card is None:
            return []
        end = settled(said.tool, envelope)
        more: list[calls.Content] = []
        if card.kind == "edit" and end.status == "completed":
            more += made_changes(await self._changed(said.call_id))
            if not more:
                more += card.diffs or written_changes(card.tool, card.arguments, self._workspace)
        found: list[Update] = list(self.calls.settled(said.call_id, end, more))
        if card.tool == "todo" and end.status == "completed":
            found.append(plan(card.arguments.get("todos")))
        return found

    def _child(self, said: ChildCreated | ChildIdle) -> Iterator[Update]:
        if isinstance(said, ChildCreated):
            name = said.outcome_title or "a subagent"
            if (card := self._task(name)) is not None:
                yield from self.calls.does_below(card, f"{name} begins")
        elif self._task("") is None:  # nobody waits for it: no answer of a call tells of its end
            yield thought(f"(Work in the background has ended: {cut_text(said.summary, _LINE)})")

    def _task(self, name: str) -> calls.Card | None:
        """The call that work was handed on by: of that subagent, else the last one."""
        tasks = [one for one in self.calls.open_cards() if one.tool == "task"]
        own = [one for one in tasks if one.arguments.get("subagent_type") == name]
        return next(iter([*own[-1:], *tasks[-1:]]), None)


def message(text: str) -> AgentMessageChunk:
    """Words of the agent."""
    return AgentMessageChunk(session_update="agent_message_chunk", content=text_block(text))


def thought(text: str) -> AgentThoughtChunk:
    """What it thinks, and what happens to it."""
    return AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(text))


def plan(todos: JsonValue) -> AgentPlanUpdate:
    """A to-do list; the protocol wants a priority, and the list has none."""
    entries: list[PlanEntry] = []
    for one in todos if isinstance(todos, list) else []:
        match one:
            case {
                "content": str(said),
                "status": "pending" | "in_progress" | "completed" as status,
            }:
                entries.append(PlanEntry(content=said, priority="medium", status=status))
            case _:
                pass
    return AgentPlanUpdate(session_update="plan", entries=entries)


def _line_below(below: Below) -> str | None:
    """A line for each call of a subagent, and one where it failed."""
    match below.event.payload:
        case CallAsked(tool=tool, arguments=arguments):
            decoded = _arguments(arguments)
            return cut_text(f"{below.name}: {title_of(tool, decoded)}", _LINE)
        case CallSettled(tool=tool, envelope=envelope):
            end = settled(tool, _arguments(bytes(envelope).decode()))
            if end.status != "failed":
                return None
            said = " ".join(str(getattr(end.content[0].content, "text", "")).split())
            return cut_text(f"{below.name}: {tool}: {said}", _LINE)
        case _:
            return None


def _arguments(text: str) -> JsonObject:
    try:
        found = decode_json(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
