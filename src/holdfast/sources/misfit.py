"""Why a value does not fit a type, and where: one form for msgspec's, pydantic's and our errors."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from holdfast.contract.tool import ArgumentFault

Step = str | int

_MSGSPEC_PLACE = re.compile(r"(.*?) - at (?:`key` in )?`\$(.*)`", re.DOTALL)
_MSGSPEC_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


class Misfit(ValueError):
    """A value that does not fit, with the way to it from the value being decoded."""

    def __init__(self, message: str, path: tuple[Step, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def misfit_of(problem: Exception, *before: Step) -> Misfit:
    """Read any error a conversion may raise; the steps say where the conversion was."""
    if isinstance(problem, Misfit):
        return Misfit(problem.message, (*before, *problem.path))
    found = _MSGSPEC_PLACE.fullmatch(str(problem))
    path: tuple[Step, ...] = ()
    message = str(problem)
    if found is not None:
        message, path = found.group(1), _steps(found.group(2))
    inner = _pydantic_error(problem) or _pydantic_error(problem.__cause__)
    if inner is not None:
        message, path = inner.message, (*path, *inner.path)
    return Misfit(message or type(problem).__name__, (*before, *path))


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
    errors = getattr(problem, "errors", None)
    if not callable(errors):
        return None
    listed = cast("list[Mapping[str, object]]", errors())
    if not listed:
        return None
    location = cast("Iterable[Step]", listed[0].get("loc", ()))
    return Misfit(str(listed[0].get("msg", problem)), tuple(location))


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
