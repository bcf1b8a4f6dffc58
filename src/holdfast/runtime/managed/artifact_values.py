"""What the artifacts of a session say, from values to JSON. Nothing is looked up and nothing is
written here, and nobody reads it back.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from holdfast.contract.events import Event, OutcomeDefined, Payload, WantedOutcome
from holdfast.contract.journal import Session
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.managed.crowding import Crowding
from holdfast.contract.managed.shell_views import ShellState
from holdfast.contract.mounts import Mount
from holdfast.contract.outcomes import EvaluationRecord
from holdfast.contract.skills import Skill
from holdfast.contract.tool import Tool
from holdfast.contract.truncate import cut_text

MOST_EVENTS_SHOWN = 32
LONGEST_PREVIEW = 180
_LONGEST_INPUT = 400
_TELLING = (
    *("message", "title", "tool_name", "tool", "name", "summary", "reason", "text", "note"),
    *("by", "path", "source_path", "target_path", "child_session_id", "fingerprint"),
)
"""Fields of events that say in words what happened."""


def plain(value: object) -> JsonValue:
    """A value of ours as JSON."""
    return msgspec.to_builtins(value)


def managed_tools(tools: Iterable[Tool]) -> JsonObject:
    """The catalog as it can be called."""
    rows: list[JsonValue] = [
        {
            "name": one.name,
            "ownership": one.ownership,
            "permission_policy": one.permission_policy,
            "effects": [*one.effects],
            "read_only": one.read_only,
            "destructive": one.destructive,
            "interrupt_behavior": one.interrupt_behavior,
        }
        for one in sorted(tools, key=lambda tool: tool.name)
    ]
    return {"count": len(rows), "tools": rows}


def permissions(tools: Iterable[Tool]) -> JsonObject:
    """Which tools ask a person first."""
    ordered = sorted(tools, key=lambda tool: tool.name)
    runs = [one.name for one in ordered if one.permission_policy == "always_allow"]
    return {"always_ask_tools": asking_tools(ordered), "always_allow_tools": [*runs]}


def asking_tools(tools: Iterable[Tool]) -> list[JsonValue]:
    """The names of those that ask a person first."""
    return [*sorted(one.name for one in tools if one.permission_policy == "always_ask")]


def skills(found: Iterable[Skill]) -> JsonObject:
    """The skills that can be loaded."""
    rows: list[JsonValue] = [
        {"name": one.name, "description": one.description, "source": one.origin} for one in found
    ]
    return {"count": len(rows), "skills": rows}


def vaults(mounts: Iterable[Mount]) -> JsonObject:
    """The vaults that are mounted, and never what is in them."""
    rows: list[JsonValue] = [
        {
            "mount_path": one.mount_path,
            "access": one.access,
            "vault_name": one.vault_name,
            "scope": one.scope,
            "prompt": one.prompt,
        }
        for one in mounts
        if one.kind == "vault"
    ]
    return {"count": len(rows), "vaults": rows}


def environment(environment_id: str, mounts: Iterable[Mount]) -> JsonObject:
    """Where it works."""
    return {
        "id": environment_id,
        "name": environment_id,
        "kind": "local",
        "mounted_resources": resources(mounts),
    }


def resources(mounts: Iterable[Mount]) -> list[JsonValue]:
    """What is mounted."""
    return [
        {
            "kind": one.kind,
            "mount_path": one.mount_path,
            "access": one.access,
            "scope": one.scope,
            "prompt": one.prompt,
        }
        for one in mounts
    ]


def agent_setup(session: Session) -> JsonObject:
    """The setup as far as the session's state knows it; its sections are told by who describes
    them."""
    managed = session.state.managed
    known = None if managed is None else managed.setup_fingerprint
    contract = None if managed is None else managed.resource_contract_fingerprint
    return {
        "session_id": session.id,
        "agent_id": session.state.agent_id,
        "profile": session.state.profile,
        "fingerprint": known,
        "resource_contract_fingerprint": contract,
    }


def session_runtime(session: Session, agent_id: str, mounts: Iterable[Mount]) -> JsonObject:
    """Who it is and where it works."""
    state = session.state
    return {
        "session_id": session.id,
        "agent_id": agent_id,
        "parent_session_id": state.parent_id,
        "environment_id": state.environment_id,
        "profile": state.profile,
        "workspace": state.workspace,
        "created_at": session.created_at.isoformat(),
        "mounted_resources": resources(mounts),
    }


def session_status(session: Session, shell: ShellState, last_wake_id: str | None) -> JsonObject:
    """Where it stands. ``last_wake_id``: of the newest run that has ended."""
    state, managed = session.state, session.state.managed
    return {
        "session_id": session.id,
        "status": state.status,
        "stop_reason": state.stop_reason,
        "turns": state.turns,
        "pending_requests": pending_requests(session),
        "pending_event_count": len(state.pending),
        "queued_wakes": [_wake(one.reason, one.due_micros) for one in state.wakes],
        "checkpoint": {
            "last_wake_id": last_wake_id,
            "latest_summary": None if managed is None else managed.summary,
            "processed_event_id": None if managed is None else managed.processed_event_id,
            "produced_event_id": None if managed is None else managed.produced_event_id,
        },
        "shell_state": plain(shell),
    }


def _wake(reason: str, due_micros: int) -> JsonObject:
    return {"reason": reason, "due_at_micros": due_micros}


def pending_requests(session: Session) -> list[JsonValue]:
    """What somebody has to decide or to answer, and what of it is said in the request."""
    found: list[JsonValue] = []
    asks, custom = session.state.confirmation, session.state.custom
    if asks is not None and asks.answered_by is None:
        found.append(_request("tool_confirmation", asks.id, asks.tool_name, asks.input))
    if custom is not None and custom.answered_by is None:
        found.append(_request("custom_tool", custom.id, custom.name, custom.input))
    known = None if asks is None else asks.id
    for call_id, call in session.state.calls.items():
        if call.stage == "waiting" and call.approval_id != known:
            found.append({"kind": "approval", "id": call.approval_id, "call_id": call_id})
    return found


def _request(kind: str, request_id: str, tool: str, given: JsonValue) -> JsonObject:
    said = given if isinstance(given, str) else encode_json(given).decode()
    return {
        "kind": kind,
        "id": request_id,
        "tool_name": tool,
        "input_preview": cut_text(said, _LONGEST_INPUT),
    }


def context_budget(session_id: str, crowding: Crowding | None) -> JsonObject:
    """How much of its context it is given of what."""
    pressure = None if crowding is None or crowding.pressure is None else plain(crowding.pressure)
    return {
        "session_id": session_id,
        "available": crowding is not None,
        "context_budget": None if crowding is None else crowding.budget,
        "pressure": pressure,
    }


def outcome(session_id: str, wanted: WantedOutcome | None) -> JsonObject:
    """What is to come of it."""
    return {"session_id": session_id, "active_outcome": plain(wanted)}


def evaluations(records: Sequence[EvaluationRecord]) -> JsonObject:
    """What its runs came to, the oldest first."""
    latest = records[-1].iteration if records else None
    rows: list[JsonValue] = [plain(one) for one in records]
    return {"count": len(rows), "latest_iteration": latest, "evaluations": rows}


def event_feed(session_id: str, events: Sequence[Event]) -> JsonObject:
    """The newest events, the oldest of them first."""
    rows: list[JsonValue] = [event_row(one) for one in events[-MOST_EVENTS_SHOWN:]]
    return {"session_id": session_id, "count": len(rows), "events": rows}


def event_row(event: Event) -> JsonObject:
    """One of them."""
    return {
        "id": event.id,
        "type": event.type,
        "created_at": event.at.isoformat(),
        "processed_at": _moment(event.processed_at),
        "wake_id": event.wake_id,
        "preview": preview(event.payload),
    }


def preview(said: Payload) -> str:
    """What an event says, in one short line; empty where it has no words."""
    if isinstance(said, OutcomeDefined):
        return _line(said.outcome.title)
    fields = said.fields()
    words = (fields.get(name) for name in _TELLING)
    return _line(" | ".join(one for one in words if isinstance(one, str) and one))


def _line(text: str) -> str:
    shown = "".join(character if character.isprintable() else " " for character in text)
    return cut_text(" ".join(shown.split()), LONGEST_PREVIEW)


def relations(session_id: str, parent: Session | None, children: Iterable[Session]) -> JsonObject:
    """Which sessions are around it."""
    return {
        "session_id": session_id,
        "parent": None if parent is None else _brief(parent),
        "children": [_brief(one) for one in children],
    }


def _brief(session: Session) -> JsonObject:
    state = session.state
    return {
        "session_id": session.id,
        "status": state.status,
        "stop_reason": state.stop_reason,
        "title": state.title,
        "outcome_title": None if state.managed is None else state.managed.outcome_title,
        "updated_at": session.updated_at.isoformat(),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
