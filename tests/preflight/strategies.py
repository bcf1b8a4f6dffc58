"""Random schemas, and arguments for them: fitting ones and the sloppy ones models write.

Schemas and arguments are thrown with evenly weighted dice: what makes a repair interesting is the
meeting of several rare things, which a search for the smallest example seldom tries.
"""

import json
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from holdfast.contract.json_value import JsonObject, JsonValue

NAMES = (
    *("a", "B", "b", "path", "file", "File", "filename", "chartType", "chart_type", "CHART_TYPE"),
    *("properties", "arguments", "note", "n", "x-1", "_"),
)
WORDS = ("low", "High", "HIGH", "élan", "", " ", "null", "15", "text")
SLOPPY = ("3", "2.0", "1e3", "yes", " no", "[1]", '["3"]', '{"a": "1"}', "Low", "ÉLAN", "\u3000")

scalars: SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([0.0, 1.0, 1.5, -2.5, 1e22])
    | st.sampled_from([*WORDS, *SLOPPY])
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


class Case(NamedTuple):
    """A schema and arguments written for it."""

    schema: JsonObject
    arguments: JsonObject


dice = st.randoms(use_true_random=True)


def schemas() -> SearchStrategy[JsonObject]:
    """The input schema of a tool."""
    return dice.map(lambda thrown: _Schemas(thrown).whole())


def cases(*, sloppy: bool = True) -> SearchStrategy[Case]:
    """A schema with arguments that mostly fit it; sloppy ones in a model's spellings."""
    return dice.map(lambda thrown: _case(thrown, sloppy=sloppy))


def _case(thrown: Random, *, sloppy: bool) -> Case:
    schema = _Schemas(thrown).whole()
    return Case(schema, _Arguments(thrown, schema, sloppy=sloppy).whole())


class _Schemas:
    def __init__(self, thrown: Random) -> None:
        self._thrown = thrown

    def whole(self) -> JsonObject:
        definitions: JsonObject = {
            "leaf": self._scalar(),
            "chain": {"$ref": "#/$defs/leaf", "description": "one step further"},
            "node": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "a": {"$ref": "#/$defs/node"}},
                "additionalProperties": False,
            },
        }
        return {**self._object(3), "$defs": definitions}

    def _node(self, depth: int) -> JsonValue:
        if depth <= 0:
            return self._scalar()
        make = self._thrown.choices(
            [self._scalar, self._array, self._object, self._wrapped], weights=[5, 2, 3, 2]
        )[0]
        return make(depth)

    def _scalar(self, _depth: int = 0) -> JsonObject:
        kind = self._thrown.choice(["integer", "number", "boolean", "string", "string", None])
        schema: JsonObject = {}
        if kind is not None:
            schema["type"] = [kind, "null"] if self._chance(3) else kind
        if kind == "integer" and self._chance(4):
            schema["minimum"] = self._thrown.randint(-2, 2)
        if kind == "string" and self._chance(5):
            schema["pattern"] = self._thrown.choice(["^", "o", "([", r"^\d+$"])
        if kind in {"string", None} and self._chance(2):
            further = self._thrown.choice([None, 1, True, "low"])
            schema["enum"] = [*self._thrown.sample(WORDS, 3), *([further] if further else [])]
            schema["enum"] = [*dict.fromkeys(schema["enum"])]
            if kind is None and self._chance(2):
                schema["enum"].append(None)
        return schema

    def _array(self, depth: int) -> JsonObject:
        schema: JsonObject = {"type": self._thrown.choice(["array", ["array", "null"]])}
        form = self._thrown.choice(["items", "items", "prefix", "tuple", "open"])
        if form == "items":
            schema["items"] = self._node(depth - 1)
        if form in {"prefix", "tuple"}:
            key = "prefixItems" if form == "prefix" else "items"
            schema[key] = [self._node(depth - 1) for _ in range(self._thrown.randint(1, 2))]
        return schema

    def _object(self, depth: int) -> JsonObject:
        names = self._thrown.sample(NAMES, self._thrown.randint(1, 4))
        schema: JsonObject = {"properties": {name: self._node(depth - 1) for name in names}}
        if not self._chance(4):
            schema["type"] = self._thrown.choice(["object"] * 4 + ["null+object", "object+string"])
            if "+" in str(schema["type"]):
                schema["type"] = [*str(schema["type"]).split("+")]
        if self._chance(2):
            schema["required"] = [name for name in names if self._chance(2)]
        if self._chance(2):
            closings: list[JsonValue] = [False, False, True, {"type": "string"}]
            schema["additionalProperties"] = self._thrown.choice(closings)
        if self._chance(4):
            schema |= self._thrown.choice(_further(names))
        return schema

    def _wrapped(self, depth: int) -> JsonObject:
        form = self._thrown.choice(["anyOf", "oneOf", "allOf", "allOf", "$ref", "$ref", "not"])
        if form == "not":
            return {**self._scalar(), "not": {"const": "low"}}
        if form == "$ref":
            beside: JsonObject = {"description": "a reference"}
            if self._chance(3):
                beside = self._scalar()
            return {**beside, form: f"#/$defs/{self._thrown.choice(['node', 'leaf', 'chain'])}"}
        branches = [self._node(depth - 1) for _ in range(1 if form == "allOf" else 2)]
        return {form: branches, "description": "alternatives"}

    def _chance(self, one_in: int) -> bool:
        return self._thrown.randrange(one_in) == 0


def _further(names: list[str]) -> list[JsonObject]:
    """What else an object may say."""
    return [
        {"required": [*names, "undeclared"]},
        {"patternProperties": {"^[px]": {"type": "integer"}}},
        {"anyOf": [{"required": [names[0]]}, {"required": [names[-1]]}]},
        {"allOf": [{"properties": {names[0]: {"type": ["string", "integer", "array"]}}}]},
        {"allOf": [{"required": [names[0]]}]},
        {"not": {"required": [names[-1]]}},
    ]


class _Arguments:
    def __init__(self, thrown: Random, root: JsonObject, *, sloppy: bool) -> None:
        self._thrown = thrown
        self._root = root
        self._sloppy = sloppy

    def whole(self) -> JsonObject:
        return self._object(self._root, 4)

    def _chance(self, one_in: int) -> bool:
        return self._sloppy and self._thrown.randrange(one_in) == 0

    def _value(self, node: JsonValue, depth: int) -> JsonValue:
        if self._chance(15):
            return self._junk()
        fitting = self._fitting(node if isinstance(node, dict) else {}, depth)
        if not self._chance(2):
            return fitting
        if isinstance(fitting, (dict, list)):
            return json.dumps(fitting)
        if isinstance(fitting, int) and not isinstance(fitting, bool) and self._chance(3):
            return float(fitting)
        spelled = fitting if isinstance(fitting, str) else json.dumps(fitting)
        return self._thrown.choice([spelled, spelled, spelled.upper(), "", "null", *SLOPPY[:4]])

    def _junk(self) -> JsonValue:
        simple: list[JsonValue] = [None, True, 0, 1.0, 2.5, [], {}, *WORDS, *SLOPPY]
        return self._thrown.choice([*simple, {"a": "1", "n": "2"}, [["3"]], ["low"]])

    def _fitting(self, node: JsonObject, depth: int) -> JsonValue:
        reference = node.get("$ref")
        if isinstance(reference, str):
            definitions = self._root["$defs"]
            assert isinstance(definitions, dict)
            return self._value(definitions[reference.rpartition("/")[2]], depth - 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = node.get(keyword)
            if isinstance(branches, list) and "properties" not in node:
                return self._value(self._thrown.choice(branches), depth)
        enum = node.get("enum")
        return self._thrown.choice(enum) if isinstance(enum, list) else self._by_type(node, depth)

    def _by_type(self, node: JsonObject, depth: int) -> JsonValue:
        declared = node.get("type", "object" if "properties" in node else "string")
        kind = self._thrown.choice(declared) if isinstance(declared, list) else declared
        if kind == "object":
            return self._object(node, depth)
        if kind == "array":
            below = node.get("items", node.get("prefixItems", {}))
            members = below if isinstance(below, list) else [below] * self._thrown.randint(0, 2)
            return [self._value(member, depth - 1) for member in members]
        by_kind: dict[str, list[JsonValue]] = {
            "integer": [2, 3, 2**64],
            "number": [0, 1.5, 1e300],
            "boolean": [True, False],
            "null": [None],
        }
        return self._thrown.choice(by_kind.get(str(kind), ["word", "on", "7", "sofa"]))

    def _object(self, node: JsonObject, depth: int) -> JsonObject:
        declared, required = node.get("properties"), node.get("required", [])
        properties = declared if isinstance(declared, dict) and depth > 0 else {}
        needed = [*required] if isinstance(required, list) else []
        value: JsonObject = {}
        for name, child in properties.items():
            if name in needed or self._thrown.randrange(2):
                value[self._key(name)] = self._value(child, depth - 1)
        if self._chance(8):
            value[self._thrown.choice(NAMES)] = self._junk()
        if self._chance(6):
            return {self._thrown.choice(["properties", "arguments"]): value}
        return value

    def _key(self, name: str) -> str:
        if not self._chance(6):
            return name
        return self._thrown.choice([name.upper(), name.replace("_", ""), f"{name}_", "file"])
