"""How one kind of API is spoken, as a value: what is asked, and who makes a reply of what comes.

Nothing here knows how bytes travel.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import Heard, ModelDelta, ModelReply, ModelRequest, ModelTool


class Reading(Protocol):
    """Makes a reply of what comes; all raise ModelError."""

    @property
    def is_done(self) -> bool:
        """Whether nothing of the reply is missing."""
        ...

    def event(self, said: bytes, /) -> None:
        """One event of a stream."""
        ...

    def whole(self, body: bytes, /) -> None:
        """A reply in one piece."""
        ...

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
