"""Where in a definition a problem lies, so that its message can say so.

It knows how to word a place, and nothing of what may be wrong there.
"""

from typing import NoReturn

import msgspec

from holdfast.contract.tool import ToolDefinitionError


class Place(msgspec.Struct, frozen=True):
    """A parameter, or a part of its type."""

    owner: str
    """For example ``function 'weather'``."""
    parameter: str | None = None
    path: str = ""
    """Below the parameter, for example ``.lines[].price``."""
    open_types: tuple[object, ...] = ()
    """The types this place is inside of: meeting one again is recursion."""

    def below(self, step: str) -> "Place":
        """The place one step further in."""
        return msgspec.structs.replace(self, path=self.path + step)

    def inside(self, kind: object) -> "Place":
        """The same place, remembering a type that must not contain itself."""
        return msgspec.structs.replace(self, open_types=(*self.open_types, kind))

    def refuse(self, problem: str) -> NoReturn:
        """Raise, saying where and what."""
        where = self.owner
        if self.parameter is not None:
            where += f", parameter '{self.parameter}'"
        if self.path:
            where += f" (at `{self.parameter or 'result'}{self.path}`)"
        raise ToolDefinitionError(f"{where}: {problem}")
