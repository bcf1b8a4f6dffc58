"""The preflight of one tool, compiled once: a call in, Prepared or Rejected out.

Clean arguments take a fast path: one pass over their text, or, where the schema does not allow
that, one compiled check. Everything else is repaired, checked, and, if refused, explained.
"""

from typing import cast

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Prepared, Rejected, ToolCall
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import MAX_DEPTH, JsonObject, decode_json, depth_of
from holdfast.contract.tool import ArgumentFault, Body, Read, Tool
from holdfast.preflight import copying, explain, repair
from holdfast.preflight.clean import WholeFloats, clean_schema
from holdfast.preflight.example import example_call
from holdfast.preflight.expansion import refuse_expansion_beyond
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES, Parsed, parse_arguments
from holdfast.preflight.reader import compile_reader
from holdfast.preflight.schema import SchemaProblem, compile_validator, effective_schema
from holdfast.preflight.shape import shape_of

_EXACT = (str, bytes)
"""A subclass could read differently each time; whoever judges and whoever runs read the same."""

MAX_CHECKS = 100_000
"""How many checks a schema may stand for once its references are followed."""


class Plan:
    """How to repair, check and decode the arguments of one tool."""

    def __init__(self, tool: Tool) -> None:
        """Compile; raises SchemaProblem for a schema that cannot be enforced."""
        self._begin(tool)
        try:
            self._compile(tool)
        except RecursionError:
            raise SchemaProblem("the schema nests too deeply") from None

    def _begin(self, tool: Tool) -> None:
        """Take what needs no compiling."""
        self.tool = tool
        self._decode = tool.body.decode
        self._as_sent = tool.body.read if tool.body.verbatim else None

    def _compile(self, tool: Tool) -> None:
        effective = effective_schema(tool.input_schema)
        refuse_expansion_beyond(effective.schema, MAX_CHECKS)
        self.remarks = effective.remarks
        self._schema = effective.schema
        self._validator = compile_validator(effective.schema)
        self._shape = shape_of(effective.schema, keep_empty=tool.keep_empty, camel=tool.camel_case)
        clean = clean_schema(effective.schema, tool.keep_empty)
        if tool.withheld and effective.schema.get("additionalProperties") is not False:
            clean = None  # it would let pass what is withheld
        self._is_clean = compile_validator(clean).is_valid if clean is not None else _never
        floats = None if clean is None else WholeFloats(self._shape, decoded=tool.body.exact)
        self._floats = floats if floats is not None and floats.possible else None
        self._read = None if clean is None else _reading(clean, tool.body)

    def prepare(self, call: ToolCall, max_bytes: int = MAX_ARGUMENT_BYTES) -> Prepared | Rejected:
        """Make the call ready to be judged, or say why it cannot run."""
        raw = call.arguments
        if isinstance(raw, (str, bytes)) and type(raw) not in _EXACT:
            raw = str.__str__(raw) if isinstance(raw, str) else bytes.__bytes__(raw)
            call = msgspec.structs.replace(call, arguments=raw)
        if self._as_sent is not None and isinstance(raw, (str, bytes)) and not raw.strip():
            raw = ""
        # A character takes up to four bytes.
        if self._read is not None and isinstance(raw, (str, bytes)) and 4 * len(raw) <= max_bytes:
            try:
                values = self._read(raw)
            except (ValueError, RecursionError):
                values = None  # not clean: it takes a closer look
            if isinstance(values, dict):
                return Prepared(call=call, tool=self.tool, values=values, checked=None)
        parsed = parse_arguments(raw, max_bytes=max_bytes)
        if isinstance(parsed, Failure):
            return Rejected(call=call, failure=parsed)
        return self._prepare(call, parsed)

    def _prepare(self, call: ToolCall, parsed: Parsed) -> Prepared | Rejected:
        arguments = parsed.arguments
        floats = self._floats
        if self._is_clean(arguments) and (floats is None or not floats.found_in(arguments)):
            values = self._values(call, parsed)
            if isinstance(values, dict):
                return Prepared(
                    call=call,
                    tool=self.tool,
                    values=values,
                    checked=arguments,
                    repairs=parsed.repairs,
                )
        return self._prepare_with_repairs(call, parsed)

    def _prepare_with_repairs(self, call: ToolCall, parsed: Parsed) -> Prepared | Rejected:
        arguments = parsed.arguments
        repairs = parsed.repairs + tuple(repair.repair_arguments(self._shape, arguments))
        problem = self._problem(arguments)
        if problem is not None:
            return Rejected(call=call, failure=problem, sent=arguments, repairs=repairs)
        values = self._values(call, Parsed(arguments, repairs))
        if isinstance(values, ArgumentFault):
            failure = explain.explain_fault(self._schema, arguments, values)
            return Rejected(call=call, failure=failure, sent=arguments, repairs=repairs)
        return Prepared(
            call=call, tool=self.tool, values=values, checked=arguments, repairs=repairs
        )

    def _values(self, call: ToolCall, parsed: Parsed) -> dict[str, object] | ArgumentFault:
        """What the body takes: of the arguments, or of their text where that alone counts."""
        raw = call.arguments
        if self._as_sent is not None and not parsed.repairs and isinstance(raw, (str, bytes)):
            return self._as_sent(raw)
        arguments = parsed.arguments
        return (
            cast("dict[str, object]", arguments)
            if self._decode is None
            else self._decode(arguments)
        )

    def _problem(self, arguments: JsonObject) -> Failure | None:
        if depth_of(arguments) > MAX_DEPTH:
            return failure_of(FailureKind.INVALID_ARGS, copying.TOO_DEEP)
        for name, reason in self.tool.withheld.items():
            if name in arguments:
                return failure_of(FailureKind.REJECTED, reason, field=name)
        if self._validator.is_valid(arguments):
            return None
        return explain.explain(self._schema, arguments, self._validator)

    def example(self, sent: JsonObject) -> JsonObject | None:
        """A valid call that keeps what was right in the arguments sent."""
        return example_call(self._schema, sent, self._accepts)

    def _accepts(self, arguments: JsonObject) -> bool:
        return self._validator.is_valid(arguments) and (
            self._decode is None or not isinstance(self._decode(arguments), ArgumentFault)
        )


class LaterPlan(Plan):
    """Compiled when it is first needed: for a tool whose schema is known to be enforceable."""

    def __init__(self, tool: Tool) -> None:
        self._begin(tool)

    def __getattr__(self, name: str) -> object:
        # Found only while it is missing: once compiled, nothing comes here any more.
        if name not in _COMPILED:
            raise AttributeError(f"a plan has no {name!r}")
        self._compile(self.tool)
        return getattr(self, name)


_COMPILED = frozenset(
    {"remarks", "_schema", "_validator", "_shape", "_is_clean", "_floats", "_read"}
)
"""What compiling makes of a tool."""


def _reading(clean: JsonObject, body: Body) -> Read | None:
    """From clean text to what the body takes, in one step that raises ValueError for all else."""
    reader = compile_reader(clean)
    values = body.read if body.decode is not None else cast("Read", decode_json)
    if reader is None or values is None:
        return None

    def read(text: str | bytes) -> dict[str, object] | ArgumentFault:
        reader(text)
        return values(text)

    return read


def _never(_arguments: object) -> bool:
    return False
