"""The variables of this process. The one place that reads them; everybody else is told.

Light on purpose: the command line asks here before anything heavy is loaded.
"""

import os
from collections.abc import Mapping

DEBUG_VARIABLE = "HOLDFAST_DEBUG"
MCP_TOKEN_VARIABLE = "HOLDFAST_MCP_TOKEN"
"""What clients of `holdfast mcp --http` have to send. No setting: it stands in no file."""
SERVE_TOKEN_VARIABLE = "HOLDFAST_SERVE_TOKEN"
"""The same for `holdfast serve`."""


def variables() -> Mapping[str, str]:
    """The environment as it is now."""
    return os.environ


def debugging() -> bool:
    """Whether a person wants to see tracebacks."""
    return os.environ.get(DEBUG_VARIABLE, "") not in {"", "0"}
