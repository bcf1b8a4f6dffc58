"""A filled example of a valid call, for a model that sent the same refused call twice."""

from collections.abc import Callable

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.preflight.schema import resolve

_MAX_DEPTH = 6
_MAX_VALUES = 500
_MAX_KEPT_BYTES = 1_000

_BY_TYPE: dict[str, JsonValue] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


def example_call(
    schema: JsonObject, sent: JsonObject, accepts: Callable[[JsonObject], bool]
) -> JsonObject | None:
    """Arguments that would be accepted, keeping what was right in those sent; None if unsure.

    It is shown, so what was long in those sent is not repeated.
    """
    top = resolve(schema, schema)
    filled = _Filler(schema).object(top, 0)
    properties = top.get("properties")
    for name in properties if isinstance(properties, dict) else {}:
        if name in sent and len(encode_json(sent[name])) <= _MAX_KEPT_BYTES:
            candidate: JsonObject = {**filled, name: sent[name]}
            if accepts(candidate):
                filled = candidate
    return filled if accepts(filled) else None


class _Filler:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = _MAX_VALUES

    def object(self, node: JsonObject, depth: int) -> JsonObject:
        properties = node.get("properties")
        required = node.get("required")
        declared = properties if isinstance(properties, dict) else {}
        needed = required if isinstance(required, list) else []
        return {
            name: self._value(declared.get(name), depth) for name in needed if isinstance(name, str)
        }

    def _value(self, child: JsonValue, depth: int) -> JsonValue:
        self._left -= 1
        if not isinstance(child, dict) or depth > _MAX_DEPTH or self._left < 0:
            return "text"
        node = resolve(self._root, child)
        given = _given(node)
        if given is not None:
            return given
        branches = node.get("anyOf")
        if isinstance(branches, list) and branches:
            return self._value(branches[0], depth + 1)
        return self._by_type(node, depth)

    def _by_type(self, node: JsonObject, depth: int) -> JsonValue:
        declared = node.get("type")
        name = declared[0] if isinstance(declared, list) else declared
        if name == "object":
            return self.object(node, depth + 1)
        if name == "array":
            return self._array(node, depth)
        if name == "string":
            return _text_of_length(node)
        if name in {"integer", "number"}:
            return _number_in_range(node, "integer" if name == "integer" else "number")
        return _BY_TYPE.get(name if isinstance(name, str) else "string", "text")

    def _array(self, node: JsonObject, depth: int) -> JsonValue:
        items = node.get("items")
        fewest = node.get("minItems")
        if not isinstance(items, dict):
            return []
        count = max(int(fewest) if isinstance(fewest, (int, float)) else 1, 1)
        return [self._value(items, depth + 1) for _ in range(min(count, 5))]


def _given(node: JsonObject) -> JsonValue:
    if "const" in node:
        return node["const"]
    for keyword in ("examples", "enum"):
        values = node.get(keyword)
        if isinstance(values, list) and values:
            return values[0]
    return node.get("default")


def _text_of_length(node: JsonObject) -> str:
    shortest, longest = node.get("minLength"), node.get("maxLength")
    text = "text"
    if isinstance(shortest, int) and len(text) < shortest <= 1_000:
        text += "x" * (shortest - len(text))
    return text[: int(longest)] if isinstance(longest, (int, float)) else text


def _number_in_range(node: JsonObject, name: str) -> JsonValue:
    least, most = node.get("minimum"), node.get("maximum")
    if isinstance(least, (int, float)):
        return least
    if isinstance(most, (int, float)):
        return most
    return _BY_TYPE[name]
