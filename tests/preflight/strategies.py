"""Random schemas, and arguments for them: fitting ones and the sloppy ones models write."""

import json
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from holdfast.contract.json_value import JsonObject, JsonValue

NAMES = (
    *("a", "B", "b", "path", "file", "File", "filename", "chartType", "chart_type", "CHART_TYPE"),
    *("properties", "arguments", "note", "n", "x-1", "_"),
)
WORDS = ("low", "High", "HIGH", "élan", "", " ", "null", "15", "text")
DEFINED = ("node", "leaf", "chain")

scalars: SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([0.0, 1.0, 1.5, -2.5, 1e22])
    | st.sampled_from(WORDS)
    | st.sampled_from(["3", "2.0", "1e3", "yes", " no", "[1]", '["3"]', '{"a": "1"}', "Low", "É"])
    | st.text(max_size=4)
)
json_values: SearchStrategy[JsonValue] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=8,
)
json_objects: SearchStrategy[JsonObject] = st.dictionaries(
    st.sampled_from(NAMES), json_values, max_size=5
)


@st.composite
def _scalar_schemas(draw: DrawFn) -> JsonObject:
    kind = draw(st.sampled_from(["integer", "number", "boolean", "string", "string", None]))
    schema: JsonObject = {}
    if kind is not None:
        schema["type"] = [kind, "null"] if draw(st.booleans()) else kind
    if kind == "integer" and draw(st.booleans()):
        schema["minimum"] = draw(st.integers(-2, 2))
    if kind == "string" and draw(st.booleans()):
        schema["pattern"] = draw(st.sampled_from(["^", "o", "([", r"^\d+$"]))
    if kind in {"string", None} and draw(st.booleans()):
        words: list[JsonValue] = [*draw(st.lists(st.sampled_from(WORDS), min_size=1, unique=True))]
        schema["enum"] = [*words, *draw(st.sampled_from([[], [None], [1], [True]]))]
    return schema


@st.composite
def _array_schemas(draw: DrawFn, depth: int) -> JsonObject:
    schema: JsonObject = {"type": draw(st.sampled_from(["array", ["array", "null"]]))}
    form = draw(st.sampled_from(["items", "items", "prefix", "tuple", "open"]))
    below = nodes(depth - 1)
    if form == "items":
        schema["items"] = draw(below)
    if form in {"prefix", "tuple"}:
        key = "prefixItems" if form == "prefix" else "items"
        schema[key] = [*draw(st.lists(below, min_size=1, max_size=2))]
    return schema


@st.composite
def object_schemas(draw: DrawFn, depth: int = 2) -> JsonObject:
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    schema: JsonObject = {"properties": {name: draw(nodes(depth - 1)) for name in names}}
    form = draw(
        st.sampled_from(["object", "object", ["object", "null"], ["object", "string"], None])
    )
    if form is not None:
        schema["type"] = form
    if draw(st.booleans()):
        schema["required"] = [name for name in names if draw(st.booleans())]
        if draw(st.integers(0, 9)) == 0:
            schema["required"] = [*names, "undeclared"]
    closing = draw(st.sampled_from([None, False, False, True, {"type": "string"}]))
    if closing is not None:
        schema["additionalProperties"] = closing
    if draw(st.integers(0, 9)) == 0:
        schema["patternProperties"] = {"^[px]": draw(nodes(0))}
    if names and draw(st.integers(0, 9)) == 0:
        schema["anyOf"] = [{"required": [names[0]]}, {"required": [names[-1]]}]
    if draw(st.integers(0, 9)) == 0:
        schema["allOf"] = [draw(nodes(0))]
    return schema


@st.composite
def _wrapped_schemas(draw: DrawFn, depth: int) -> JsonObject:
    form = draw(st.sampled_from(["anyOf", "oneOf", "allOf", "reference", "narrowed", "not"]))
    if form == "not":
        return {**draw(_scalar_schemas()), "not": {"const": "low"}}
    if form in {"reference", "narrowed"}:
        beside: JsonObject = {"description": "a reference"}
        if form == "narrowed":
            beside = draw(_scalar_schemas())
        return {**beside, "$ref": f"#/$defs/{draw(st.sampled_from(DEFINED))}"}
    count = 1 if form == "allOf" else 2
    branches: list[JsonValue] = [draw(nodes(depth - 1)) for _ in range(count)]
    return {form: branches, "description": "alternatives"}


def nodes(depth: int) -> SearchStrategy[JsonObject]:
    """A schema at most that deep."""
    if depth <= 0:
        return _scalar_schemas()
    return st.one_of(
        _scalar_schemas(), _array_schemas(depth), object_schemas(depth), _wrapped_schemas(depth)
    )


@st.composite
def schemas(draw: DrawFn) -> JsonObject:
    """The input schema of a tool, with definitions that refer to themselves."""
    definitions: JsonObject = {
        "leaf": draw(_scalar_schemas()),
        "chain": {"$ref": "#/$defs/leaf", "description": "one step further"},
        "node": {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "a": {"$ref": "#/$defs/node"}},
            "additionalProperties": False,
        },
    }
    return {**draw(object_schemas(3)), "$defs": definitions}


class Case(NamedTuple):
    """A schema and arguments written for it."""

    schema: JsonObject
    arguments: JsonObject


@st.composite
def cases(draw: DrawFn, *, sloppy: bool = True) -> Case:
    """A schema with arguments that mostly fit it; sloppy ones in a model's spellings."""
    schema = draw(schemas())
    value = _Writer(draw, schema, sloppy=sloppy).value(schema, 4)
    return Case(schema, value if isinstance(value, dict) else draw(json_objects))


class _Writer:
    def __init__(self, draw: DrawFn, root: JsonObject, *, sloppy: bool) -> None:
        self._draw = draw
        self._root = root
        self._sloppy = sloppy

    def _chance(self, one_in: int) -> bool:
        return self._sloppy and self._draw(st.integers(1, one_in)) == 1

    def value(self, node: JsonValue, depth: int) -> JsonValue:
        if self._chance(12):
            return self._draw(json_values)
        fitting = self._fitting(node if isinstance(node, dict) else {}, depth)
        if not self._sloppy or depth == 4 or not self._chance(3):
            return fitting
        if isinstance(fitting, (dict, list)):
            return json.dumps(fitting)
        spelled = json.dumps(fitting).strip('"') if not isinstance(fitting, str) else fitting
        return self._draw(st.sampled_from([spelled, spelled.upper(), f" {spelled}", "", "null"]))

    def _fitting(self, node: JsonObject, depth: int) -> JsonValue:
        reference = node.get("$ref")
        if isinstance(reference, str):
            definitions = self._root["$defs"]
            assert isinstance(definitions, dict)
            return self.value(definitions[reference.rpartition("/")[2]], depth - 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = node.get(keyword)
            if isinstance(branches, list) and "properties" not in node:
                return self.value(self._draw(st.sampled_from(branches)), depth)
        enum = node.get("enum")
        if isinstance(enum, list):
            return self._draw(st.sampled_from(enum))
        return self._by_type(node, depth)

    def _by_type(self, node: JsonObject, depth: int) -> JsonValue:
        declared = node.get("type", "object" if "properties" in node else "string")
        kind = declared[0] if isinstance(declared, list) else declared
        if kind == "object":
            return self._object(node, depth)
        if kind == "array":
            below = node.get("items", node.get("prefixItems", {}))
            members = below if isinstance(below, list) else [below] * self._draw(st.integers(0, 2))
            return [self.value(member, depth - 1) for member in members]
        if kind == "integer":
            return self._draw(st.integers(0, 5) | st.integers(2**63, 2**65))
        if kind == "number":
            return self._draw(st.sampled_from([0, 1.5, 2.5, 1e300]))
        if kind == "boolean":
            return self._draw(st.booleans())
        return self._draw(st.sampled_from(["word", "on", "7", "sofa"]))

    def _object(self, node: JsonObject, depth: int) -> JsonObject:
        declared, required = node.get("properties"), node.get("required", [])
        properties = declared if isinstance(declared, dict) and depth > 0 else {}
        assert isinstance(required, list)
        value: JsonObject = {}
        for name, child in properties.items():
            if name in required or self._draw(st.booleans()):
                value[self._key(name)] = self.value(child, depth - 1)
        if self._chance(8):
            value[self._draw(st.sampled_from(NAMES))] = self._draw(json_values)
        if self._chance(8):
            return {self._draw(st.sampled_from(["properties", "arguments"])): value}
        return value

    def _key(self, name: str) -> str:
        if not self._chance(6):
            return name
        return self._draw(
            st.sampled_from([name.upper(), name.replace("_", ""), f"{name}_", "file"])
        )
