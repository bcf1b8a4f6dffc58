"""The write lease of one mounted root, as a session takes it: again inside of itself, never twice.

What is written is not known here.
"""

import hashlib
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import Lock, to_thread

from holdfast.contract.errors import Unavailable
from holdfast.execution.files.troubles import told
from holdfast.execution.files.write_lease import LeaseTaken, WriteLease

_log = logging.getLogger("holdfast")


class SessionLease:
    """Of one session, for one root. Used on one event loop."""

    def __init__(self, folder: Path, mount: str, session_id: str) -> None:
        """``folder``: where the leases of all roots are kept."""
        name = hashlib.sha256(mount.encode(errors="surrogateescape")).hexdigest()[:32]
        self.file = folder / f"{name}.json"
        """What is locked, and says who has it."""
        self._mount = mount
        self._session_id = session_id
        self._taking = Lock()
        self._lease: WriteLease | None = None
        self._users = 0

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[WriteLease]:
        """Have it, once for all who ask for it in this session; Unavailable where others have."""
        async with self._taking:
            lease = self._lease = self._lease or await to_thread.run_sync(self._taken)
            self._users += 1
        try:
            yield lease
        finally:
            self._users -= 1
            if not self._users:
                self._lease = None
                lease.close()

    def _taken(self) -> WriteLease:
        try:
            return WriteLease(self.file, self._session_id)
        except LeaseTaken as taken:
            _log.info("%s: %s", self._mount, taken)
            raise Unavailable(
                f"Write access to {self._mount} is currently busy with another session",
                extras={"reason": "busy"},
            ) from None
        except OSError as problem:
            raise told(problem, str(self.file)) from problem
