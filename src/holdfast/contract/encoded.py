"""Arguments whose text is an encoding of what the body gets, by what a schema says of them."""

from collections.abc import Iterator

from holdfast.contract.json_value import JsonObject, JsonValue

_ENCODED_FORMATS = frozenset({"base64", "base64url", "byte"})
_WITHIN = ("anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalItems")


def is_encoded(schema: JsonObject, argument: str) -> bool:
    """Whether what is sent as this argument, or as an item of it, is not the text it stands for."""
    properties = schema.get("properties")
    declared = properties.get(argument) if isinstance(properties, dict) else None
    return any(
        "contentEncoding" in part or part.get("format") in _ENCODED_FORMATS
        for part in _parts(declared, schema)
    )


def _parts(declared: JsonValue, whole: JsonObject) -> Iterator[JsonObject]:
    """Every schema that has a say in the value or in its items, each once."""
    waiting, seen = [declared], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict) and id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting += [*map(part.get, _WITHIN), _referred(part.get("$ref"), whole)]


def _referred(reference: JsonValue, whole: JsonObject) -> JsonValue:
    """What a reference within the schema points to; None when it points elsewhere."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    at: JsonValue = whole
    for step in reference[2:].split("/"):
        at = at.get(step) if isinstance(at, dict) else None
    return at
