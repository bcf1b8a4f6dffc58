"""Why arguments were refused, in words a model can act on: the first rung that fails.

Whether they are refused is the validator's verdict alone; here it is only put into words. Per
object, in this order: a missing property, a stray one, required groups, then each property in the
order it is declared: alternatives, type, text, range, items, nested object, allowed values.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Literal, TypedDict, Unpack

import jsonschema_rs
import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.preflight.schema import SchemaNode, SchemaProblem, compile_validator, resolve
from holdfast.preflight.shape import spelling, with_single_all_of

_MAX_SHOWN = 200
_MAX_ALLOWED = 60

_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and where."""

    message: str
    field: str | None = None
    expected: str | None = None
    received: str | None = None

    def failure(self) -> Failure:
        """As the failure of the call."""
        extras: JsonObject = {} if self.received is None else {"received": self.received}
        return failure_of(
            FailureKind.INVALID_ARGS,
            self.message,
            field=self.field,
            expected=self.expected,
            extras=extras,
        )


def explain(
    schema: JsonObject, arguments: JsonObject, validator: jsonschema_rs.Draft202012Validator
) -> Failure:
    """Word the first problem of arguments the validator has refused."""
    return _first_finding(schema, arguments, validator).failure()


def _first_finding(
    schema: JsonObject, arguments: JsonObject, validator: jsonschema_rs.Draft202012Validator
) -> Finding:
    for finding in _Walk(schema).object_findings(schema, arguments, ""):
        return finding
    for problem in validator.iter_errors(arguments):
        return _in_the_validators_words(problem)
    return Finding(message="Arguments do not fit the schema.")


def _in_the_validators_words(problem: jsonschema_rs.ValidationError) -> Finding:
    field = path_text(problem.instance_path)
    where = f"Property '{field}'" if field else "Arguments"
    return Finding(message=f"{where}: {problem.message}", field=field or None)


def path_text(steps: list[str | int]) -> str:
    """Write a path as ``o.k`` and ``xs[1].k``."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def shown(value: JsonValue) -> str:
    """A value as short JSON text."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


class _Walk:
    def __init__(self, root: JsonObject) -> None:
        self._root = root

    def object_findings(self, node: JsonObject, value: JsonObject, path: str) -> Iterator[Finding]:
        properties = node.get("properties")
        declared = properties if isinstance(properties, dict) else {}
        yield from self._missing(node, declared, value, path)
        yield from _stray(node, declared, value, path)
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
            expected = self._describe(child) if isinstance(child, dict) else None
            yield Finding(
                message=f"Missing required property: {where}{hint}", field=where, expected=expected
            )

    def _allows_null(self, child: JsonObject) -> bool:
        node = resolve(self._root, child)
        if isinstance(node, bool):
            return node
        speaks = any(keyword in node for keyword in ("type", "enum", "const", "anyOf", "allOf"))
        return speaks and self._matches(node, None)

    def _value_findings(self, child: SchemaNode, value: JsonValue, path: str) -> Iterator[Finding]:
        node = resolve(self._root, child)
        if isinstance(node, bool):
            return
        node = with_single_all_of(node)
        report = _Reporter(path, value, self._describe(node))
        if "anyOf" in node and not self._matches({"anyOf": node["anyOf"]}, value):
            yield report.finding("did not match any of the allowed schema branches.")
        yield from _type_findings(node, report)
        yield from _text_findings(node, report)
        yield from _range_findings(node, report)
        if isinstance(value, list):
            yield from self._item_findings(node, value, path)
        if isinstance(value, dict):
            yield from self.object_findings(node, value, path)
        yield from self._enum_findings(node, report)

    def _matches(self, node: JsonObject, value: JsonValue) -> bool:
        definitions = {
            key: self._root[key] for key in ("$defs", "definitions") if key in self._root
        }
        try:
            return compile_validator({**definitions, **node}).is_valid(value)
        except SchemaProblem:
            # A reference into some other place of the schema: leave it to the validator's words.
            return True

    def _item_findings(
        self, node: JsonObject, value: list[JsonValue], path: str
    ) -> Iterator[Finding]:
        prefix = node.get("prefixItems")
        heads = prefix if isinstance(prefix, list) else []
        for index, item in enumerate(value):
            below = heads[index] if index < len(heads) else node.get("items")
            if isinstance(below, (dict, bool)):
                yield from self._value_findings(below, item, f"{path}[{index}]")

    def _enum_findings(self, node: JsonObject, report: "_Reporter") -> Iterator[Finding]:
        allowed = node.get("enum")
        if not isinstance(allowed, list) or self._matches({"enum": allowed}, report.value):
            return
        text = f"must be one of: {_comma_list(allowed)}. Got {shown(report.value)}."
        value = report.value
        if isinstance(value, list) and any(
            self._matches({"enum": allowed}, item) for item in value
        ):
            text += " Send the value itself, not an array holding it."
        yield report.finding(text)

    def _describe(self, child: JsonObject) -> str | None:
        node = resolve(self._root, child)
        if isinstance(node, bool):
            return None
        node = with_single_all_of(node)
        parts: list[str] = []
        enum = node.get("enum")
        if isinstance(enum, list):
            parts.append(f"one of: {_comma_list(enum)}")
        else:
            parts.append(type_text(node))
        description = node.get("description")
        if isinstance(description, str) and description:
            parts.append(description)
        examples = node.get("examples")
        if isinstance(examples, list) and examples:
            parts.append(f"e.g. {shown(examples[0])}")
        return "; ".join(part for part in parts if part) or None


class _Reporter:
    """Builds findings about one value."""

    def __init__(self, path: str, value: JsonValue, expected: str | None) -> None:
        self.path = path
        self.value = value
        self.expected = expected

    def finding(self, text: str, **more: Unpack["_More"]) -> Finding:
        return Finding(
            message=f"Property '{self.path}' {text}",
            field=self.path,
            expected=more.get("expected", self.expected),
            received=shown(self.value),
        )


class _More(TypedDict, total=False):
    expected: str | None


def _stray(
    node: JsonObject, declared: JsonObject, value: JsonObject, path: str
) -> Iterator[Finding]:
    if node.get("additionalProperties") is not False:
        return
    allowed = ", ".join(sorted(declared)) or "none"
    for key in value:
        if key in declared:
            continue
        near = _near(key, [name for name in declared if name not in value])
        yield Finding(
            message=f"Unexpected property `{_at(path, key)}`. Allowed: {allowed}",
            field=_at(path, key),
            expected=f"did you mean `{near}`?" if near else None,
        )


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
    pattern = node.get("pattern")
    if isinstance(pattern, str) and not compile_validator({"pattern": pattern}).is_valid(
        report.value
    ):
        yield report.finding(f"must match the pattern {pattern}")
    length = len(report.value)
    shortest, longest = node.get("minLength"), node.get("maxLength")
    if isinstance(shortest, (int, float)) and length < shortest:
        yield report.finding(f"must be at least {shortest} characters long; it has {length}")
    if isinstance(longest, (int, float)) and length > longest:
        yield report.finding(f"must be at most {longest} characters long; it has {length}")


_Bound = Literal["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
_BOUNDS: dict[_Bound, str] = {
    "minimum": ">=",
    "maximum": "<=",
    "exclusiveMinimum": ">",
    "exclusiveMaximum": "<",
}


def _range_findings(node: JsonObject, report: _Reporter) -> Iterator[Finding]:
    if isinstance(report.value, bool) or not isinstance(report.value, (int, float)):
        return
    for keyword, sign in _BOUNDS.items():
        if keyword in node and not compile_validator({keyword: node[keyword]}).is_valid(
            report.value
        ):
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
    by_spelling = {spelling(candidate): candidate for candidate in candidates}
    found = get_close_matches(spelling(name), list(by_spelling), n=1, cutoff=0.7)
    return by_spelling[found[0]] if found else None


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
