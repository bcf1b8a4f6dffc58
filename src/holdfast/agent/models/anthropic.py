"""Anthropic's Messages: what it sends, made into a reply.

Thinking goes back with what it led to, exactly as it came, or the provider refuses the request.
"""

import msgspec

from holdfast.agent.models.anthropic_messages import OPAQUE, anthropic_body, anthropic_tool
from holdfast.agent.models.assembling import Draft, OpenCall, finished
from holdfast.agent.models.counting import counts_in, number, reported
from holdfast.agent.models.form import Form, Surrounding
from holdfast.agent.models.troubles import MOST_ERROR_BYTES, malformed, told_inside
from holdfast.agent.models.wire import Halves, decoded, encoded, is_given, small_object, small_value
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import FinishReason, ModelReply, ModelUsage

USUAL_URL = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"
_FINISHES: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


class _Block(msgspec.Struct):
    """A part of what it says, whole or at its beginning."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    thinking: str | None = None
    signature: str | None = None
    sealed: str | None = msgspec.field(default=None, name="data")


class _Delta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    stop_reason: str | None = None


class _Message(msgspec.Struct):
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Event(msgspec.Struct):
    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_events: msgspec.json.Decoder[_Event] = msgspec.json.Decoder(_Event)
_messages: msgspec.json.Decoder[_Message] = msgspec.json.Decoder(_Message)


class _Thinking(msgspec.Struct):
    """A block that goes back as it came."""

    at: int
    type: str
    sealed: str | None
    thoughts: list[str] = []
    signatures: list[str] = []

    def kept(self) -> JsonValue:
        block: JsonObject = {"type": self.type}
        if self.sealed is not None:
            block["data"] = self.sealed
        else:
            block["signature"] = "".join(self.signatures)
            block["thinking"] = "".join(self.thoughts)
        return {"at": self.at, "block": block}


class _Written(msgspec.Struct):
    """A block that is being written: a call, a thought, or neither."""

    call: OpenCall | None = None
    thinking: _Thinking | None = None
    given: str = ""
    """The arguments of a call that came with its beginning."""


class MessagesReading:
    """Makes a reply of a message, streamed or whole."""

    def __init__(self, around: Surrounding) -> None:
        self._secret = around.secret
        self._halves = Halves()
        self._draft = Draft(around.heard, around.new_id)
        self._blocks: dict[int, _Written] = {}
        self._thinking: list[_Thinking] = []
        self._counted: dict[str, int] = {}
        self._finish: FinishReason | None = None
        self._ended = False

    @property
    def is_done(self) -> bool:
        """Whether the message has stopped."""
        return self._ended

    @property
    def may_end(self) -> bool:
        """Only the last event says so."""
        return self._ended

    def event(self, said: bytes, /) -> None:
        """One event of a stream."""
        if not said:
            return
        event: _Event = decoded(_events, self._halves.joined(said))
        match event.type:
            case "message_start":
                self._count(event.message or _Message())
            case "content_block_start" if event.content_block is not None:
                self._begin(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                self._write(self._blocks.get(event.index), event.delta)
            case "content_block_stop":
                self._close(self._blocks.get(event.index))
            case "message_delta":
                self._count(event)
                self._stop(event.delta and event.delta.stop_reason)
            case "message_stop":
                self._ended = True
            case "error":
                raise told_inside(small_value(event.error, MOST_ERROR_BYTES), self._secret)
            case _:
                pass  # pings, and what is newer than this

    def whole(self, body: bytes, /) -> None:
        """A message that was not streamed."""
        message: _Message = decoded(_messages, self._halves.joined(body))
        if is_given(message.error):
            raise told_inside(small_value(message.error, MOST_ERROR_BYTES), self._secret)
        for place, block in enumerate(message.content or ()):
            self._begin(place, block)
            self._close(self._blocks[place])
        self._count(message)
        self._stop(message.stop_reason)
        self._ended = self._finish is not None

    def reply(self) -> ModelReply:
        """What was said; ModelError where its end is missing."""
        if self._finish is None or not self._ended:
            raise malformed("ended a reply without its last event; nothing of it counts")
        settled = self._draft.settled(self._finish)
        kept = [one.kept() for one in self._thinking if one.sealed is not None or one.signatures]
        return ModelReply(
            text=self._draft.text,
            calls=settled.calls,
            finish=finished(self._finish, settled.calls),
            usage=self._usage(),
            reasoning=self._draft.reasoning,
            opaque={OPAQUE: kept} if kept else None,
            cut_calls=settled.cut,
        )

    def _begin(self, place: int, block: _Block) -> None:
        written = self._blocks[place] = _Written()
        if block.type == "tool_use":
            written.call = self._draft.begin(block.id or "", block.name or "")
            written.given = _given(block.input)
        elif block.type in {"thinking", "redacted_thinking"}:
            at = self._draft.said_so_far
            written.thinking = _Thinking(at=at, type=block.type, sealed=block.sealed)
            self._thinking.append(written.thinking)
        start = _Delta(text=block.text, thinking=block.thinking, signature=block.signature)
        self._write(written, start)

    def _write(self, written: _Written | None, delta: _Delta) -> None:
        self._draft.say(delta.text or "")
        if written is None:
            return
        if written.call is not None and delta.partial_json:
            self._draft.write(written.call, delta.partial_json)
        if written.thinking is not None:
            self._draft.think(delta.thinking or "")
            written.thinking.thoughts.append(delta.thinking or "")
            if delta.signature:
                written.thinking.signatures.append(delta.signature)

    def _close(self, written: _Written | None) -> None:
        """Some servers give the arguments of a call at its beginning, and in one piece."""
        call = None if written is None else written.call
        if written is not None and call is not None and written.given and not call.pieces:
            self._draft.write(call, written.given)

    def _stop(self, reason: str | None) -> None:
        if reason:
            self._finish = _FINISHES.get(reason, "other")

    def _count(self, said: _Event | _Message) -> None:
        """Later numbers are of the whole message, too; what is left out stays."""
        counts = counts_in(said.usage)
        for name in _COUNTS:
            counted = number(counts.get(name))
            if counted is not None:
                self._counted[name] = counted

    def _usage(self) -> ModelUsage:
        counted = self._counted
        read = counted.get("cache_read_input_tokens", 0)
        made = counted.get("cache_creation_input_tokens", 0)
        return reported(
            read=counted.get("input_tokens", 0) + read + made,
            written=counted.get("output_tokens", 0),
            cached=read,
            cache_written=made,
        )


def _given(arguments: msgspec.Raw) -> str:
    """Arguments that are there at once; an object without any says that they are still to come."""
    if not is_given(arguments):
        return ""
    found = small_object(arguments)
    if found is None:
        return bytes(arguments).decode("utf-8", "replace")
    return encoded(found).decode() if found else ""


FORM = Form(
    provider="anthropic",
    path="/messages",
    headers=_headers,
    body=anthropic_body,
    tool=anthropic_tool,
    reading=MessagesReading,
)
