"""What an agent may do: compiled requirements, in layers that all have to agree.

    declared   the union of what the agent and each of its tools require
    ceiling    what the host allows at most; without one the union stands as it is
    parent     for a subagent: everything its parent is bound by (`child_of`)
    own        in strict mode: what the calling tool itself requires (`strictly`)

A layer only ever narrows: there is no way to add to one and none to take one away. What is not
declared is not permitted. The world is asked through `PathFacts` alone.
"""

from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

import msgspec

from holdfast.contract.gates import Access
from holdfast.contract.ports import PathFacts, PathProblem, PathView
from holdfast.contract.requirements import (
    NOTHING_REQUIRED,
    FsRequirement,
    NetRequirement,
    RequirementSet,
)
from holdfast.contract.tool import Tool
from holdfast.contract.variables import expand
from holdfast.policy.addresses import Address
from holdfast.policy.commands import ShellText, admits_command, analyse
from holdfast.policy.host_patterns import (
    HostMatch,
    HostPatterns,
    admits_address,
    judge_hops,
)
from holdfast.policy.hosts import Host, HostProblem, host_of
from holdfast.policy.paths import PathPatterns, PathVerdict, Refused, judge_path
from holdfast.policy.places import Places

CAPABILITIES = ("fs.read", "fs.write", "shell.run", "net.fetch", "secrets.has", "stream.send")
"""The names in use. The first four have patterns behind them, the others are granted by name."""

ANY_HOST = "*"


class AdmittedHost(msgspec.Struct, frozen=True):
    """Leave to dial a host, at addresses that `admits_address` admits."""

    host: Host
    matches: tuple[HostMatch, ...]

    def admits_address(self, address: Address | str) -> bool:
        """Whether the host may be dialled at the address it was resolved to."""
        return all(admits_address(match, address) for match in self.matches)


class Admitted(msgspec.Struct, frozen=True):
    """Leave."""


HostVerdict: TypeAlias = AdmittedHost | Refused
Leave: TypeAlias = Admitted | Refused

_LEAVE = Admitted()


class Scope:
    """One compiled set of requirements."""

    __slots__ = ("hosts", "places", "read", "requirements", "write")

    def __init__(self, requirements: RequirementSet, places: Places) -> None:
        self.requirements = requirements
        self.places = places
        self.read = PathPatterns(requirements.fs.read, places)
        self.write = PathPatterns(requirements.fs.write, places)
        # Every variable stands for directories: a host pattern that holds one admits nothing.
        self.hosts = HostPatterns(
            host for pattern in requirements.net.hosts for host in expand(pattern, {})
        )

    def paths(self, access: Access) -> PathPatterns:
        """The patterns for reading or for writing: neither includes the other."""
        return self.read if access == "read" else self.write

    def declares(self, capability: str) -> bool:
        """Whether anything is granted under the name."""
        declared = self.requirements
        match capability:
            case "fs.read":
                return bool(self.read.canonical)
            case "fs.write":
                return bool(self.write.canonical)
            case "net.fetch":
                return bool(self.hosts.atoms)
            case "shell.run":
                return bool(declared.shell)
            case _:
                return capability in declared.capabilities


def compile_scope(requirements: RequirementSet, places: Places) -> Scope:
    """Compile requirements; a ValueError names the pattern that can not be compiled."""
    return Scope(requirements, places)


def union(sets: Iterable[RequirementSet]) -> RequirementSet:
    """Everything any of the sets asks for. The order of the sets does not matter."""
    given = list(sets)
    commands = {command for one in given for command in one.shell}
    return RequirementSet(
        fs=FsRequirement(
            read=_merged(one.fs.read for one in given),
            write=_merged(one.fs.write for one in given),
        ),
        net=NetRequirement(hosts=_merged(one.net.hosts for one in given)),
        shell=tuple(sorted(commands, key=msgspec.json.encode)),
        capabilities=_merged(one.capabilities for one in given),
    )


def shared(tool: Tool) -> RequirementSet:
    """What of a tool's requirements counts for all: not `*` as a host, where an argument names it.

    Each such call is judged by its host. Processes are not asked about theirs: what one tool may
    fetch anywhere must not let every command send anywhere. What a tool has alone counts for it.
    """
    if tool.alone is not None:
        return NOTHING_REQUIRED
    if not has_hosts_of_its_own(tool):
        return tool.requires
    named = tuple(host for host in tool.requires.net.hosts if host != ANY_HOST)
    return msgspec.structs.replace(tool.requires, net=NetRequirement(hosts=named))


def has_hosts_of_its_own(tool: Tool) -> bool:
    """Whether a tool may be called with any host."""
    names_hosts = any(use.capability == "net.fetch" for use in tool.uses)
    return names_hosts and ANY_HOST in tool.requires.net.hosts


class EffectiveScope:
    """Layers that all have to admit what is done."""

    __slots__ = ("_base", "_facts", "_paths", "layers")

    def __init__(self, declared: Scope, facts: PathFacts, *narrowing: Scope) -> None:
        self.layers = tuple(dict.fromkeys((declared, *narrowing)))
        self._base = declared.places.base
        self._facts = facts
        self._paths: dict[Access, list[PathPatterns]] = {
            "read": [layer.read for layer in self.layers],
            "write": [layer.write for layer in self.layers],
        }

    def narrowed(self, *layers: Scope) -> "EffectiveScope":
        """The same within further layers."""
        return EffectiveScope(self.layers[0], self._facts, *self.layers[1:], *layers)

    def admits_path(self, access: Access, path: str) -> PathVerdict:
        """Judge a path as it is written; a relative one begins at the workspace root."""
        seen = self._facts.look(path, self._base)
        return self.judge_seen(access, path, seen)

    def judge_seen(self, access: Access, path: str, seen: PathView | PathProblem) -> PathVerdict:
        """The same for a path that was looked at before."""
        return judge_path(self._paths[access], access, path, seen)

    def admits_url(self, url: str, redirects: Iterable[str] = ()) -> HostVerdict:
        """Judge where a URL leads, and each redirect after it."""
        hops = list(redirects)
        matches: list[HostMatch] = []
        for layer in self.layers:
            judged = judge_hops(layer.hosts, url, hops)
            if isinstance(judged, str):
                return Refused(judged)
            matches.append(judged)
        return AdmittedHost(matches[0].host, tuple(matches))

    def admits_host(self, text: str) -> HostVerdict:
        """Judge a host, ``host:port`` or URL; without a port, every port has to be granted."""
        host = host_of(text)
        if isinstance(host, HostProblem):
            return Refused(f"The host is refused: {host.reason}.")
        matches = [layer.hosts.match(host) for layer in self.layers]
        granted = tuple(match for match in matches if match is not None)
        if len(granted) < len(matches):
            return Refused(f"No granted host pattern admits {host.name!r}.")
        return AdmittedHost(host, granted)

    def admits_command(self, command: str | ShellText) -> Leave:
        """Judge a command text: every command in it, and every file its redirections open."""
        text = analyse(command) if isinstance(command, str) else command
        for place, layer in enumerate(self.layers):
            may_touch = partial(self._may_touch, layer)
            if not admits_command(layer.requirements.shell, text, may_touch):
                listed = "may run" if place else "`requires` declares"
                return Refused(f"The command is not among those that {listed}.")
        return _LEAVE

    def admits_capability(self, name: str) -> Leave:
        """Judge a capability by its name."""
        if all(layer.declares(name) for layer in self.layers):
            return _LEAVE
        return Refused(f"The capability {name!r} is not declared.")

    def _may_touch(self, layer: Scope, access: Access, path: str) -> bool:
        seen = self._facts.look(path, self._base)
        verdict = judge_path([layer.paths(access)], access, path, seen)
        return not isinstance(verdict, Refused)


def child_of(parent: EffectiveScope, child: EffectiveScope) -> EffectiveScope:
    """What a subagent may do: what it may do by itself, as far as its parent may do it too."""
    return child.narrowed(*parent.layers)


def strictly(scope: EffectiveScope, own: Scope) -> EffectiveScope:
    """For one call in strict mode: only what the calling tool itself requires."""
    return scope.narrowed(own)


def _merged(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({item for items in lists for item in items}))
