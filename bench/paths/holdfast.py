"""holdfast: `render(await hf.settle(name, text))` on an open Holdfast, all but the journal.

That is parsing, preflight with repairs, the permission decision, running, the output bound,
metadata, an id for the call and the rendered envelope. What this machine's environment holds does
not matter: the known secrets are given, none in all rows but one. The peers write nothing down, so
nothing is written down here; what that costs is measured with the journal.
"""

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypedDict

import tools_msgspec
import tools_pydantic
import tools_typed
from holdfast import Holdfast, render, tool
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from rows import Call, Kind, Row

ROWS: tuple[tuple[str, Kind, str, str], ...] = (
    ("holdfast settle + render", "async", "add", "order"),
    ("holdfast settle + render (TypedDict)", "async", "add", "order_typed"),
    ("holdfast settle + render (pydantic models)", "async", "add", "order_models"),
    ("holdfast settle + render (inline)", "sync", "add_inline", "order_inline"),
    ("holdfast settle + render (thread)", "sync", "add_thread", "order_thread"),
)


SECRETS = ("sk-bench-0123456789abcdef", "correct horse battery staple", "hunter2-hunter2")


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    async with _holdfast(()) as hf, _holdfast(SECRETS) as redacting:
        rows = [
            Row(path, kind, _call(hf, small), _call(hf, nested), role="ours")
            for path, kind, small, nested in ROWS
        ]
        name = f"holdfast settle + render ({len(SECRETS)} secrets to redact)"
        secret = Row(name, "async", _call(redacting, "add"), _call(redacting, "order"), role="ours")
        yield [*rows, secret]


def _holdfast(secrets: tuple[str, ...]) -> Holdfast:
    surroundings = Surroundings(data_home=Path(tempfile.gettempdir()), secrets=secrets)
    unwritten = Settings(store=StoreSettings(kind="none"))
    return Holdfast(tools=_tools(), settings=unwritten, surroundings=surroundings)


def _call(hf: Holdfast, name: str) -> Call:
    async def call(text: str) -> str:
        return render(await hf.settle(name, text))

    return call


def _tools() -> list[object]:
    return [
        _named(tools_msgspec.add_async, "add"),
        _named(tools_msgspec.order_async, "order"),
        _named(tools_typed.order_over(TypedDict), "order_typed"),
        _named(tools_pydantic.order_async, "order_models"),
        _named(tools_msgspec.add, "add_inline", inline=True),
        _named(tools_msgspec.order, "order_inline", inline=True),
        _named(tools_msgspec.add, "add_thread"),
        _named(tools_msgspec.order, "order_thread"),
    ]


def _named(function: Callable[..., object], name: str, *, inline: bool = False) -> object:
    return tool(name=name, inline=inline)(function)
