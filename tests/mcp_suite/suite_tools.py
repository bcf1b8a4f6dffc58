"""The tools that the public conformance suite calls, as anybody would write them for holdfast."""

from base64 import b64encode
from typing import Any

import anyio

from holdfast import Binary, Image, Progress, Runtime, Tool, tool
from holdfast.contract.artifacts import Artifacts
from holdfast.contract.person import Person, PersonQuestion
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body

_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f0003860180"
    "5a342ae50000000049454e44ae426082"
)
_SOUND = (
    b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0"
)


@tool
def test_simple_text() -> str:
    """A text."""
    return "This is a simple text response for testing."


@tool
def test_image_content() -> Image:
    """A picture."""
    return Image(_PIXEL, "image/png")


@tool
def test_audio_content() -> Binary:
    """A sound."""
    return Binary(_SOUND, "audio/wav")


_RESOURCE = {
    "type": "resource",
    "resource": {"uri": "test://embedded", "mimeType": "text/plain", "text": "An embedded one."},
}


@tool
def test_embedded_resource() -> dict[str, Any]:
    """A resource in the result."""
    return {"parts": [_RESOURCE]}


@tool
def test_multiple_content_types() -> dict[str, Any]:
    """A text, a picture and a resource."""
    picture = {"type": "image", "data": b64encode(_PIXEL).decode(), "mimeType": "image/png"}
    return {"parts": [{"type": "text", "text": "Several kinds:"}, picture, _RESOURCE]}


@tool
async def test_tool_with_progress(rt: Runtime) -> str:
    """Signs of life."""
    for done in (0, 50, 100):
        rt.progress(Progress(done=done, total=100))
        await anyio.sleep(0.01)
    return "done"


@tool
def test_error_handling() -> str:
    """Always fails."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
def test_logging_tool() -> str:
    """Logs nothing to clients, whatever they ask for."""
    return "done"


async def _replied(person: Person, *questions: PersonQuestion) -> str:
    said = await person.ask(questions)
    return f"They said: {said.answers}"


@tool
async def test_elicitation(person: Person, message: str) -> str:
    """Ask the person."""
    return await _replied(person, PersonQuestion(message, header="answer"))


@tool
async def test_streaming_elicitation(person: Person) -> str:
    """Ask the person."""
    return await _replied(person, PersonQuestion("Go on?"))


@tool
async def test_input_required_result_elicitation(person: Person) -> str:
    """Ask the person for their name."""
    return await _replied(person, PersonQuestion("What is your name?", header="User name"))


@tool
async def test_input_required_result_request_state(person: Person) -> str:
    """Ask the person, and find the way back."""
    return f"state-ok: {await _replied(person, PersonQuestion('Please confirm', header='Confirm'))}"


@tool
async def test_input_required_result_tampered_state(person: Person) -> str:
    """Ask the person, under a state that must not be changed."""
    return await _replied(person, PersonQuestion("Please confirm", header="Confirm"))


@tool
async def test_input_required_result_multi_round(person: Person) -> str:
    """Ask the person twice."""
    first = await _replied(person, PersonQuestion("What is your name?", header="Step 1"))
    second = await _replied(person, PersonQuestion("Which colour?", header="Step 2"))
    return f"{first} {second}"


@tool
def leave_a_file(artifacts: Artifacts, name: str, text: str) -> str:
    """Keep an artifact, for the tests of resources."""
    return artifacts.write(name, text.encode()).name


def _described(values: Any, _rt: Runtime) -> dict[str, Any]:
    return dict(values)


json_schema_2020_12_tool = Tool(
    name="json_schema_2020_12_tool",
    description="Tool with JSON Schema 2020-12 features",
    requires=NOTHING_REQUIRED,
    body=Body(style="inline", invoke=_described),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)

test_headers = Tool(
    name="test_headers",
    description="An argument that a header stands for, too",
    requires=NOTHING_REQUIRED,
    body=Body(style="inline", invoke=_described),
    input_schema={
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
)
