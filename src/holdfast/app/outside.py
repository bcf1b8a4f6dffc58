"""Tools from elsewhere, kept up to date in a session's catalog: those of manifests and of servers.

What changes at its source is taken over when the session says so, between two turns: a call finds
the tools as they were when its turn began. Who may call them is not known here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from holdfast.app import manifests, servers
from holdfast.app.profiles import shipped_names
from holdfast.app.settings import LimitSettings, limited
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.visibility import Admits
from holdfast.sources.mcp.states import ServerState

Vouch = Callable[[list[Tool]], Mapping[str, str]]
"""By tool, on which grounds it runs where no rule speaks."""


class Bounds(NamedTuple):
    """What a host, a profile and an agent make of every tool."""

    limits: LimitSettings
    visibilities: tuple[Admits, ...]
    """What each of them admits can be seen."""

    def applied(self, tools: Iterable[Tool]) -> list[Tool]:
        """The tools under the host's limits, as far as they are shown."""
        return [
            limited(tool, self.limits)
            for tool in tools
            if all(one.admits(tool.name) for one in self.visibilities)
        ]


class Outside:
    """What a session has from elsewhere."""

    def __init__(
        self,
        catalog: Catalog,
        bounds: Bounds,
        named: "Iterable[manifests.NamedManifest]" = (),
    ) -> None:
        """ToolDefinitionError for a name that is taken; ConfigurationError for a manifest."""
        self._catalog = catalog
        self._bounds = bounds
        self._manifests = tuple(named)
        self._names: dict[object, list[str]] = {}
        self._declared: dict[object, list[str]] = {}
        self._conflicts: dict[object, str] = {}
        self._vouched: dict[object, Mapping[str, str]] = {}
        self.vouched: dict[str, str] = {}
        """By tool, on which grounds it runs where no rule speaks. Changes with the tools."""
        self.servers: servers.SessionServers | None = None
        """They are started with the session's hand, and so come last."""
        self.notices: Mapping[str, tuple[str, ...]] = {}
        """By server, what is doubtful about its configuration, or why it was left out."""
        self.left_out: tuple[ServerState, ...] = ()
        """Servers that cannot be used as they are configured, where none were chosen by name."""
        self._check: Callable[[Tool], object] = _check_nothing
        self.changed: Callable[[], None] = _tell_nobody
        """Called when the tools are others than before."""
        for one in self._manifests:
            self._exchange(one.source, one.checked(), one.vouched)

    @property
    def may_change(self) -> bool:
        """Whether there is any source at all."""
        return bool(self._manifests) or self.servers is not None

    def judged_by(self, check: Callable[[Tool], object]) -> None:
        """From here on, what cannot be judged is not had; ToolDefinitionError for what is had."""
        self._check = check
        for tool in self.tools():
            check(tool)

    async def open(self, patience: float) -> None:
        """Connect the servers, and have the tools of those that are there in so many seconds."""
        if self.notices:
            self._catalog.absent = servers.Absent({}, (), self.notices)
        if self.servers is not None:
            await self.servers.open(patience)
            if self._take_servers(self.servers):
                self.changed()

    async def close(self) -> None:
        """End the servers. Their tools stay known, and cannot be called."""
        if self.servers is not None:
            await self.servers.close()

    def take_changes(self) -> bool:
        """Have the tools as their sources have them now; whether that is something else.

        What cannot be had as a whole stays as it was, and `remarks` says why.
        """
        changed = False
        for one in self._manifests:
            if one.source.changed():
                changed = self._try(one.source, one.source.tools(), one.vouched) or changed
        if self.servers is not None and self.servers.take_changes():
            changed = self._take_servers(self.servers) or changed
        if changed:
            self.changed()
        return changed

    def tools(self) -> tuple[Tool, ...]:
        """All that came from elsewhere, as they are now."""
        names = [name for names in self._names.values() for name in names]
        found = (self._catalog.get(name) for name in names)
        return tuple(tool for tool in found if tool is not None)

    def declared(self) -> list[str]:
        """The names of all that sources declare, also of what the profile hides."""
        return [name for names in self._declared.values() for name in names]

    def states(self) -> tuple[ServerState, ...]:
        """How each MCP server stands."""
        return (*(() if self.servers is None else self.servers.states()), *self.left_out)

    async def pin(
        self, server: str, tool: str | None, seen: Mapping[str, str] | None
    ) -> tuple[str, ...]:
        """Accept what a server says of its tools, if it is what was seen; LookupError."""
        if self.servers is None:
            raise LookupError(f"there is no MCP server {server!r}: none is configured")
        accepted = await self.servers.pin(server, tool, seen)
        self.servers.take_changes()
        if self._take_servers(self.servers):
            self.changed()
        return accepted

    def remarks(self, *, settled: bool = False) -> tuple[str, ...]:
        """What is doubtful: a file that was broken, a name that is taken, a server that is gone.

        ``settled``: without servers that are being connected.
        """
        broken = [
            f"{one.source.path}: {one.source.problem}; its tools are those from before"
            for one in self._manifests
            if one.source.problem is not None
        ]
        missing = [lost.text for one in self._manifests for lost in one.source.missing()]
        told = [said for notices in self.notices.values() for said in notices]
        told += () if self.servers is None else self.servers.remarks(settled=settled)
        return (*broken, *missing, *self._conflicts.values(), *told)

    def _take_servers(self, source: "servers.SessionServers") -> bool:
        mine = self._names.get(_SERVERS, [])
        # Also what another profile has: a rule about a tool that ships is about no other.
        taken = ({tool.name for tool in self._catalog} - {*mine}) | shipped_names()
        changed = self._try(_SERVERS, source.tools(taken), _nobody)
        self._catalog.absent = source.absent(self.notices)
        return changed

    def _try(
        self,
        source: object,
        tools: Iterable[Tool],
        vouch: Callable[[list[Tool]], Mapping[str, str]],
    ) -> bool:
        """Exchange, and where that fails, remember why."""
        before = [self._catalog.get(name) for name in self._names.get(source, [])]
        try:
            self._exchange(source, tools, vouch)
        except ToolDefinitionError as problem:
            self._conflicts[source] = f"{problem}; the tools of its source are those from before"
            return False
        self._conflicts.pop(source, None)
        return before != [self._catalog.get(name) for name in self._names[source]]

    def _exchange(
        self,
        source: object,
        tools: Iterable[Tool],
        vouch: Callable[[list[Tool]], Mapping[str, str]],
    ) -> None:
        declared = list(tools)
        wanted = self._bounds.applied(declared)
        for tool in wanted:
            self._check(tool)
        self._catalog.exchange(self._names.get(source, []), wanted)
        self._names[source] = [tool.name for tool in wanted]
        self._declared[source] = [tool.name for tool in declared]
        self._vouched[source] = vouch(wanted)
        self.vouched.clear()
        for grounds in self._vouched.values():
            self.vouched.update(grounds)


_SERVERS = "servers"


def _nobody(_tools: list[Tool]) -> Mapping[str, str]:
    return {}


def _check_nothing(_tool: Tool) -> None:
    """Nobody judges yet."""


def _tell_nobody() -> None:
    """Nobody watches."""
