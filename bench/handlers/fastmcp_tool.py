"""FastMCP: a function whose parameters are the schema's properties, called through the server.

A Python function cannot take arguments it does not name, so an open schema is as closed as its
function; that is FastMCP's own limit (it refuses `**kwargs`).
"""

import asyncio
import inspect

from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError
from pydantic import ValidationError
from pydantic_core import SchemaError

from handlers.pydantic_types import dumped, type_of


def handle(schema: dict, arguments: dict) -> dict | None:
    seen: list[dict] = []
    try:
        server = FastMCP("cases")
        server.tool(_function(schema, seen), name="t")
        asyncio.run(server.call_tool("t", arguments))
    except (FastMCPError, ValidationError, SchemaError, TypeError, ValueError):
        return None
    return seen[0]


def _function(schema: dict, seen: list[dict]) -> object:
    def body(**given: object) -> None:
        # None is the default of what was not sent; no property here admits null.
        seen.append({name: dumped(value) for name, value in given.items() if value is not None})

    body.__signature__ = inspect.Signature(_parameters(schema))
    body.__annotations__ = {one.name: one.annotation for one in _parameters(schema)}
    return body


def _parameters(schema: dict) -> list[inspect.Parameter]:
    required = schema.get("required", [])
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=type_of(child),
            default=inspect.Parameter.empty if name in required else None,
        )
        for name, child in schema.get("properties", {}).items()
    ]
