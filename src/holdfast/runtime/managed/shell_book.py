"""How the shells of an agent's sessions stand, by what their events tell and by the live process.

What goes on from command to command is written down here, and shown in files. How a command is run
is not known here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from holdfast.contract.managed.shell import CommandText
from holdfast.contract.managed.shell_views import ShellPosture, ShellState
from holdfast.contract.managed_events import ShellChanged
from holdfast.contract.paths import is_within
from holdfast.contract.ports import PathFacts, PathView
from holdfast.contract.shell import PersistentFacts
from holdfast.envelope.redact import Redactor
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.shell_events import ShellEvents
from holdfast.runtime.managed.shell_ledger import Kept, Ledger, durable
from holdfast.runtime.managed.shell_plans import posture_of, state_of
from holdfast.runtime.managed.shell_room import is_text
from holdfast.runtime.managed.shell_shown import shell_files

SHOWN = ("shell_last_output", "shell_history", "shell_state")
_WRITABLE = ("session_workspace", "repo_mount")


class Places(NamedTuple):
    """Where a session's commands may run."""

    workspace: str | None
    further: tuple[str, ...]
    """Roots beside the workspace, without links."""
    facts: PathFacts


class ShellBook:
    """As one session sees it."""

    def __init__(
        self,
        ground: Ground,
        places: Places,
        is_secret: Callable[[str], bool] = lambda _name: False,
        folder: ArtifactFolder | None = None,
    ) -> None:
        """``is_secret``: whether a variable of this name holds a secret."""
        self.ground = ground
        self.places = places
        self.folder = folder
        """Where it is shown; None: nowhere."""
        self.events = ShellEvents(ground, places.workspace)
        self._is_secret = is_secret
        self._private: dict[str, str] = {}
        """Values that are written down nowhere."""

    def live(self) -> PersistentFacts | None:
        """The calling session's persistent shell, as it is this moment; None: none lives here."""
        return self.ground.live_shell()

    async def state(self, session_id: str | None = None, /) -> ShellState:
        """What is durable of a session's shell; without an id, of the calling one."""
        ledger, live, known = await self._seen(session_id)
        return state_of(ledger, live, known)

    async def brief(self) -> ShellState:
        """The same of this session for an answer: `shell_history` has its commands."""
        return msgspec.structs.replace(await self.state(), recent_commands=())

    async def posture(self, session_id: str | None = None, /) -> ShellPosture:
        """What can be done with it. The live view counts for the calling session alone."""
        ledger, live, known = await self._seen(session_id)
        return posture_of(state_of(ledger, live, known), live, own=self.is_own(session_id))

    def is_own(self, session_id: str | None) -> bool:
        """Whether the calling session is meant."""
        return session_id is None or session_id == self.ground.session_id

    async def _seen(
        self, session_id: str | None
    ) -> tuple[Ledger, PersistentFacts | None, frozenset[str]]:
        ledger = await self.events.of(session_id)
        if not self.is_own(session_id):
            return ledger, None, frozenset()
        return ledger, self.live(), frozenset(self._private)

    async def values(self) -> Mapping[str, str]:
        """Every variable that later commands begin with, as far as it is known here."""
        return durable(await self.events.own(), self._private)

    async def change(
        self,
        *,
        cwd: str | None = None,
        variables: Mapping[str, str] | None = None,
        forgotten: Iterable[str] = (),
        process: tuple[str, str] | None = None,
    ) -> None:
        """Write down what is different from here on. ``process``: the persistent shell's id, and
        whether it is open.

        Not written down are the values of variables whose names say that they hold a secret, and of
        all that hold one that is known, be it from one of those.
        """
        given = variables or {}
        named = {name: value for name, value in given.items() if self._is_secret(name)}
        known = Redactor({*self._private.values(), *named.values()})
        private = named | {
            name: value
            for name, value in given.items()
            if known.text(self.ground.clean(value)) != value
        }
        changed = ShellChanged(
            cwd=cwd,
            set_env=tuple((name, value) for name, value in given.items() if name not in private),
            unset_env=tuple(forgotten),
            withheld_env=tuple(private),
            shell_id=None if process is None else process[0],
            status=None if process is None else process[1],
        )
        ledger = await self.events.own()
        if self.ground.log is None:
            ledger.change(changed, self.ground.clock.now().isoformat())
        else:
            await self.ground.log.append([changed])
        for name in (*given, *changed.unset_env):
            self._private.pop(name, None)
        self._private |= private

    async def keep(self, kept: Kept) -> None:
        """A command has run."""
        (await self.events.own()).keep(kept)
        self.events.said(kept.call_id)

    async def last(self, session_id: str | None = None) -> CommandText | None:
        """The last command."""
        commands = (await self.events.of(session_id)).commands
        return commands[0].text if commands else None

    async def show(self) -> None:
        """Write the files in which the session's hand sees its shell."""
        if self.folder is not None:
            await self.folder.show(await self.files())

    async def files(self) -> Mapping[str, str]:
        """What they say, by their names."""
        return shell_files(await self.state(), await self.last())

    def paths(self) -> tuple[str, ...]:
        """Where they are: one for each of what they show."""
        return () if self.folder is None else tuple(self.folder.paths(one)[0] for one in SHOWN)

    def placed(self, path: str, *, writable: bool = False) -> str | None:
        """Where a directory really is, if that is inside of what is mounted and can be written
        down; else None."""
        seen = self.places.facts.look(path, self.places.workspace)
        if not isinstance(seen, PathView) or not is_text(seen.physical):
            return None
        inside = any(is_within(seen.physical, root) for root in self.roots(writable=writable))
        return seen.physical if inside else None

    def roots(self, *, writable: bool = False) -> tuple[str, ...]:
        """Where commands may begin; ``writable``: commands that change something."""
        mounts = self.ground.mounts
        kinds = [one for one in mounts if not writable or one.kind in _WRITABLE]
        if mounts:
            return tuple(one.mount_path for one in kinds)
        own = (self.places.workspace,) if self.places.workspace else ()
        seen = [self.places.facts.look(one, None) for one in own]
        found = [one.physical for one in seen if isinstance(one, PathView)]
        return (*found, *self.places.further)
