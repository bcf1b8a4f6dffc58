"""Tools from Python functions: the signature is the schema, the docstring the description.

A function whose first parameter is annotated `Runtime` is handed the runtime of its call, and one
with a parameter annotated with a port is handed what the host has for it; the model sees neither.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, cast, get_args, get_origin, overload

from holdfast.contract.backend import ToolResult
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.results import Binary, Image
from holdfast.contract.runtime import Runtime
from holdfast.contract.told import Told
from holdfast.contract.tool import Body, RunStyle, Tool, ToolDefinitionError, refuse_encoded
from holdfast.contract.tool_options import ToolOptions
from holdfast.sources.annotations import or_null, read_annotation
from holdfast.sources.decode import compile_decode, exactly_decoded
from holdfast.sources.docstring import Docstring, read_docstring
from holdfast.sources.hints import Unresolved
from holdfast.sources.merging import types_of
from holdfast.sources.options import Face, build_tool, check_options, schema_object
from holdfast.sources.places import Place
from holdfast.sources.schema import arguments_schema, schema_of
from holdfast.sources.shapes import Anything, Field, Shape
from holdfast.sources.signature import ABSENT, Parameter, Signature, read_signature
from holdfast.sources.styles import called_part, run_style

P = ParamSpec("P")
R = TypeVar("R")

Invoke = Callable[[Mapping[str, object], Runtime], object]

_NAME = late_pattern(r"[A-Za-z][A-Za-z0-9_-]{0,63}")

_SPEAK_FOR_THEMSELVES = (Envelope, Image, Binary, ToolResult, bytes, bytearray)
"""Returned values the runtime turns into something else: their fields are not the result's."""

_NULL: JsonObject = {"type": "null"}


class FunctionTool(Generic[P, R]):
    """A function that has become a tool, and can still be called as before."""

    __name__: str

    def __init__(self, function: Callable[P, R], tool: Tool) -> None:
        self.__name__ = tool.name
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.tool = tool

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself: no checks, no policy."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.tool.name!r}>"


@overload
def tool(function: Callable[P, R], /, **options: Unpack[ToolOptions]) -> FunctionTool[P, R]: ...


@overload
def tool(
    function: None = None, /, **options: Unpack[ToolOptions]
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None, /, **options: Unpack[ToolOptions]
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a function a tool: ``@tool`` or ``@tool(requires={...}, ...)``."""
    if function is None:
        check_options(options, "tool")
        return lambda decorated: FunctionTool(decorated, tool_from_function(decorated, **options))
    return FunctionTool(function, tool_from_function(function, **options))


def tool_from_function(function: Callable[..., object], **options: Unpack[ToolOptions]) -> Tool:
    """Derive name, description, schemas and decoding; raises ToolDefinitionError."""
    if isinstance(function, FunctionTool):
        function = cast("Callable[..., object]", function.function)
    spoken = str(getattr(function, "__name__", type(function).__name__))
    owner = f"function '{spoken}'"
    check_options(options, owner)
    name = _checked_name(options.get("name", spoken), owner)
    signature = read_signature(function, owner=owner, schema_given="input_schema" in options)
    doc = read_docstring(_doc(function), [one.name for one in signature.parameters])
    style = run_style(function, owner, inline=options.get("inline", False))
    fields = _fields(signature, doc, owner, loose="input_schema" in options)
    schema = _input_schema(signature, fields, options, owner)
    face = Face(
        name=name,
        description=_description(doc, options, owner),
        input_schema=schema,
        output_schema=_output_schema(signature, style, options, owner),
    )
    shapes = {field.name: field.shape for field in fields}
    decoding = compile_decode(shapes, _required(schema), takes_any=signature.takes_any)
    body = Body(
        style=style,
        invoke=_invoke(function, signature),
        decode=decoding.decode,
        read=decoding.read,
        exact=exactly_decoded(shapes),
        only_computes=_only_computes(signature, options),
    )
    made = build_tool(face, body, options)
    # What the body gets is decoded by its annotations, whatever a schema given by hand says.
    refuse_encoded(made.uses, arguments_schema(fields), f"tool {name!r}")
    return made


def _only_computes(signature: Signature, options: ToolOptions) -> bool:
    """Whether the author says so. That nothing is said of a function says nothing about it."""
    said = options.get("read_only", options.get("inline", False)) is True
    return said and not (signature.takes_runtime or signature.ports)


def _required(schema: JsonObject) -> Collection[str]:
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _checked_name(name: object, owner: str) -> str:
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ToolDefinitionError(
            f"{owner}: the name {name!r} is not usable; a letter, then letters, digits, - and _,"
            " at most 64 in all"
        )
    return name


def _doc(function: Callable[..., object]) -> str | None:
    # A callable object may leave the talking to its __call__.
    return function.__doc__ or called_part(function).__doc__


def _description(doc: Docstring, options: ToolOptions, owner: str) -> str:
    given: object = options.get("description", doc.description)
    if not isinstance(given, str) or not given.strip():
        raise ToolDefinitionError(
            f"{owner}: it has no description; write a docstring, or pass description="
        )
    return inspect.cleandoc(given)


def _fields(signature: Signature, doc: Docstring, owner: str, *, loose: bool) -> list[Field]:
    return [
        Field(
            name=one.name,
            wire=one.name,
            shape=_shape(one, Place(owner, one.name), loose=loose),
            required=one.required,
            default=one.default,
            description=doc.parameters.get(one.name),
        )
        for one in signature.parameters
    ]


def _shape(parameter: Parameter, place: Place, *, loose: bool) -> Shape:
    # The schema may be given by hand: what an annotation cannot say is then passed on as it comes.
    if parameter.annotation is ABSENT:
        return Anything()
    try:
        shape = read_annotation(parameter.annotation, place)
    except ToolDefinitionError:
        if not loose:
            raise
        return Anything()
    return or_null(shape) if parameter.default is None else shape


def _input_schema(
    signature: Signature, fields: list[Field], options: ToolOptions, owner: str
) -> JsonObject:
    if "input_schema" not in options:
        return arguments_schema(fields)
    schema = schema_object(options["input_schema"], "input_schema", owner)
    if schema.get("type") != "object":
        raise ToolDefinitionError(f"{owner}: input_schema must have type object")
    properties = schema.get("properties", {})
    named = properties.keys() if isinstance(properties, dict) else set[str]()
    for field in fields:
        if field.required and field.name not in named:
            raise ToolDefinitionError(
                f"{owner}, parameter '{field.name}': it has no default and is not in input_schema"
            )
    unknown = named - {field.name for field in fields}
    if unknown and not signature.takes_any:
        raise ToolDefinitionError(
            f"{owner}: input_schema names {min(unknown)!r}, which the function does not take"
        )
    return schema


def _output_schema(
    signature: Signature, style: RunStyle, options: ToolOptions, owner: str
) -> JsonObject | None:
    if "output_schema" in options:
        return schema_object(options["output_schema"], "output_schema", owner)
    returns = signature.returns
    if returns is ABSENT or isinstance(returns, Unresolved) or style.endswith("generator"):
        return None
    if get_origin(returns) is Told:
        (returns,) = get_args(returns)
    kinds = (returns, *get_args(returns))
    if any(isinstance(one, type) and issubclass(one, _SPEAK_FOR_THEMSELVES) for one in kinds):
        return None
    try:
        schema = schema_of(read_annotation(returns, Place(owner), outgoing=True))
    except ToolDefinitionError:
        return None
    # Returned text is wrapped on its way out, and null says nothing.
    return None if not schema or "string" in types_of(schema) or schema == _NULL else schema


def _invoke(function: Callable[..., Any], signature: Signature) -> Invoke:
    if signature.ports:
        return _invoke_with_ports(function, signature)
    if signature.takes_runtime:
        return lambda values, runtime: function(runtime, **values)
    return lambda values, _runtime: function(**values)


def _invoke_with_ports(function: Callable[..., Any], signature: Signature) -> Invoke:
    ports = signature.ports

    def invoke(values: Mapping[str, object], runtime: Runtime) -> object:
        handed = {name: runtime.port(kind) for name, kind in ports.items()}
        first = (runtime,) if signature.takes_runtime else ()
        return function(*first, **values, **handed)

    return invoke
