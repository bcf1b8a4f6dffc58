"""Whether the headers of a request say what its body says. Pure.

Who may come at all is decided before.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator

from holdfast.app.http_door.rules import Headers
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.surfaces.mcp.eras import HEADER_MISMATCH
from holdfast.surfaces.mcp.messages import Fault

VERSION_HEADER = "mcp-protocol-version"
SESSION_HEADER = "mcp-session-id"
_METHOD_HEADER = "mcp-method"
_NAME_HEADER = "mcp-name"
_PARAM_PREFIX = "mcp-param-"
_ANNOTATION = "x-mcp-header"
_NAMED_BY = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,40}(\.0{1,40})?")


def mismatch(headers: Headers, version: str, method: str, params: JsonObject) -> Fault | None:
    """Where headers say something else than the body of a modern request."""
    expected = {VERSION_HEADER: version, _METHOD_HEADER: method}
    named = params.get(_NAMED_BY.get(method, ""))
    if isinstance(named, str):
        expected[_NAME_HEADER] = named
    for name, value in expected.items():
        given = headers.get(name, ())
        if len(given) != 1:
            return _differs(name, "is missing" if not given else "is there more than once")
        said = _decoded(given[0]) if name == _NAME_HEADER else given[0]
        if said != value:
            return _differs(name, "does not say what the body says")
    return None


def argument_mismatch(headers: Headers, schema: JsonObject, arguments: JsonValue) -> Fault | None:
    """Where headers say something else than the arguments that they stand for."""
    for path, name, kind in _annotated(schema, ()):
        header = f"{_PARAM_PREFIX}{name.lower()}"
        given, value = headers.get(header, ()), _at(arguments, path)
        if value is None or isinstance(value, (dict, list)):
            if given:
                return _differs(header, "stands for an argument that is not there")
        elif len(given) != 1:
            return _differs(header, "is missing" if not given else "is there more than once")
        elif not _says(_decoded(given[0]), value, kind):
            return _differs(header, "does not say what the body says")
    return None


def _annotated(
    schema: JsonObject, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, JsonValue]]:
    """Arguments that headers stand for: where, under which name, of which type."""
    properties = schema.get("properties")
    for key, value in properties.items() if isinstance(properties, dict) else ():
        if isinstance(value, dict):
            path = (*above, key)
            if isinstance(name := value.get(_ANNOTATION), str):
                yield path, name, value.get("type")
            yield from _annotated(value, path)


def _at(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _says(said: str | None, value: JsonValue, kind: JsonValue) -> bool:
    if isinstance(value, bool):
        return said == ("true" if value else "false")
    if kind == "integer" and isinstance(value, (int, float)) and said is not None:
        is_whole = _WHOLE_NUMBER.fullmatch(said) is not None
        return is_whole and int(said.partition(".")[0]) == value
    return said == (value if isinstance(value, str) else str(value))


def _decoded(value: str) -> str | None:
    """What a header value stands for; None: it is encoded wrongly."""
    found = _ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        text = b64decode(found[1], validate=True)
        return text.decode() if b64encode(text).decode() == found[1] else None
    except ValueError:
        return None


def _differs(name: str, how: str) -> Fault:
    return Fault(HEADER_MISMATCH, f"Header mismatch: {name} {how}")
