"""OpenAI's Chat Completions, as very many servers speak them: what they send, made into a reply."""

from typing import Any, Literal, cast

import msgspec

from holdfast.agent.models.assembling import Draft, OpenCall, finished
from holdfast.agent.models.chat_messages import chat_body, chat_tool
from holdfast.agent.models.form import Form, Surrounding
from holdfast.agent.models.troubles import malformed, told_inside
from holdfast.agent.models.wire import decoded, encoded, object_in
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


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Message(msgspec.Struct):
    """A whole message, or what is new of it."""

    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    index: int | None = 0
    delta: _Message | None = None
    message: _Message | None = None
    finish_reason: str | None = None


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Thought(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None
    completion_tokens_details: _Thought | None = None
    prompt_cache_hit_tokens: int | None = None
    """What some servers call those that were cached."""

    def told(self) -> ModelUsage:
        details, thought = self.prompt_tokens_details, self.completion_tokens_details
        cached = None if details is None else details.cached_tokens
        reasoned = None if thought is None else thought.reasoning_tokens
        return ModelUsage(
            input_tokens=self.prompt_tokens or 0,
            output_tokens=self.completion_tokens or 0,
            cached_tokens=cached or self.prompt_cache_hit_tokens or 0,
            reasoning_tokens=reasoned or 0,
        )


class _Sent(msgspec.Struct):
    """A whole reply, or a piece of one."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


_decoder: msgspec.json.Decoder[_Sent] = msgspec.json.Decoder(_Sent)


class ChatReading:
    """Makes a reply of a completion, streamed or whole."""

    def __init__(self, around: Surrounding) -> None:
        self._secret = around.secret
        self._draft = Draft(around.heard, around.new_id)
        self._by_index: dict[int, OpenCall] = {}
        self._latest: OpenCall | None = None
        self._finish: FinishReason | None = None
        self._usage = ModelUsage()
        self._ended = False

    @property
    def is_done(self) -> bool:
        """Whether the server has said that it ends."""
        return self._ended

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
        calls = self._draft.calls(self._finish)
        return ModelReply(
            text=self._draft.text,
            calls=calls,
            finish=finished(self._finish, calls),
            usage=self._usage,
            reasoning=self._draft.reasoning,
        )

    def _take(self, said: bytes, part: Literal["delta", "message"]) -> None:
        sent: _Sent = decoded(_decoder, said)
        if sent.error is not None:
            raise told_inside(sent.error, self._secret)
        if sent.usage is not None:
            self._usage = sent.usage.told()
        for choice in sent.choices or ():
            if choice.index:
                continue  # one reply was asked for
            message = choice.delta if part == "delta" else choice.message
            if message is not None:
                self._add(message)
            if choice.finish_reason:
                self._finish = _FINISHES.get(choice.finish_reason, "other")

    def _add(self, message: _Message) -> None:
        draft = self._draft
        draft.think(message.reasoning_content or message.reasoning or "")
        if isinstance(message.content, list):
            self._add_parts(message.content)
        else:
            draft.say(message.content or "")
        draft.say(message.refusal or "")
        for place, piece in enumerate(message.tool_calls or ()):
            self._add_call(piece, place, one_of_many=len(message.tool_calls or ()) > 1)

    def _add_parts(self, parts: list[Any]) -> None:
        for part in parts:
            fields = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
            text = fields.get("text")
            if isinstance(text, str):
                self._draft.say(text)

    def _add_call(self, piece: _CallPiece, place: int, *, one_of_many: bool) -> None:
        function = piece.function or _Function()
        given = function.arguments
        arguments = encoded(given).decode() if isinstance(given, dict) else given or ""
        call = self._call_of(piece, place, one_of_many=one_of_many)
        name = function.name or ""
        is_named_now = not call.name and bool(name)
        if is_named_now:
            call.name = name
        if is_named_now or arguments:
            self._draft.write(call, arguments)

    def _call_of(self, piece: _CallPiece, place: int, *, one_of_many: bool) -> OpenCall:
        """The call that a piece belongs to."""
        call = self._known(piece, place, one_of_many=one_of_many)
        if call is None:
            call = self._draft.begin(piece.id or "")
            self._by_index[call.index if piece.index is None else piece.index] = call
        if not call.id:
            call.id = piece.id or ""
        self._latest = call
        return call

    def _known(self, piece: _CallPiece, place: int, *, one_of_many: bool) -> OpenCall | None:
        """Servers number calls, give them ids, or do neither; None: a call that was not there."""
        name = "" if piece.function is None else piece.function.name or ""
        if piece.index is not None:
            known = self._by_index.get(piece.index)
            # Some give every call the same number.
            is_another = known and known.id and name and piece.id not in {None, "", known.id}
            return None if is_another else known
        if piece.id:
            return next((one for one in self._by_index.values() if one.id == piece.id), None)
        if one_of_many:
            return self._by_index.get(place)
        latest = self._latest
        if latest is not None and name and latest.name:
            # The name again is the same call, unless that is complete.
            repeated = name == latest.name and object_in(latest.arguments) is None
            return latest if repeated else None
        return latest


FORM = Form(
    provider="openai",
    path="/chat/completions",
    headers=bearer,
    body=chat_body,
    tool=chat_tool,
    reading=ChatReading,
)
