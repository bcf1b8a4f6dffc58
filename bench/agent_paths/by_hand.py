"""What a loop by hand says to the server: the same bodies for the limit and the floor."""

import msgspec

from agent_paths import task

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
        },
    }
]


class Function(msgspec.Struct):
    name: str
    arguments: str


class Asked(msgspec.Struct):
    id: str
    function: Function


class Said(msgspec.Struct):
    content: str | None = None
    tool_calls: list[Asked] = []


class Choice(msgspec.Struct):
    message: Said


class Reply(msgspec.Struct):
    choices: list[Choice]


class Arguments(msgspec.Struct):
    a: int
    b: int


encoded = msgspec.json.Encoder().encode
reply_of = msgspec.json.Decoder(Reply).decode
arguments_of = msgspec.json.Decoder(Arguments).decode


def asked(messages: list[dict]) -> bytes:
    """The body of one request."""
    return encoded({"model": task.MODEL, "messages": messages, "tools": TOOLS})


def first() -> list[dict]:
    """The conversation as it begins."""
    return [{"role": "user", "content": task.QUESTION}]


def step(messages: list[dict], body: bytes) -> str | None:
    """Do what the model asks for; what it said, once it asks for nothing."""
    said = reply_of(body).choices[0].message
    if not said.tool_calls:
        return said.content
    messages.append({"role": "assistant", "tool_calls": [_told(call) for call in said.tool_calls]})
    for call in said.tool_calls:
        arguments = arguments_of(call.function.arguments)
        result = task.added(arguments.a, arguments.b)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
    return None


def _told(call: Asked) -> dict:
    return {"id": call.id, "type": "function", "function": msgspec.to_builtins(call.function)}
