"""The backends there are without registering any, for the whole process."""

import os

from holdfast.execution.backends.local import LocalBackend, LocalSettings, bubblewrap
from holdfast.execution.backends.opensandbox import OpenSandboxBackend
from holdfast.execution.backends.registry import Registry

BACKENDS = Registry(
    {
        "local": lambda: LocalBackend(LocalSettings()),
        "bubblewrap": lambda: bubblewrap(LocalSettings()),
        "opensandbox": lambda: OpenSandboxBackend(os.environ),
    }
)
