"""A model's own calls as they are told to it again: in a form that no provider refuses.

Models write arguments that are no JSON, and names that are none. Whoever checks a call says so; the
conversation goes on, and servers that read what they are sent must be able to. The same call is the
same bytes each time.
"""

import re
from collections.abc import Set as AbstractSet

from holdfast.agent.models.wire import encoded, object_in
from holdfast.contract.json_value import JsonObject, nests_too_deep
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.model import ModelRequest

LONGEST_NAME = 64
UNNAMED = "unnamed"
_REFUSED = late_pattern(r"[^a-zA-Z0-9_-]", re.ASCII)


def offered(request: ModelRequest) -> frozenset[str]:
    """The names that a provider is told of in any case."""
    return frozenset(tool.name for tool in request.tools)


def sent_name(name: str, known: AbstractSet[str]) -> str:
    """The name of a call; one that providers refuse is written with signs that they take."""
    return name if name in known else _REFUSED.sub("_", name[:LONGEST_NAME]) or UNNAMED


def sent_id(given: str) -> str:
    """Ids of other providers may have signs in them that are refused elsewhere."""
    return _REFUSED.sub("_", given) or "_"


def sent_object(arguments: str) -> JsonObject:
    """Arguments as an object; what is none is shown inside of one."""
    if not arguments.strip():
        return {}
    found = _object_in(arguments)
    return {"malformed_arguments": arguments} if found is None else found


def sent_arguments(arguments: str) -> str:
    """Arguments as the text of an object: as they were written where they are one."""
    if _object_in(arguments) is not None:
        return arguments
    return encoded(sent_object(arguments)).decode()


def _object_in(arguments: str) -> JsonObject | None:
    """None also where it nests deeper than others may be able to read."""
    found = object_in(arguments)
    return None if found is None or nests_too_deep(arguments.encode()) else found
