"""Which language server ships with what: the ones that need no configuration where installed."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from holdfast.execution.language_servers.server import ServerCommand

PYTHON = "python"
PYTHON_EXTENSIONS = (".py", ".pyi")
_PYTHON_SERVER = "basedpyright-langserver"


def python_server(environment: Mapping[str, str]) -> ServerCommand | None:
    """The one for Python: beside the running Python, or on the path; None: not installed."""
    beside = str(Path(sys.executable).parent)
    path = f"{beside}:{environment.get('PATH', '')}"
    program = shutil.which(_PYTHON_SERVER, path=path)
    if program is None:
        return None
    return ServerCommand(PYTHON, (program, "--stdio"), PYTHON_EXTENSIONS)
