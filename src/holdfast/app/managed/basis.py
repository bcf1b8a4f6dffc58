"""What the parts of a managed session find of each other, and what all of them are made from.

Each part is made when somebody first asks for it. What they do is not known here.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeAlias

import msgspec

from holdfast.app.later_hand import LaterHand
from holdfast.app.managed.session_shell import SessionShell
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.call import RawArguments
from holdfast.contract.delegation import ChildSessions
from holdfast.contract.events import SessionCreated
from holdfast.contract.failure import Failure
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.mounts import Mount
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.skills import Skill, Skills
from holdfast.contract.vectors import Embedder, VectorBackend
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.explain import Explanation
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.gate import Gate
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.managed.memory_book import MemoryBook
from holdfast.runtime.managed.recall import Recall
from holdfast.runtime.managed.setup_book import SetupBook
from holdfast.runtime.managed.surveying import Brought
from holdfast.runtime.session_log import SessionLog

Explain: TypeAlias = Callable[[str, RawArguments], Awaitable[Explanation | Failure]]
"""How a call would be judged; a failure when it would not even get that far."""


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
    children: Callable[[], ChildSessions]
    offer: Callable[[Iterable[str]], None] = lambda _names: None
    """Has tools of these names offered to the model from its next request on."""
    mounts: tuple[Mount, ...] = ()
    policy: Callable[[], SandboxPolicy] = SandboxPolicy
    """What its processes are confined to, all tools together."""
    against_writing: Callable[[Runtime, str], str | None] = lambda _call, _path: None
    """What rules say against a call that writes to a path; None: nothing."""
    vectors: VectorBackend | None = None
    """The program's own, who finds events by what they mean; None: there is none."""
    embedder: Embedder | None = None
    """The program's own, who makes vectors for the index that ships; None: there is none."""


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
    setup: SetupBook
    """Who knows what the agent's sessions are set up as."""
    explain: Explain | None
    """Tells how a call would be judged; None: nobody does as yet."""
    artifacts: ArtifactFolder | None
    """Where what is known of the session is shown to its own hand; None: it has no workspace."""
    brought: Brought
    """What others know and do around a run, and who says what is in which artifact."""
    memory: MemoryBook
    """Who keeps what outlives a run."""
    vectors: VectorBackend | None
    """Who finds events by what they mean; None: nobody."""
    recall: Recall
    """Who looks for what a run may want to remember when it begins."""

    def stores(self) -> Awaitable[Stores]:
        """The stores of all sessions; JournalUnavailable."""
        ...


def skill_list(parts: ManagedParts) -> tuple[Skill, ...]:
    """The skills that can be loaded."""
    return parts.skills().all()
