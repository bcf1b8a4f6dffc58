"""The surroundings of a program that a test starts: it imports this tree, whatever is installed."""

import os
from collections.abc import Mapping
from pathlib import Path

TESTS = Path(__file__).parent
_OURS = (TESTS.parent / "src", TESTS)


def this_tree(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of such a program: those given, or those of this one."""
    given = os.environ if variables is None else variables
    before = given.get("PYTHONPATH")
    path = [*map(str, _OURS), *([before] if before else [])]
    return {**given, "PYTHONPATH": os.pathsep.join(path)}
