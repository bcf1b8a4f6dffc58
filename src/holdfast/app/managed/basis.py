"""What the parts of a managed session find of each other, and what all of them are made from.

Each part is made when somebody first asks for it. What they do is not known here.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from holdfast.app.later_hand import LaterHand
from holdfast.app.managed.session_shell import SessionShell
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import SessionCreated
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.mounts import Mount
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.skills import Skill, Skills
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.managed.gate import Gate
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.session_log import SessionLog


class ManagedParts(msgspec.Struct, frozen=True, kw_only=True):
    """What the managed part of one session is made from."""

    session: SessionFacts
    settings: Settings
    surroundings: Surroundings
    catalog: Catalog
    hand: LaterHand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource
    redactor: Redactor
    log: SessionLog | None
    created: SessionCreated
    skills: Callable[[], Skills]
    mounts: tuple[Mount, ...] = ()


class Basis(Protocol):
    """The managed part of a session, as one of its parts sees it."""

    parts: ManagedParts
    ground: Ground
    """What all of it stands on."""
    judging: Judging
    """Who knows how far it came with its outcome."""
    gate: Gate
    """Who is asked before anything is shared."""
    shells: SessionShell
    """The session's shell in its parts."""
    shell: ShellView
    """Who knows how it stands, and how those of other sessions do."""

    def stores(self) -> Awaitable[Stores]:
        """The stores of all sessions; JournalUnavailable."""
        ...


def skill_list(parts: ManagedParts) -> tuple[Skill, ...]:
    """The skills that can be loaded."""
    return parts.skills().all()
