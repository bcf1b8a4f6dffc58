"""What servers answer, in the shapes the protocol has for it, as plain places and names.

Pure, and lenient: what has none of the known shapes is left out. Positions stay as the server
counts them; texts of files are not known here.
"""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.language_servers import Severity

_SEVERITIES: dict[int, Severity] = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_KINDS = (
    "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor",
    "enum", "interface", "function", "variable", "constant", "string", "number", "boolean", "array",
    "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
)  # fmt: skip
_DEEPEST = 64


class Range(NamedTuple):
    """A range of a file, as the server counts: from 0, in its units."""

    line: int
    units: int
    end_line: int
    end_units: int


class RawSpot(NamedTuple):
    """A range and whose it is."""

    uri: str
    range: Range


class RawDiagnostic(NamedTuple):
    """What is wrong with a range."""

    range: Range
    severity: Severity
    message: str
    code: str | None
    source: str | None


class RawSymbol(NamedTuple):
    """A name and where it is."""

    name: str
    kind: str
    spot: RawSpot
    container: str | None


def uri_of(path: str) -> str:
    """An absolute path as servers are told it."""
    return "file://" + quote(path.encode("utf-8", "surrogateescape"), safe="/~")


def path_of(uri: str) -> str | None:
    """The path a URI stands for; None: it is no file of this machine."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote_to_bytes(parts.path).decode("utf-8", "surrogateescape")
    return path if path.startswith("/") and "\0" not in path else None


def spots_in(answer: JsonValue) -> Iterator[RawSpot]:
    """Of a location, a list of them, or of links to them."""
    for one in answer if isinstance(answer, list) else [answer]:
        if isinstance(one, dict):
            linked = "targetUri" in one
            uri = one.get("targetUri" if linked else "uri")
            found = range_in(one.get("targetSelectionRange" if linked else "range"))
            if isinstance(uri, str) and found is not None:
                yield RawSpot(uri, found)


def hover_in(answer: JsonValue) -> str | None:
    """The text of a hover: marked up, marked by a language, or several of both."""
    if not isinstance(answer, dict):
        return None
    contents = answer.get("contents")
    parts = contents if isinstance(contents, list) else [contents]
    texts = [_text_in(part) for part in parts]
    said = "\n\n".join(text.strip() for text in texts if text and text.strip())
    return said or None


def diagnostics_in(items: JsonValue) -> Iterator[RawDiagnostic]:
    """Of the list a server publishes or is asked for."""
    for one in items if isinstance(items, list) else []:
        if not isinstance(one, dict):
            continue
        found, message, severity = (
            range_in(one.get("range")),
            one.get("message"),
            one.get("severity"),
        )
        if found is None or not isinstance(message, str):
            continue
        known = _SEVERITIES.get(severity, "error") if type(severity) is int else "error"
        yield RawDiagnostic(found, known, message, _word(one.get("code")), _word(one.get("source")))


def symbols_in(answer: JsonValue, uri: str | None = None) -> Iterator[RawSymbol]:
    """Of a flat list, or of a tree; ``uri``: whose tree it is."""
    waiting = [(one, None, 0) for one in reversed(answer)] if isinstance(answer, list) else []
    found: list[tuple[JsonValue, str | None, int]] = [*waiting]
    while found:
        one, container, depth = found.pop()
        if not isinstance(one, dict):
            continue
        symbol = _symbol(one, container, uri)
        if symbol is None:
            continue
        yield symbol
        children = one.get("children")
        if isinstance(children, list) and depth < _DEEPEST:
            inside = symbol.name if container is None else f"{container}.{symbol.name}"
            found += [(child, inside, depth + 1) for child in reversed(children)]


def range_in(value: JsonValue) -> Range | None:
    """A range, if it is one."""
    if not isinstance(value, dict):
        return None
    numbers = [
        _number(place.get(key)) if isinstance(place, dict) else None
        for place in (value.get("start"), value.get("end"))
        for key in ("line", "character")
    ]
    line, units, end_line, end_units = numbers
    if line is None or units is None or end_line is None or end_units is None:
        return None
    return Range(line, units, end_line, end_units)


def _symbol(one: JsonObject, container: str | None, uri: str | None) -> RawSymbol | None:
    name, kind, location = one.get("name"), one.get("kind"), one.get("location")
    spot: RawSpot | None = None
    if isinstance(location, dict):
        place = location.get("uri")
        found = range_in(location.get("range")) or Range(0, 0, 0, 0)
        spot = RawSpot(place, found) if isinstance(place, str) else None
        container = container or _word(one.get("containerName"))
    elif uri is not None:
        found = range_in(one.get("selectionRange")) or range_in(one.get("range"))
        spot = None if found is None else RawSpot(uri, found)
    if not isinstance(name, str) or spot is None:
        return None
    return RawSymbol(name, _kind(kind), spot, container)


def _kind(value: JsonValue) -> str:
    number = _number(value) or 0
    return _KINDS[number - 1] if 0 < number <= len(_KINDS) else "symbol"


def _text_in(part: JsonValue) -> str | None:
    if isinstance(part, str):
        return part
    value = part.get("value") if isinstance(part, dict) else None
    return value if isinstance(value, str) else None


def _number(value: JsonValue) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _word(value: JsonValue) -> str | None:
    return str(value) if isinstance(value, str | int) and value != "" else None
