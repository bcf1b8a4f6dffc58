"""How one kind of API is spoken, as a value: what is asked, and who makes a reply of what comes.

Nothing here knows how bytes travel.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import (
    Heard,
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelTool,
)


class Taking(Protocol):
    """Takes what comes; all raise ModelError."""

    @property
    def is_done(self) -> bool:
        """Whether nothing of the reply is missing, and nothing further is to come."""
        ...

    @property
    def may_end(self) -> bool:
        """Whether what came is a reply, also where nothing further comes."""
        ...

    def event(self, said: bytes, /) -> None:
        """One event of a stream."""
        ...

    def whole(self, body: bytes, /) -> None:
        """A reply in one piece."""
        ...


class Reading(Taking, Protocol):
    """Makes a reply of what comes; all raise ModelError."""

    def reply(self) -> ModelReply:
        """What was said."""
        ...


def nobody(_: ModelDelta, /) -> None:
    """Hears nothing."""


class Surrounding(NamedTuple):
    """What a reading needs beside what comes."""

    new_id: Callable[[], str]
    """For calls that a provider gave none."""
    heard: Heard = nobody
    secret: str = ""
    """What no error may show."""
    origin: str = ""
    """Who is asked: what one of them wants to see again is for nobody else."""


def nothing_unwanted(_: ModelError, /) -> frozenset[str]:
    """A refusal is one."""
    return frozenset()


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of API."""

    provider: str
    path: str
    """Behind the URL that is configured."""
    headers: Callable[[str], dict[str, str]]
    """By the key, which may be empty."""
    body: Callable[[ModelSetup, ModelRequest], JsonObject]
    tool: Callable[[ModelTool], JsonObject]
    """A tool as it is sent."""
    reading: Callable[[Surrounding], Reading]
    unwanted: Callable[[ModelError], frozenset[str]] = nothing_unwanted
    """Which fields of a body some models refuse and can do without, by what a refusal says."""
