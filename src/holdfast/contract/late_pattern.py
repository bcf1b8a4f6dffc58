"""Regular expressions that are compiled when they are first used.

Most expressions of a module are for text that this process never sees, and compiling one takes
longer than loading the module. An expression that is wrong is found by a test of all of them.
"""

import re
from typing import AnyStr, Generic, cast


class LatePattern(Generic[AnyStr]):
    """What looks like a pattern from outside."""

    def __init__(self, expression: AnyStr, flags: int) -> None:
        self.pattern, self.given_flags = expression, flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self.pattern, self.given_flags), name)
        self.__dict__[name] = found  # from here on this method is not asked
        return found


def late_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern to match with; not one to hand to functions of `re`."""
    return cast("re.Pattern[AnyStr]", LatePattern(expression, flags))
