"""OpenAI's Chat Completions, as very many servers speak them: what they send, made into a reply."""

from typing import Literal

import msgspec

from holdfast.agent.models.assembling import Draft, Settled, finished
from holdfast.agent.models.chat_calls import CallPiece, ChatCalls, Function
from holdfast.agent.models.chat_messages import OPAQUE, chat_body, chat_tool
from holdfast.agent.models.counting import UNREPORTED, count, counts_in, part, reported
from holdfast.agent.models.form import Form, Surrounding
from holdfast.agent.models.troubles import MOST_ERROR_BYTES, malformed, told_inside
from holdfast.agent.models.wire import (
    NOTHING,
    Halves,
    decoded,
    is_given,
    small_object,
    small_value,
    text_in,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import FinishReason, ModelReply, ModelUsage

USUAL_URL = "https://api.openai.com/v1"
_DONE = b"[DONE]"
_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


def bearer(key: str) -> dict[str, str]:
    """How OpenAI and its like want to be shown a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


class _Message(msgspec.Struct):
    """A whole message, or what is new of it."""

    content: msgspec.Raw = NOTHING
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[CallPiece] | None = None
    function_call: Function | None = None
    """How servers of before say the one call that they know."""


class _Choice(msgspec.Struct):
    index: int | None = 0
    delta: _Message | None = None
    message: _Message | None = None
    finish_reason: str | None = None


class _Sent(msgspec.Struct):
    """A whole reply, or a piece of one."""

    choices: list[_Choice] | None = None
    usage: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


_decoder: msgspec.json.Decoder[_Sent] = msgspec.json.Decoder(_Sent)
_parts: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])


class ChatReading:
    """Makes a reply of a completion, streamed or whole."""

    def __init__(self, around: Surrounding) -> None:
        self._around = around
        self._halves = Halves()
        self._draft = Draft(around.heard, around.new_id)
        self._calls = ChatCalls(self._draft)
        self._thoughts: list[str] = []
        self._has_thoughts = False
        """Whether it says what it wants to see again, be it nothing."""
        self._has_tool_calls = False
        self._finish: FinishReason | None = None
        self._usage = UNREPORTED
        self._ended = False

    @property
    def is_done(self) -> bool:
        """Whether the server has said that it ends."""
        return self._ended

    @property
    def may_end(self) -> bool:
        """Whether it has said why it stops; what it counted may still come."""
        return self._finish is not None

    def event(self, said: bytes, /) -> None:
        """One piece of a stream."""
        if said == _DONE:
            self._ended = self._finish is not None
        elif said:
            self._take(said, "delta")

    def whole(self, body: bytes, /) -> None:
        """A completion that was not streamed."""
        self._take(body, "message")
        self._ended = self._finish is not None

    def reply(self) -> ModelReply:
        """What was said; ModelError where its end is missing."""
        if self._finish is None:
            raise malformed("ended a reply without saying why; nothing of it counts")
        settled = self._draft.settled(self._finish)
        return ModelReply(
            text=self._draft.text,
            calls=settled.calls,
            finish=finished(self._finish, settled.calls),
            usage=self._usage,
            reasoning=self._draft.reasoning,
            opaque=self._kept(settled),
            cut_calls=settled.cut,
        )

    def _take(self, said: bytes, form: Literal["delta", "message"]) -> None:
        sent: _Sent = decoded(_decoder, self._halves.joined(said))
        if is_given(sent.error):
            raise told_inside(small_value(sent.error, MOST_ERROR_BYTES), self._around.secret)
        if is_given(sent.usage):
            usage = _usage(counts_in(sent.usage))
            if not usage.estimated:
                self._usage = usage
        for choice in sent.choices or ():
            if choice.index:
                continue  # one reply was asked for
            message = choice.delta if form == "delta" else choice.message
            if message is not None:
                self._add(message)
            if choice.finish_reason:
                self._finish = _FINISHES.get(choice.finish_reason, "other")

    def _add(self, message: _Message) -> None:
        draft = self._draft
        draft.think(message.reasoning_content or message.reasoning or "")
        if message.reasoning_content is not None:
            self._has_thoughts = True
            self._thoughts.append(message.reasoning_content)
        if message.content is not NOTHING:
            draft.say(text_in(message.content))
            if bytes(message.content).startswith(b"["):
                self._add_parts(message.content)
        draft.say(message.refusal or "")
        if message.tool_calls:
            self._has_tool_calls = True
            self._calls.add(message.tool_calls)
        if message.function_call is not None and not self._has_tool_calls:
            self._calls.add([CallPiece(function=message.function_call)])

    def _add_parts(self, content: msgspec.Raw) -> None:
        for one in decoded(_parts, bytes(content)):
            text = (small_object(one) or {}).get("text")
            if isinstance(text, str):
                self._draft.say(text)

    def _kept(self, settled: Settled) -> JsonObject | None:
        """What this server, and no other one, wants to see again."""
        kept: JsonObject = {}
        if self._has_thoughts:
            kept["reasoning_content"] = "".join(self._thoughts)
        extras = self._calls.extras(settled.places)
        if extras:
            kept["calls"] = extras
        if not kept or not self._around.origin:
            return None
        return {OPAQUE: {"origin": self._around.origin, **kept}}


def _usage(counts: JsonObject) -> ModelUsage:
    cached = count(part(counts, "prompt_tokens_details").get("cached_tokens"))
    return reported(
        read=count(counts.get("prompt_tokens")),
        written=count(counts.get("completion_tokens")),
        # What some servers call those that were cached.
        cached=cached or count(counts.get("prompt_cache_hit_tokens")),
        reasoned=count(part(counts, "completion_tokens_details").get("reasoning_tokens")),
    )


FORM = Form(
    provider="openai",
    path="/chat/completions",
    headers=bearer,
    body=chat_body,
    tool=chat_tool,
    reading=ChatReading,
)
