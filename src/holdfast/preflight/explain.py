"""Why arguments were refused, in words a model can act on: the first rung that fails.

Whether they are refused is the validator's verdict alone; here it is only put into words. Per
object, in this order: a missing property, a stray one, required groups, then each property in the
order it is declared: alternatives, type, text, range, items, nested object, allowed values.
"""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import cast

import jsonschema_rs
import msgspec

from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import ArgumentFault
from holdfast.preflight.finding import Finding, path_text, shown
from holdfast.preflight.schema import SchemaNode, SchemaProblem, compile_validator, pointed, resolve
from holdfast.preflight.shape import spelling

_MAX_ALLOWED = 60
_MAX_NEAR = 100
_NEAR_CHARACTERS = 40

_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}


_WANTED = {
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
    "multipleOf": "a multiple of {}",
    "const": "{}",
}


def explain(
    schema: JsonObject, arguments: JsonObject, validator: jsonschema_rs.Draft202012Validator
) -> Failure:
    """Word the first problem of arguments the validator has refused."""
    return _first_finding(schema, arguments, validator).failure()


def explain_fault(schema: JsonObject, arguments: JsonObject, fault: ArgumentFault) -> Failure:
    """Word what only the type behind the schema refused, such as a date that is none."""
    name = fault.field
    properties = schema.get("properties")
    child = properties.get(name) if isinstance(properties, dict) and name is not None else None
    finding = Finding(message=fault.message, field=name)
    if name in arguments and isinstance(child, dict):
        expected = _Walk(schema).describe(child)
        finding = Finding(
            message=fault.message, field=name, expected=expected, received=shown(arguments[name])
        )
    return finding.failure()


def _first_finding(
    schema: JsonObject, arguments: JsonObject, validator: jsonschema_rs.Draft202012Validator
) -> Finding:
    for finding in _Walk(schema).object_findings(resolve(schema, schema), arguments, ""):
        return finding
    for problem in validator.iter_errors(arguments):
        return _in_the_validators_words(problem, schema)
    return Finding(message="Arguments do not fit the schema.")


def _in_the_validators_words(problem: jsonschema_rs.ValidationError, schema: JsonObject) -> Finding:
    field = path_text(problem.instance_path)
    where = f"Property '{field}'" if field else "Arguments"
    return Finding(
        message=f"{where}: {problem.message}",
        field=field or None,
        expected=_wanted(problem.schema_path, schema),
        received=shown(cast("JsonValue", problem.instance)),
    )


def _wanted(steps: list[str | int], schema: JsonObject) -> str | None:
    """What the keyword at the end of these steps asks for; None where that takes many words."""
    words = _WANTED.get(str(steps[-1])) if steps else None
    escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    limit = pointed(schema, "/".join(["#", *escaped]))
    return None if words is None or limit is None else words.format(shown(limit))


class _Walk:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._compiled: dict[bytes, jsonschema_rs.Draft202012Validator | None] = {}

    def object_findings(self, node: JsonObject, value: JsonObject, path: str) -> Iterator[Finding]:
        properties = node.get("properties")
        declared = properties if isinstance(properties, dict) else {}
        yield from self._missing(node, declared, value, path)
        yield from self._stray(node, declared, value, path)
        yield from _required_groups(node, value, path)
        for name, child in declared.items():
            if name in value and isinstance(child, (dict, bool)):
                yield from self._value_findings(child, value[name], _at(path, name))

    def _missing(
        self, node: JsonObject, declared: JsonObject, value: JsonObject, path: str
    ) -> Iterator[Finding]:
        required = node.get("required")
        for name in required if isinstance(required, list) else []:
            if not isinstance(name, str) or value.get(name) is not None:
                continue
            child = declared.get(name, {})
            if name in value and isinstance(child, dict) and self._allows_null(child):
                continue
            where = _at(path, name)
            near = _near(name, [key for key in value if key not in declared])
            hint = f" (you sent `{near}`)" if near else ""
            expected = self.describe(child) if isinstance(child, dict) else None
            yield Finding(
                message=f"Missing required property: {where}{hint}", field=where, expected=expected
            )

    def _allows_null(self, child: JsonObject) -> bool:
        node = resolve(self._root, child)
        speaks = any(keyword in node for keyword in ("type", "enum", "const", "anyOf", "allOf"))
        return speaks and self._matches(node, None)

    def _value_findings(self, child: SchemaNode, value: JsonValue, path: str) -> Iterator[Finding]:
        if isinstance(child, bool):
            return
        node = resolve(self._root, child)
        report = _Reporter(path, value, self.describe(node), self._matches)
        if "anyOf" in node and report.breaks("anyOf", node):
            yield report.finding("did not match any of the allowed schema branches.")
        yield from self._array_of_allowed(node, report)
        yield from _type_findings(node, report)
        yield from _text_findings(node, report)
        yield from _range_findings(node, report)
        if isinstance(value, list):
            yield from self._item_findings(node, value, path)
        if isinstance(value, dict):
            yield from self.object_findings(node, value, path)
        if "enum" in node and report.breaks("enum", node):
            yield _not_allowed(node, report)

    def _matches(self, node: JsonObject, value: JsonValue) -> bool:
        validator = self._validator(node)
        return validator is None or validator.is_valid(value)

    def _validator(self, node: JsonObject) -> jsonschema_rs.Draft202012Validator | None:
        written = msgspec.json.encode(node)
        if written not in self._compiled:
            definitions = {
                key: self._root[key] for key in ("$defs", "definitions") if key in self._root
            }
            try:
                self._compiled[written] = compile_validator({**definitions, **node})
            except SchemaProblem:
                # A reference into some other place of the schema, which is not at hand here.
                self._compiled[written] = None
        return self._compiled[written]

    def _item_findings(
        self, node: JsonObject, value: list[JsonValue], path: str
    ) -> Iterator[Finding]:
        prefix, rest = node.get("prefixItems"), node.get("items")
        heads = prefix if isinstance(prefix, list) else []
        # An array can be long: what is right in it is passed over quickly.
        right = self._validator(rest) if isinstance(rest, dict) else None
        for index, item in enumerate(value):
            if index >= len(heads) and right is not None and right.is_valid(item):
                continue
            below = heads[index] if index < len(heads) else rest
            if isinstance(below, (dict, bool)):
                yield from self._value_findings(below, item, f"{path}[{index}]")

    def _array_of_allowed(self, node: JsonObject, report: "_Reporter") -> Iterator[Finding]:
        """An allowed value inside an array: more telling than the wrong type it also is."""
        value = report.value
        if not isinstance(value, list) or "enum" not in node or not report.breaks("enum", node):
            return
        if any(self._matches({"enum": node["enum"]}, item) for item in value):
            yield _not_allowed(node, report, " Send the value itself, not an array holding it.")

    def _stray(
        self, node: JsonObject, declared: JsonObject, value: JsonObject, path: str
    ) -> Iterator[Finding]:
        if node.get("additionalProperties") is not False:
            return
        allowed = ", ".join(sorted(declared)) or "none"
        patterns = node.get("patternProperties")
        named: JsonObject = dict.fromkeys(patterns if isinstance(patterns, dict) else (), True)
        by_pattern: JsonObject = {"patternProperties": named, "additionalProperties": False}
        for key in value:
            if key in declared or (named and self._matches(by_pattern, {key: None})):
                continue
            near = _near(key, [name for name in declared if name not in value])
            yield Finding(
                message=f"Unexpected property `{_at(path, key)}`. Allowed: {allowed}",
                field=_at(path, key),
                expected=f"did you mean `{near}`?" if near else None,
            )

    def describe(self, child: JsonObject) -> str | None:
        """What would fit, in a few words."""
        node = resolve(self._root, child)
        parts: list[str] = []
        enum = node.get("enum")
        if isinstance(enum, list):
            parts.append(f"one of: {_comma_list(enum)}")
        else:
            bounds = [f"{sign} {shown(node[key])}" for key, sign in _BOUNDS.items() if key in node]
            written = node.get("format")
            form = f"({written})" if isinstance(written, str) else ""
            parts.append(" ".join(filter(None, (type_text(node), form, " and ".join(bounds)))))
        description = node.get("description")
        if isinstance(description, str) and description:
            parts.append(description)
        examples = node.get("examples")
        if isinstance(examples, list) and examples:
            parts.append(f"e.g. {shown(examples[0])}")
        return "; ".join(part for part in parts if part) or None


class _Reporter:
    """Builds findings about one value."""

    def __init__(
        self,
        path: str,
        value: JsonValue,
        expected: str | None,
        matches: Callable[[JsonObject, JsonValue], bool],
    ) -> None:
        self.path = path
        self.value = value
        self.expected = expected
        self._matches = matches

    def breaks(self, keyword: str, node: JsonObject) -> bool:
        """Whether the value fails that one keyword of the node."""
        return not self._matches({keyword: node[keyword]}, self.value)

    def finding(self, text: str) -> Finding:
        return Finding(
            message=f"Property '{self.path}' {text}",
            field=self.path,
            expected=self.expected,
            received=shown(self.value),
        )


def _not_allowed(node: JsonObject, report: _Reporter, hint: str = "") -> Finding:
    allowed = node["enum"]
    words = _comma_list(allowed if isinstance(allowed, list) else [])
    return report.finding(f"must be one of: {words}. Got {shown(report.value)}.{hint}")


def _required_groups(node: JsonObject, value: JsonObject, path: str) -> Iterator[Finding]:
    groups = _groups(node.get("anyOf"))
    if not groups or any(all(value.get(name) is not None for name in group) for group in groups):
        return
    text = " OR ".join(" + ".join(f"`{name}`" for name in group) for group in groups)
    yield Finding(message=f"Arguments must include {text}.", field=_at(path, groups[0][0]))


def _groups(branches: JsonValue) -> list[list[str]]:
    groups: list[list[str]] = []
    for branch in branches if isinstance(branches, list) else []:
        names = branch.get("required") if isinstance(branch, dict) else None
        if not isinstance(names, list) or not names:
            return []
        groups.append([name for name in names if isinstance(name, str)])
    return groups if all(groups) else []


def _type_findings(node: JsonObject, report: _Reporter) -> Iterator[Finding]:
    declared = node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    known = [name for name in names if isinstance(name, str)]
    if known and not any(_is_of_type(report.value, name) for name in known):
        yield report.finding(f"must be {type_text(node)}")


def _is_of_type(value: JsonValue, name: str) -> bool:
    if name == "null":
        return value is None
    if name in {"integer", "number"}:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return name == "number" or isinstance(value, int) or value.is_integer()
    return isinstance(value, _JSON_TYPES[name])


def _text_findings(node: JsonObject, report: _Reporter) -> Iterator[Finding]:
    if not isinstance(report.value, str):
        return
    if "pattern" in node and report.breaks("pattern", node):
        yield report.finding(f"must match the pattern {node['pattern']}")
    length = len(report.value)
    shortest, longest = node.get("minLength"), node.get("maxLength")
    if isinstance(shortest, (int, float)) and length < shortest:
        yield report.finding(f"must be at least {shortest} characters long; it has {length}")
    if isinstance(longest, (int, float)) and length > longest:
        yield report.finding(f"must be at most {longest} characters long; it has {length}")


_BOUNDS = {
    "minimum": ">=",
    "maximum": "<=",
    "exclusiveMinimum": ">",
    "exclusiveMaximum": "<",
}


def _range_findings(node: JsonObject, report: _Reporter) -> Iterator[Finding]:
    if isinstance(report.value, bool) or not isinstance(report.value, (int, float)):
        return
    for keyword, sign in _BOUNDS.items():
        if keyword in node and report.breaks(keyword, node):
            yield report.finding(f"must be {sign} {shown(node[keyword])}")


def type_text(node: JsonObject) -> str:
    """What a schema wants, as ``a string`` or ``an integer or null``."""
    declared = node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    words = [_with_article(name) for name in names if isinstance(name, str)]
    return " or ".join(words)


def _with_article(name: str) -> str:
    if name == "null":
        return name
    return f"an {name}" if name in {"integer", "array", "object"} else f"a {name}"


def _comma_list(values: list[JsonValue]) -> str:
    words = [value if isinstance(value, str) else shown(value) for value in values]
    if len(words) > _MAX_ALLOWED:
        words = [*words[:_MAX_ALLOWED], f"and {len(words) - _MAX_ALLOWED} more"]
    return ", ".join(words)


def _near(name: str, candidates: list[str]) -> str | None:
    few = [word for word in candidates[:_MAX_NEAR] if len(word) <= _NEAR_CHARACTERS]
    by_spelling = {spelling(candidate): candidate for candidate in few}
    found = get_close_matches(spelling(name[:_NEAR_CHARACTERS]), list(by_spelling), n=1, cutoff=0.7)
    return by_spelling[found[0]] if found else None


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
