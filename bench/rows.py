"""One measured way to call a tool: JSON text in, text out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

Call = Callable[[str], Awaitable[str]]
Kind = Literal["async", "sync"]
Role = Literal["ours", "peer", "limit", "floor"]
"""Limit: what any runtime must pay. Floor: a peer's part of a call, not a whole one."""


@dataclass(frozen=True)
class Row:
    """A path and its two calls."""

    path: str
    kind: Kind
    add: Call
    nested: Call
    role: Role = "peer"
