"""Annotations as objects: forward references resolved, type variables filled in.

Reads functions and classes; what the annotations mean is not known here.
"""

import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

_UNRESOLVED = (NameError, AttributeError, TypeError, SyntaxError, ValueError)


class Unresolved(msgspec.Struct, frozen=True):
    """An annotation that names something which cannot be found."""

    problem: str


class ClassHints(msgspec.Struct, frozen=True):
    """What a class says its fields are."""

    types: dict[str, object]
    local: bool
    """Whether names of an enclosing function were needed; msgspec cannot see those."""


def function_hints(function: Callable[..., object]) -> dict[str, object]:
    """Every annotation of the function, an `Unresolved` where it cannot be found."""
    try:
        return get_type_hints(function, include_extras=True)
    except _UNRESOLVED:
        return _one_by_one(function)


def _one_by_one(function: Callable[..., object]) -> dict[str, object]:
    source = inspect.unwrap(function)
    names = cast("dict[str, object]", getattr(source, "__globals__", {}))
    local = enclosing_names(getattr(source, "__qualname__", ""), names)
    annotations = cast("dict[str, object]", getattr(function, "__annotations__", {}))
    return {name: _resolved(annotation, names, local) for name, annotation in annotations.items()}


def _resolved(annotation: object, names: dict[str, object], local: Mapping[str, object]) -> object:
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return get_type_hints(holder, names, dict(local), include_extras=True)["it"]
    except _UNRESOLVED as problem:
        return Unresolved(str(problem))


def class_hints(annotation: object) -> ClassHints | Unresolved:
    """The field types of a class, or of a generic class with its arguments."""
    cls = cast("type", get_origin(annotation) or annotation)
    local = False
    try:
        found = get_type_hints(cls, include_extras=True)
    except _UNRESOLVED:
        module = sys.modules.get(cls.__module__)
        names = enclosing_names(cls.__qualname__, vars(module) if module else {})
        local = True
        try:
            found = get_type_hints(cls, localns=names, include_extras=True)
        except _UNRESOLVED as problem:
            return Unresolved(str(problem))
    bindings: dict[object, object] = {}
    conflict = _bind(annotation, {}, bindings)
    if conflict is not None:
        return Unresolved(f"the type variable {conflict} stands for two different types")
    return ClassHints({name: _filled(kind, bindings) for name, kind in found.items()}, local)


def enclosing_names(qualname: str, module_names: Mapping[str, object]) -> dict[str, object]:
    """The local names of the functions around a definition, while these are still running."""
    frames: list[types.FrameType] = []
    frame = inspect.currentframe()
    while frame is not None:
        around = qualname.startswith(f"{frame.f_code.co_qualname}.<locals>.")
        if around and frame.f_globals is module_names:
            frames.append(frame)
        frame = frame.f_back
    names: dict[str, object] = {}
    for outermost_first in reversed(frames):
        names.update(outermost_first.f_locals)
    return names


def _bind(
    annotation: object, scope: Mapping[object, object], bindings: dict[object, object]
) -> object | None:
    """Collect what each type variable stands for; gives back one that has two meanings."""
    cls = get_origin(annotation) or annotation
    own: dict[object, object] = {}
    variables = cast("tuple[object, ...]", getattr(cls, "__parameters__", ()))
    for variable, argument in zip(variables, get_args(annotation), strict=False):
        own[variable] = _filled(argument, scope)
        if bindings.setdefault(variable, own[variable]) != own[variable]:
            return variable
    for parent in cast("tuple[object, ...]", getattr(cls, "__orig_bases__", ())):
        if get_args(parent) and (conflict := _bind(parent, own, bindings)) is not None:
            return conflict
    return None


def _filled(annotation: object, bindings: Mapping[object, object]) -> object:
    if isinstance(annotation, TypeVar):
        return bindings.get(annotation, annotation)
    if isinstance(annotation, type):
        return annotation
    variables = cast("tuple[object, ...]", getattr(annotation, "__parameters__", ()))
    if not variables or not bindings:
        return annotation
    generic = cast("Mapping[object, object]", annotation)
    return generic[tuple(bindings.get(variable, variable) for variable in variables)]
