"""Real weights behind real HTTP on loopback, in the forms that providers speak.

`llama_server`: the server that xllamacpp brings with it, in this process. It speaks chat
completions, responses and messages. The template of these weights knows no tools, so it calls none;
with `CALLING` for its template it writes real calls, in each form, held to the tools' schemas.

`calling_server`: a small server over the same weights whose every reply is a call, held to the
schemas of the tools it is told of, in the same three forms.

Run it to have both until a key is pressed: `python tests/local_server.py`.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any, cast

import anyio
from aiohttp import web
from loopback_site import serving
from model_server import chat_events, message_events, response_events

from holdfast.agent.models.local import LocalModel, LocalSetup, packaged_weights
from holdfast.agent.models.local_prompt import reply_schema
from holdfast.agent.models.scripted import ScriptedCall, Turn
from holdfast.contract.chunks import UserChunk
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import ModelReply, ModelRequest, ModelTool

KEY = "key-of-a-test"
_WINDOW = 2048


CALLING = """
{%- macro called(name, arguments) -%}
{{- '<tool_call>{"name": "' + name + '", "arguments": ' + arguments + '}</tool_call>' -}}
{%- endmacro -%}
{%- macro said(who, what) -%}
{{- '<|im_start|>' + who + '\\n' + what + '<|im_end|>\\n' -}}
{%- endmacro -%}
{%- if messages[0].role == 'system' -%}
{{- said('system', messages[0].content) -}}
{%- endif -%}
{%- if tools and messages[-1].role == 'user' -%}
{%- for _ in range(4) -%}
{{- said('user', messages[-1].content) -}}
{{- said('assistant', called(tools[0].function.name, '{}')) -}}
{%- endfor -%}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{{- said('user', '<tool_response>' + message.content + '</tool_response>') -}}
{%- elif message.role == 'assistant' -%}
{{- '<|im_start|>assistant\\n' -}}
{%- if message.content -%}{{- message.content -}}{%- endif -%}
{%- for one in message.tool_calls -%}
{{- called(one.function.name, one.function.arguments | tojson) -}}
{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- elif message.role == 'user' -%}
{{- said('user', message.content) -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""
"""A template that knows tools. Where a person spoke last, what they said stands there several times
with a call of the first tool behind it: even such weights then do the same once more."""


@contextmanager
def llama_server(template: str | None = None) -> Generator[str]:
    """The URL where its API begins."""
    program: Any = import_module("xllamacpp")
    parameters = program.CommonParams()
    parameters.model.path = str(packaged_weights())
    parameters.n_ctx = _WINDOW
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.api_keys = [KEY]
    if template is not None:
        parameters.chat_template = template
    server = program.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


@asynccontextmanager
async def calling_server() -> AsyncGenerator[str]:
    """The URL where its API begins."""
    app = web.Application()
    forms: dict[str, Callable[[Turn], Iterator[str]]] = {
        "/v1/chat/completions": chat_events,
        "/v1/responses": response_events,
        "/v1/messages": message_events,
    }
    for path, events in forms.items():
        app.router.add_post(path, _calling(events))
    async with serving(app) as site:
        yield f"{site}/v1"


def _calling(events: Callable[[Turn], Iterator[str]]) -> Any:
    async def answer(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        tools = tuple(_tool(one) for one in asked["tools"])
        answer_or_call = cast("list[JsonValue]", reply_schema(tools)["anyOf"])
        schema: JsonObject = {"anyOf": answer_or_call[1:]}
        setup = LocalSetup(window=_WINDOW, max_output_tokens=200, extra={"json_schema": schema})
        model = LocalModel(setup)
        reply = await model.complete(ModelRequest(rows=(UserChunk("Use a tool."),), tools=tools))
        await model.close()
        text = "".join(events(_turn(reply)))
        return web.Response(text=text, content_type="text/event-stream")

    return answer


def _turn(reply: ModelReply) -> Turn:
    calls = tuple(
        ScriptedCall(id=call.id, name=call.name, arguments=call.arguments) for call in reply.calls
    )
    return Turn(text=reply.text, calls=calls, usage=reply.usage)


def _tool(sent: dict[str, Any]) -> ModelTool:
    fields = sent.get("function", sent)
    schema = fields.get("parameters") or fields.get("input_schema")
    return ModelTool(name=fields["name"], description=fields.get("description"), schema=schema)


async def _serve() -> None:
    with llama_server() as texts:
        async with calling_server() as calls:
            print(f"texts: {texts} (key {KEY})\ncalls: {calls}")  # noqa: T201 - a program
            await anyio.to_thread.run_sync(input)


if __name__ == "__main__":
    anyio.run(_serve)
