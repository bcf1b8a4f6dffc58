"""The backends there are without registering any, for the whole process."""

import os
import threading
from collections.abc import Callable

from holdfast.contract.audit import NO_AUDIT, AuditLog, ProgramRun
from holdfast.execution.backends.local import LocalBackend, LocalSettings, bubblewrap
from holdfast.execution.backends.opensandbox import OpenSandboxBackend
from holdfast.execution.backends.registry import Registry


class LateAudit:
    """An audit log that is found when the first program was run: until then nobody needs it."""

    def __init__(self) -> None:
        self._found: AuditLog = NO_AUDIT
        self._find: Callable[[], AuditLog] | None = None
        self._lock = threading.Lock()

    def found_by(self, find: Callable[[], AuditLog]) -> None:
        """Where it is written from now on."""
        with self._lock:
            self._find = find

    def ran(self, run: ProgramRun, /) -> None:
        """Write it down."""
        with self._lock:
            find, self._find = self._find, None
            if find is not None:
                self._found = find()
        self._found.ran(run)


AUDIT = LateAudit()
"""Where the programs of these backends are written down; who puts the whole together says so."""

BACKENDS = Registry(
    {
        "local": lambda: LocalBackend(LocalSettings(audit=AUDIT)),
        "bubblewrap": lambda: bubblewrap(LocalSettings(audit=AUDIT)),
        "opensandbox": lambda: OpenSandboxBackend(os.environ),
    }
)
