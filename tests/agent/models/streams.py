"""Streams of a rich reply in the three forms, and how they are read without a network."""

from collections.abc import Iterator
from itertools import count

from model_server import chat_events, message_events, response_events

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.event_stream import EventStream
from holdfast.agent.models.form import Form, Surrounding
from holdfast.agent.models.scripted import ScriptedCall, Turn
from holdfast.contract.model import Heard, ModelReply, ModelUsage

RICH = Turn(
    text="Grüße \U0001f600",
    reasoning="thinking about it",
    calls=(
        ScriptedCall(name="f", arguments='{"a": "ü"}', id="c1"),
        ScriptedCall(name="g", arguments="", id="c2"),
    ),
    usage=ModelUsage(input_tokens=9, output_tokens=5, cached_tokens=2),
)
STREAMS: dict[str, tuple[Form, bytes]] = {
    "chat": (openai_chat.FORM, "".join(chat_events(RICH)).encode()),
    "responses": (openai_responses.FORM, "".join(response_events(RICH)).encode()),
    "messages": (anthropic.FORM, "".join(message_events(RICH)).encode()),
}


def read_whole(form: Form, text: bytes, heard: Heard | None = None) -> ModelReply:
    """The reply of a stream that comes in one piece; ModelError."""
    around = Surrounding(_ids().__next__)
    reading = form.reading(around if heard is None else around._replace(heard=heard))
    stream = EventStream()
    for said in (*stream.feed(text), *stream.end()):
        reading.event(said)
    return reading.reply()


def read_document(form: Form, body: bytes) -> ModelReply:
    """The reply of a document; ModelError."""
    reading = form.reading(Surrounding(_ids().__next__))
    reading.whole(body)
    return reading.reply()


def _ids() -> Iterator[str]:
    return (f"new_{number}" for number in count(1))
