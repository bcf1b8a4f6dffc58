"""A function's parameters, read as the fields of its arguments.

It knows what may be a parameter of a tool, and nothing of schemas or tools.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, get_args, get_origin

import msgspec

from holdfast.contract.call_port import is_call_port
from holdfast.contract.json_value import JsonValue
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.defaults import default_json
from holdfast.sources.hints import Unresolved, function_hints
from holdfast.sources.places import Place
from holdfast.sources.styles import called_part

ABSENT: object = inspect.Parameter.empty
"""No annotation."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter a call may give."""

    name: str
    annotation: object
    required: bool
    default: "JsonValue | msgspec.UnsetType"


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """What a function takes and gives."""

    parameters: tuple[Parameter, ...]
    takes_runtime: bool
    takes_any: bool
    """Whether it has `**kwargs`."""
    returns: object
    ports: Mapping[str, type[object]] = {}
    """Parameters that the host fills in, by name."""


def read_signature(function: Callable[..., object], *, owner: str, schema_given: bool) -> Signature:
    """Read what may be called. With a schema given by hand, annotations may be missing."""
    _check_callable(function, owner)
    try:
        declared = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError) as problem:
        raise ToolDefinitionError(f"{owner}: it has no readable signature ({problem})") from None
    hints = function_hints(called_part(function))
    takes_runtime = bool(declared) and _is_runtime(hints.get(declared[0].name))
    if takes_runtime and declared[0].kind is inspect.Parameter.KEYWORD_ONLY:
        Place(owner, declared[0].name).refuse("the Runtime parameter must not be keyword-only")
    ports = {one.name: kind for one in declared if is_call_port(kind := hints.get(one.name))}
    rest = [one for one in declared[int(takes_runtime) :] if one.name not in ports]
    takes_any = schema_given and any(one.kind is one.VAR_KEYWORD for one in rest)
    parameters = tuple(
        _parameter(one, hints.get(one.name, ABSENT), Place(owner, one.name), loose=schema_given)
        for one in rest
        if not (takes_any and one.kind is one.VAR_KEYWORD)
    )
    return Signature(
        parameters=parameters,
        takes_runtime=takes_runtime,
        takes_any=takes_any,
        returns=hints.get("return", ABSENT),
        ports=ports,
    )


def _check_callable(function: object, owner: str) -> None:
    if isinstance(function, functools.partial):
        raise ToolDefinitionError(
            f"{owner}: a functools.partial has no name, docstring or annotations of its own;"
            " write a function that calls it"
        )
    if isinstance(function, type) or not callable(function):
        raise ToolDefinitionError(f"{owner}: a tool is made from a function, not {function!r}")


def _is_runtime(annotation: object) -> bool:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation is Runtime


def _parameter(
    declared: inspect.Parameter, annotation: object, place: Place, *, loose: bool
) -> Parameter:
    _check_kind(declared, place)
    if isinstance(annotation, Unresolved):
        place.refuse(
            f"its annotation cannot be resolved ({annotation.problem});"
            " define the type at module level, or before the function"
        )
    if annotation is ABSENT and not loose:
        _refuse_bare(declared.name, place)
    if _is_runtime(annotation):
        place.refuse("the Runtime must be the first parameter")
    default: object = declared.default
    if default is inspect.Parameter.empty:
        return Parameter(
            name=declared.name, annotation=annotation, required=True, default=msgspec.UNSET
        )
    if hasattr(default, "json_schema_extra"):
        place.refuse("its default is a pydantic Field; write `Annotated[type, Field(...)] = value`")
    return Parameter(
        name=declared.name, annotation=annotation, required=False, default=default_json(default)
    )


def _refuse_bare(name: str, place: Place) -> None:
    if name in {"self", "cls"}:
        place.refuse(
            f"make the tool from the bound method: `tool(instance.method)`, without {name}"
        )
    place.refuse(f"it has no annotation; write its type, e.g. `{name}: str`")


def _check_kind(declared: inspect.Parameter, place: Place) -> None:
    match declared.kind:
        case declared.VAR_POSITIONAL:
            place.refuse(
                f"`*{declared.name}` cannot be named by a call;"
                f" use a list, e.g. `{declared.name}: list[str]`"
            )
        case declared.VAR_KEYWORD:
            place.refuse(
                f"`**{declared.name}` has no schema; name each parameter,"
                f" or use `{declared.name}: dict[str, Any]`"
            )
        case declared.POSITIONAL_ONLY:
            place.refuse("it is positional-only, but calls name their arguments; remove the `/`")
        case _:
            pass
