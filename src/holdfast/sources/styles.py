"""How a body runs, told from what kind of function it is."""

import inspect
from collections.abc import Callable

from holdfast.contract.tool import RunStyle, ToolDefinitionError


def called_part(function: Callable[..., object]) -> Callable[..., object]:
    """The function that runs: for a callable object, its `__call__`."""
    return function if inspect.isroutine(function) else function.__call__


def run_style(function: Callable[..., object], owner: str, *, inline: bool) -> RunStyle:
    """Awaited, iterated, in a thread, or in place if the author says so."""
    called = called_part(function)
    style: RunStyle = "thread"
    if inspect.iscoroutinefunction(called):
        style = "async"
    elif inspect.isasyncgenfunction(called):
        style = "async_generator"
    elif inspect.isgeneratorfunction(called):
        style = "generator"
    if not inline:
        return style
    if style != "thread":
        raise ToolDefinitionError(
            f"{owner}: inline is for plain synchronous functions; this one runs as {style}"
        )
    return "inline"
