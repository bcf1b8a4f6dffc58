"""Why a value does not fit a type, and where: one form for msgspec's, pydantic's and our errors."""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol, cast, runtime_checkable

from holdfast.contract.json_value import text_of
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.tool import ArgumentFault

Step = str | int

_MSGSPEC_PLACE = late_pattern(r"(.*?) - at (?:`key` in )?`\$(.*)`", re.DOTALL)
_MSGSPEC_STEP = late_pattern(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


@runtime_checkable
class _PydanticError(Protocol):
    def error_count(self) -> int: ...

    def errors(self) -> list[Mapping[str, object]]: ...


class Misfit(ValueError):
    """A value that does not fit, with the way to it from the value being decoded."""

    def __init__(
        self, message: str, path: tuple[Step, ...] = (), *, other_kind: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.other_kind = other_kind
        """The value looks as if another kind of record was meant."""


def misfit_of(problem: Exception, *before: Step) -> Misfit:
    """Read any error a conversion may raise; the steps say where the conversion was."""
    if isinstance(problem, Misfit):
        path = (*before, *problem.path)
        return Misfit(problem.message, path, other_kind=problem.other_kind)
    message = text_of(problem)
    found = _MSGSPEC_PLACE.fullmatch(message)
    steps: tuple[Step, ...] = ()
    if found is not None:
        message, steps = found.group(1), _steps(found.group(2))
    inner = _pydantic_error(problem) or _pydantic_error(problem.__cause__)
    if inner is not None:
        message, steps = inner.message, (*steps, *inner.path)
    return Misfit(message or type(problem).__name__, (*before, *steps))


def _steps(place: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for step in _MSGSPEC_STEP.finditer(place):
        name, index = step.groups()
        if index == "...":
            # msgspec does not say under which key of a mapping it was.
            break
        steps.append(name if name is not None else int(index))
    return tuple(steps)


def _pydantic_error(problem: BaseException | None) -> Misfit | None:
    """The first thing a pydantic error says; such an error is known by its methods."""
    if not isinstance(problem, _PydanticError):
        return None
    first = problem.errors()[0]
    return Misfit(str(first["msg"]), tuple(cast("Iterable[Step]", first["loc"])))


def fault_of(misfit: Misfit) -> ArgumentFault:
    """Say it to a model."""
    field = _written(misfit.path)
    message = f"Argument `{field}`: {misfit.message}" if field else misfit.message
    return ArgumentFault(message=message, field=field or None)


def _written(path: tuple[Step, ...]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
