"""The bare limit: decode, one schema check, call. No names, no policy, no envelope."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypedDict

import jsonschema_rs
import msgspec

import tools_typed
from holdfast.sources.functions import tool_from_function
from rows import Call, Row

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    yield [
        Row(
            "limit: msgspec decode + jsonschema-rs is_valid + call",
            "async",
            _bare(tools_typed.add_async),
            _bare(tools_typed.order_over(TypedDict)),
            role="limit",
        )
    ]


def _bare(function: Callable[..., Awaitable[object]]) -> Call:
    is_valid = jsonschema_rs.validator_for(tool_from_function(function).input_schema).is_valid

    async def call(text: str) -> str:
        arguments = _decode(text)
        if not is_valid(arguments):
            return "refused"
        return _encode(await function(**arguments)).decode()

    return call
