"""A built-in tool as it is written: a typed function, and what is declared of it.

Its signature is its schema and its docstring its description, as with every function tool; who
derives them is not known here.
"""

from collections.abc import Callable
from typing import Unpack

import msgspec

from holdfast.contract.tool_options import ToolOptions


class Builtin(msgspec.Struct, frozen=True):
    """A function that is to become a tool."""

    function: Callable[..., object]
    options: ToolOptions

    @property
    def name(self) -> str:
        """The name models call."""
        return self.options.get("name", self.function.__name__)

    def face(self, name: str, description: str) -> "Builtin":
        """The same tool under another name: same arguments, same answer."""
        options = self.options.copy()
        options["name"], options["description"] = name, description
        return Builtin(self.function, options)


def builtin(**options: Unpack[ToolOptions]) -> Callable[[Callable[..., object]], Builtin]:
    """Declare a built-in tool: ``@builtin(requires={...}, ...)``."""
    return lambda function: Builtin(function, options)
