"""The tools, replies and sessions that the loop cases of the openrath suite tell in words.

What is told in words this file does not know is not for this version.
"""

import ast
import builtins
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from holdfast.contract.chunks import AskedCall
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import FinishReason, Heard, ModelReply, ModelRequest, ModelUsage
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalBackend, LocalSettings
from holdfast.runtime.flow_session import Session
from holdfast.testing.conformance.case import NotForUs

_RAISES = re.compile(
    r"(?P<key>resource_key\s+)?raises\s+(?P<type>\w+)(?:\((?P<text>.*)\))?\s*$", re.S
)
_RETURNS = re.compile(r"returns\s+(?P<value>.+)$", re.S)
_LENGTH = ("str_of_length", "of_length", "length", "arguments_of_length", "raw_of_length")
_MEETING_SECONDS = 0.3
_FINISHES: tuple[FinishReason, ...] = ("stop", "tool_calls", "length", "content_filter", "other")


class Seen:
    """What tools of a case noticed."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self.kinds: list[list[str]] = []
        self._meeting = threading.Condition()
        self._in_flight = self.peak = 0

    def note(self, session: FlowSession) -> None:
        """A tool was called with this session."""
        given = cast("Session", session)
        self.sessions.append(given)
        self.kinds.append(kinds(given))

    def meet(self, wanted: int) -> None:
        """Be in flight until so many are, or nobody else comes."""
        with self._meeting:
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
            self._meeting.notify_all()
            self._meeting.wait_for(lambda: self.peak >= wanted, _MEETING_SECONDS)
            self._in_flight -= 1


def kinds(session: Session) -> list[str]:
    """The kinds of its rows, as cases name them."""
    return [str(row.__struct_config__.tag) for row in session.chunk_table]


class ToldTool(FlowToolCall):
    """A tool that does what the words of a case say."""

    def __init__(self, name: str, told: JsonValue, seen: Seen) -> None:
        self._name = name
        self._seen = seen
        self._error: Exception | None = None
        self._key_error: Exception | None = None
        self._value: object = None
        self._records = False
        self._learn(told)

    @property
    def name(self) -> str:
        """As the case calls it."""
        return self._name

    @property
    def parameters(self) -> Mapping[str, object]:
        """Anything."""
        return {"type": "object"}

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        """Do it."""
        del arguments
        if self._records:
            self._seen.note(session)
        if self._error is not None:
            raise self._error
        return self._value

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """Raise, if that is what the words say."""
        if self._key_error is not None:
            raise self._key_error
        return super().resource_key(arguments)

    def _learn(self, told: JsonValue) -> None:
        if isinstance(told, dict):
            for name, value in told.items():
                self._learn(f"{name} {value if isinstance(value, str) else json.dumps(value)}")
            return
        words = str(told).strip()
        if words.startswith("records"):
            self._records = True
        elif found := _RAISES.fullmatch(words):
            error = _error(found["type"], found["text"])
            if found["key"]:
                self._key_error = error
            else:
                self._error = error
        elif found := _RETURNS.fullmatch(words):
            self._value = literal(found["value"])
        else:
            raise NotForUs


def _error(name: str, text: str | None) -> Exception:
    kind = getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise NotForUs
    if not text:
        return kind()
    value = literal(text)
    return kind(*cast("tuple[object, ...]", value)) if isinstance(value, tuple) else kind(value)


def literal(text: str) -> object:
    """A value as Python or JSON writes it."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        try:
            return json.loads(text)
        except ValueError:
            raise NotForUs from None


class Meeting(FlowToolCall):
    """A tool whose calls wait for each other, to see how many run at once."""

    def __init__(self, seen: Seen, wanted: int, *, safe: bool, same_key: bool) -> None:
        self._seen = seen
        self._wanted = wanted
        self._same_key = same_key
        self.parallel_safe = safe  # pyright: ignore[reportAttributeAccessIssue] - the case's choice

    @property
    def name(self) -> str:
        """Its name."""
        return "meet"

    @property
    def parameters(self) -> Mapping[str, object]:
        """A number that tells the calls apart."""
        return {"type": "object"}

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        """Wait for the others."""
        del session
        self._seen.meet(self._wanted)
        return arguments.get("n")

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """One for all, or one each."""
        return ("same",) if self._same_key else ("own", str(arguments.get("n")))


class ToldModel:
    """Replies what the turns of a case say; the last one again and again."""

    name = provider = "told"
    window = max_output_tokens = 1_000_000

    def __init__(self, replies: Sequence[ModelReply]) -> None:
        self._replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """The next one."""
        del heard
        place = min(len(self.requests), len(self._replies) - 1)
        self.requests.append(request)
        return self._replies[place]

    async def close(self) -> None:
        """There is nothing to let go of."""


def replies(turns: list[JsonValue]) -> Iterator[ModelReply]:
    """The turns of a case."""
    for turn in turns:
        if not isinstance(turn, dict):
            raise ValueError(f"a turn is an object, not {turn!r}")
        calls = tuple(_call(one) for one in cast("list[JsonValue]", turn.get("calls") or []))
        content = turn.get("content")
        yield ModelReply(
            text=None if content is None else str(content),
            calls=calls,
            finish=_finish(turn.get("finish_reason", "tool_calls" if calls else "stop")),
            usage=usage(turn.get("usage", 0)),
        )


def _finish(told: JsonValue) -> FinishReason:
    for known in _FINISHES:
        if known == told:
            return known
    return "other"


def _call(told: JsonValue) -> AskedCall:
    if isinstance(told, dict):
        told = [told.get("id"), told.get("name"), told.get("arguments")]
    if not isinstance(told, list) or len(told) not in (2, 3):
        raise ValueError(f"a call is [id, name, arguments], not {told!r}")
    return AskedCall(str(told[0]), str(told[1]), _arguments(told[2] if len(told) == 3 else None))


def _arguments(told: JsonValue) -> str:
    """Text as it is; an object that names a length as so many x's; any other as its JSON."""
    if isinstance(told, dict) and len(told) == 1:
        ((form, value),) = told.items()
        if form in _LENGTH and isinstance(value, int):
            return "x" * value
    if told is None:
        return ""
    return told if isinstance(told, str) else json.dumps(told)


def usage(told: JsonValue) -> ModelUsage:
    """What a completion cost: a total, or its parts."""
    if isinstance(told, dict):
        parts = {name.partition("_")[0]: int(str(value)) for name, value in told.items()}
        read = parts.get("prompt", parts.get("input", 0))
        written = parts.get("completion", parts.get("output", 0))
        return (
            usage(parts["total"])
            if not read + written and "total" in parts
            else ModelUsage(input_tokens=read, output_tokens=written)
        )
    return ModelUsage(input_tokens=int(str(told)))


def user_session(given: JsonObject) -> Session:
    """The user's session: with a target, an open handle, or neither, as the words say."""
    words = str(given.get("session", "target")).lower()
    user = Session.from_user_message(str(given.get("user", "hi")))
    if re.search(r"\b(no|without|neither)\b", words):
        return user
    if "handle" in words or "open" in words or "bound" in words:
        return user.bind_sandbox(BackendSandbox(LocalBackend(LocalSettings())))
    return user.to("local")
