"""What a route is: its method and path, what it takes and gives as types, and who answers.

One table of these makes the application, checks what is sent, and makes the document that describes
it. What any route does is not known here.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from starlette.requests import Request

from holdfast.surfaces.http.house import House

API = "/api/v1"
_Query = TypeVar("_Query")
_Body = TypeVar("_Body")


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may stand behind the question mark."""


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sent."""


class Asked(msgspec.Struct, Generic[_Query, _Body], frozen=True):
    """One request, as it was read and checked."""

    house: House
    names: dict[str, str]
    """What stands in the path."""
    query: _Query
    body: _Body
    request: Request


Plain = Asked[Query, Body]
"""One that takes nothing but what its path names."""
Handler = Callable[[Asked[Any, Any]], Awaitable[object]]
"""Gives what is encoded as JSON, or a response of its own."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One way to ask for something."""

    method: str
    path: str
    """Below the API, with names in braces."""
    name: str
    """Which operation it is: unique, and stable for generated clients."""
    says: str
    """What it is for, in a sentence."""
    answer: Handler
    query: type[Query] = Query
    body: type[Body] | None = None
    gives: Any = None
    """The type of the answer; None: there is no body, or it is no JSON."""
    status: int = 200
    media: str = "application/json"
    """What kind of answer it is, where it is no JSON."""
    fails: Sequence[int] = ()
    """With which statuses, beside those that every route may have."""

    @property
    def writes(self) -> bool:
        """Whether something may be another way afterwards."""
        return self.method != "GET"

    @property
    def room(self) -> str:
        """What it is about: the first word of its path."""
        return self.path.strip("/").partition("/")[0]
