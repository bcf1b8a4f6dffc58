"""OpenAI's Responses: what it sends, made into a reply.

The last event holds the whole response again, and that is what counts where it is there; those
before it are told as they come.
"""

import msgspec

from holdfast.agent.models.assembling import Draft, OpenCall, finished
from holdfast.agent.models.counting import count, counts_in, part, reported
from holdfast.agent.models.form import Form, Surrounding, nobody
from holdfast.agent.models.openai_chat import bearer
from holdfast.agent.models.responses_items import OPAQUE, responses_body, responses_tool
from holdfast.agent.models.troubles import MOST_ERROR_BYTES, malformed, told_inside
from holdfast.agent.models.wire import Halves, decoded, is_given, small_value, text_in
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import FinishReason, ModelError, ModelReply, ModelUsage

_CUT: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_THOUGHT = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _Part(msgspec.Struct):
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    encrypted_content: str | None = None

    def kept(self) -> JsonObject:
        """Of reasoning, what the provider wants to see again."""
        summary: list[JsonValue] = [
            {"type": "summary_text", "text": part.text or ""} for part in self.summary or ()
        ]
        kept: JsonObject = {"type": self.type, "summary": summary}
        if self.id is not None:
            kept["id"] = self.id
        return {**kept, "encrypted_content": self.encrypted_content}


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    status: str | None = None
    output: list[_Item] | None = None
    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()
    incomplete_details: _Incomplete | None = None


class _Event(msgspec.Struct):
    type: str = ""
    delta: msgspec.Raw = msgspec.Raw()
    item: _Item | None = None
    item_id: str | None = None
    response: _Response | None = None
    error: msgspec.Raw = msgspec.Raw()
    message: str | None = None
    code: msgspec.Raw = msgspec.Raw()


_events: msgspec.json.Decoder[_Event] = msgspec.json.Decoder(_Event)
_responses: msgspec.json.Decoder[_Response] = msgspec.json.Decoder(_Response)


class ResponsesReading:
    """Makes a reply of a response, streamed or whole."""

    def __init__(self, around: Surrounding) -> None:
        self._around = around
        self._halves = Halves()
        self._told = Draft(around.heard, around.new_id)
        self._calls: dict[str, OpenCall] = {}
        self._items: list[_Item] = []
        self._response: _Response | None = None
        self._is_whole = False

    @property
    def is_done(self) -> bool:
        """Whether the whole response was there."""
        return self._response is not None

    @property
    def may_end(self) -> bool:
        """Only the last event says so."""
        return self.is_done

    def event(self, said: bytes, /) -> None:
        """One event of a stream."""
        if not said or said == b"[DONE]":
            return
        event: _Event = decoded(_events, self._halves.joined(said))
        if event.type == "response.output_text.delta" or event.type == "response.refusal.delta":
            self._told.say(text_in(event.delta))
        elif event.type in _THOUGHT:
            self._told.think(text_in(event.delta))
        elif event.type == "response.function_call_arguments.delta":
            call = self._calls.get(event.item_id or "")
            if call is not None:
                self._told.write(call, text_in(event.delta))
        elif event.item is not None:
            self._take_item(event.item, is_whole=event.type == "response.output_item.done")
        elif event.type in _ENDS:
            self._response = event.response or _Response()
        elif event.type == "error" or is_given(event.error):
            raise told_inside(_error(event), self._around.secret)

    def whole(self, body: bytes, /) -> None:
        """A response that was not streamed."""
        self._response = decoded(_responses, self._halves.joined(body))
        self._is_whole = True

    def reply(self) -> ModelReply:
        """What was said; ModelError where its end is missing."""
        response = self._response
        if response is None:
            raise malformed("ended a reply without its last event; nothing of it counts")
        if is_given(response.error):
            raise told_inside(small_value(response.error, MOST_ERROR_BYTES), self._around.secret)
        if response.status not in {"completed", "incomplete"}:
            raise malformed(f"sent a response that is {response.status!r}, not complete")
        draft = Draft(self._around.heard if self._is_whole else nobody, self._around.new_id)
        kept = _filled(draft, response.output or self._items)
        details = response.incomplete_details
        reason = "" if details is None else details.reason or ""
        finish = "stop" if response.status == "completed" else _CUT.get(reason, "other")
        settled = draft.settled(finish if finish != "other" else "length")
        return ModelReply(
            text=draft.text,
            calls=settled.calls,
            finish=finished(finish, settled.calls),
            usage=_usage(counts_in(response.usage)),
            reasoning=draft.reasoning or self._told.reasoning,
            opaque={OPAQUE: kept} if kept else None,
            cut_calls=settled.cut,
        )

    def _take_item(self, item: _Item, *, is_whole: bool) -> None:
        if is_whole:
            self._items.append(item)
        if item.type == "function_call" and item.id not in self._calls:
            call = self._told.begin(item.call_id or item.id or "", item.name or "")
            self._calls[item.id or ""] = call
            if is_whole:
                self._told.write(call, item.arguments or "")


def _filled(draft: Draft, items: list[_Item]) -> list[JsonValue]:
    """Put what the items say into the draft; gives what is to be kept of them."""
    kept: list[JsonValue] = []
    for item in items:
        if item.type == "function_call":
            call = draft.begin(item.call_id or item.id or "", item.name or "")
            draft.write(call, item.arguments or "")
        elif item.type == "reasoning":
            if item.encrypted_content is not None:
                kept.append({"at": draft.said_so_far, "block": item.kept()})
            for part in item.summary or ():
                draft.think(part.text or "")
        for part in (item.content or ()) if item.type == "message" else ():
            draft.say(part.text or part.refusal or "")
    return kept


def _usage(counts: JsonObject) -> ModelUsage:
    return reported(
        read=count(counts.get("input_tokens")),
        written=count(counts.get("output_tokens")),
        cached=count(part(counts, "input_tokens_details").get("cached_tokens")),
        reasoned=count(part(counts, "output_tokens_details").get("reasoning_tokens")),
    )


def _error(event: _Event) -> JsonValue:
    """The error of an event, whose words may stand inside or outside."""
    if is_given(event.error):
        return small_value(event.error, MOST_ERROR_BYTES)
    code = small_value(event.code, MOST_ERROR_BYTES) if is_given(event.code) else None
    return {"message": event.message, "code": code}


def unwanted(problem: ModelError, /) -> frozenset[str]:
    """Models that do not reason have nothing to seal, and refuse to be asked for it."""
    words = str(problem).lower()
    is_about_it = "encrypted" in words and ("not supported" in words or "unsupported" in words)
    return frozenset({"include"} if problem.status == 400 and is_about_it else ())


FORM = Form(
    provider="openai",
    path="/responses",
    headers=bearer,
    body=responses_body,
    tool=responses_tool,
    reading=ResponsesReading,
    unwanted=unwanted,
)
