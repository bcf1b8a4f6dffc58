"""Anthropic's Messages: what it sends, made into a reply.

Thinking goes back with what it led to, exactly as it came, or the provider refuses the request.
"""

from typing import Any

import msgspec

from holdfast.agent.models.anthropic_messages import OPAQUE, anthropic_body, anthropic_tool
from holdfast.agent.models.assembling import Draft, OpenCall, finished
from holdfast.agent.models.form import Form, Surrounding
from holdfast.agent.models.troubles import malformed, told_inside
from holdfast.agent.models.wire import decoded, encoded
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


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Block(msgspec.Struct):
    """A part of what it says, whole or at its beginning."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
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
    usage: _Usage | None = None
    error: Any = None


class _Event(msgspec.Struct):
    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None


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
    given: dict[str, Any] | None = None
    """The arguments of a call that came with its beginning."""


class MessagesReading:
    """Makes a reply of a message, streamed or whole."""

    def __init__(self, around: Surrounding) -> None:
        self._secret = around.secret
        self._draft = Draft(around.heard, around.new_id)
        self._blocks: dict[int, _Written] = {}
        self._thinking: list[_Thinking] = []
        self._counted = _Usage()
        self._finish: FinishReason | None = None
        self._ended = False

    @property
    def is_done(self) -> bool:
        """Whether the message has stopped."""
        return self._ended

    def event(self, said: bytes, /) -> None:
        """One event of a stream."""
        if not said:
            return
        event: _Event = decoded(_events, said)
        match event.type:
            case "message_start":
                self._count(event.message and event.message.usage)
            case "content_block_start" if event.content_block is not None:
                self._begin(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                self._write(self._blocks.get(event.index), event.delta)
            case "content_block_stop":
                self._close(self._blocks.get(event.index))
            case "message_delta":
                self._count(event.usage)
                self._stop(event.delta and event.delta.stop_reason)
            case "message_stop":
                self._ended = True
            case "error":
                raise told_inside(event.error, self._secret)
            case _:
                pass  # pings, and what is newer than this

    def whole(self, body: bytes, /) -> None:
        """A message that was not streamed."""
        message: _Message = decoded(_messages, body)
        if message.error is not None:
            raise told_inside(message.error, self._secret)
        for place, block in enumerate(message.content or ()):
            self._begin(place, block)
            self._close(self._blocks[place])
        self._count(message.usage)
        self._stop(message.stop_reason)
        self._ended = self._finish is not None

    def reply(self) -> ModelReply:
        """What was said; ModelError where its end is missing."""
        if self._finish is None or not self._ended:
            raise malformed("ended a reply without its last event; nothing of it counts")
        calls = self._draft.calls(self._finish)
        kept = [one.kept() for one in self._thinking if one.sealed is not None or one.signatures]
        return ModelReply(
            text=self._draft.text,
            calls=calls,
            finish=finished(self._finish, calls),
            usage=self._usage(),
            reasoning=self._draft.reasoning,
            opaque={OPAQUE: kept} if kept else None,
        )

    def _begin(self, place: int, block: _Block) -> None:
        written = self._blocks[place] = _Written()
        if block.type == "tool_use":
            written.call = self._draft.begin(block.id or "", block.name or "")
            written.given = block.input
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
            self._draft.write(call, encoded(written.given).decode())

    def _stop(self, reason: str | None) -> None:
        if reason:
            self._finish = _FINISHES.get(reason, "other")

    def _count(self, usage: _Usage | None) -> None:
        """Later numbers are of the whole message, too; what is left out stays."""
        if usage is not None:
            for name in _Usage.__struct_fields__:
                number = getattr(usage, name)
                if number is not None:
                    setattr(self._counted, name, number)

    def _usage(self) -> ModelUsage:
        counted = self._counted
        read, made = counted.cache_read_input_tokens or 0, counted.cache_creation_input_tokens or 0
        return ModelUsage(
            input_tokens=(counted.input_tokens or 0) + read + made,
            output_tokens=counted.output_tokens or 0,
            cached_tokens=read,
            cache_write_tokens=made,
        )


FORM = Form(
    provider="anthropic",
    path="/messages",
    headers=_headers,
    body=anthropic_body,
    tool=anthropic_tool,
    reading=MessagesReading,
)
