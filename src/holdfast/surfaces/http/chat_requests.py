"""What clients of chat completions send, and what they are answered: values in OpenAI's form.

What is not known is passed over, as clients send many things; what cannot be done is refused. How a
session runs is not known here.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.surfaces.http.problems import Problem

MOST_MESSAGES = 2_000
_NO_TOOLS = (
    "tools and functions of the client are not called: a session uses its own tools; leave them out"
)
_ONLY_TEXT = "only text is taken; a message has a part of type {!r}"
_encode = msgspec.json.Encoder().encode


class TextPart(msgspec.Struct, frozen=True):
    """A part of a message."""

    type: str
    text: str = ""


class Said(msgspec.Struct, frozen=True):
    """One message of the conversation, as the client has it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """All of it; Problem."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        for part in self.content:
            if part.type not in {"text", "input_text", "output_text"}:
                raise Problem(400, _ONLY_TEXT.format(part.type))
        return "\n".join(part.text for part in self.content)


class StreamOptions(msgspec.Struct, frozen=True):
    """What a stream tells beside the words."""

    include_usage: bool = False


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A request. Whatever else clients send is passed over."""

    model: str
    messages: list[Said]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[JsonValue] | None = None
    functions: list[JsonValue] | None = None
    metadata: dict[str, str] | None = None
    """`session`: go on with this session."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a request comes to."""

    words: str
    """What is said to the session."""
    known_by: str | None
    """What the conversation so far is known by; None: it begins here."""
    whole: str
    """The conversation so far and these words, for a session that knows nothing of it."""


def wanted_of(asked: Completion) -> Wanted:
    """What is to be said; Problem."""
    if asked.tools or asked.functions:
        raise Problem(400, _NO_TOOLS)
    if asked.n not in (None, 1):
        raise Problem(400, "one answer is given; leave n out")
    if not asked.messages or len(asked.messages) > MOST_MESSAGES:
        raise Problem(400, f"send 1 to {MOST_MESSAGES:,} messages")
    *before, last = asked.messages
    if last.role != "user" or not last.text.strip():
        raise Problem(400, "the last message is the user's, and says something")
    talk = [one for one in before if one.role in {"user", "assistant"}]
    known_by = conversation_key(asked.model, before) if talk else None
    return Wanted(words=last.text, known_by=known_by, whole=_whole(before, last))


def conversation_key(model: str, said: Sequence[Said]) -> str:
    """What a conversation is known by, to whoever sends it again."""
    told = [model, *([one.role, one.text] for one in said)]
    return hashlib.sha256(_encode(told)).hexdigest()


def _whole(before: Sequence[Said], last: Said) -> str:
    """Everything in one message, for a session that begins with it."""
    lines = list(_told(before))
    return "\n\n".join([*lines, last.text]) if lines else last.text


def _told(before: Sequence[Said]) -> Iterator[str]:
    orders = [one.text for one in before if one.role in {"system", "developer"} and one.text]
    if orders:
        yield "[what the application asks for]\n" + "\n".join(orders)
    talk = [one for one in before if one.role in {"user", "assistant"} and one.text]
    if talk:
        yield "[the conversation so far]\n" + "\n".join(f"{one.role}: {one.text}" for one in talk)
    if orders or talk:
        yield "[now]"


class Usage(msgspec.Struct, kw_only=True):
    """What it used."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


Finish = Literal["stop", "length"]


class Delta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is new."""

    role: str | None = None
    content: str | None = None


class ChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The one choice there is, piece by piece."""

    index: int = 0
    delta: Delta
    finish_reason: Finish | None = None


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The message of the agent."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The one choice there is."""

    index: int = 0
    message: Answered
    finish_reason: Finish


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Which session it is, and how it stands: no part of OpenAI's form."""

    session: str
    waits: bool = False
    """It waits for a person: answer it in the console, or with `holdfast sessions answer`."""


class ChatCompletion(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    holdfast: Standing


class ChatChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of one."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = None
    holdfast: Standing | None = None


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be named."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "holdfast"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    object: Literal["list"] = "list"
    data: list[ModelRow]
