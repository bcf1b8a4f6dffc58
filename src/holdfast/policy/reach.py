"""Where a use really leads, and whether the capabilities in force reach it.

A path is found by its text and on the disk, a URL becomes its host, a command text is judged as a
whole. What is out of reach is told with the requirement that would admit it. Rules are asked about
what a call comes upon, and not known here.
"""

from collections.abc import Callable, Mapping
from typing import cast

import msgspec

from holdfast.contract.gates import Access, HostLeave, PathLeave, Refusal, host_requirement
from holdfast.contract.ports import PathFacts, PathProblem, PathView
from holdfast.contract.rules import Use
from holdfast.contract.tool import Tool
from holdfast.policy import command_gate, containment
from holdfast.policy.host_rules import with_port
from holdfast.policy.hosts import Host, HostProblem, host_of
from holdfast.policy.paths import Refused, judge_path, normal_text
from holdfast.policy.places import Places
from holdfast.policy.powers import Looked
from holdfast.policy.scope import AdmittedHost, EffectiveScope
from holdfast.policy.tool_scopes import ToolScopes
from holdfast.policy.uses import analysed
from holdfast.policy.words import described

Against = Callable[[Use], str | None]
"""What rules say against something that a call comes upon; None: nothing."""

_CAPABILITY: dict[Access, str] = {"read": "fs.read", "write": "fs.write"}


class Folders(msgspec.Struct, frozen=True):
    """Places with a meaning of their own."""

    own: tuple[str, ...] = ()
    """The session's: they are read without asking."""
    kept: tuple[str, ...] = ()
    """Written by no call."""
    shared: Mapping[str, str] = {}
    """What is mounted to be read, without links, and what to do instead of writing there."""


NO_FOLDERS = Folders()


class Reach:
    """Looks at uses with the eyes of one session."""

    def __init__(
        self,
        scopes: ToolScopes,
        facts: PathFacts,
        places: Places,
        folders: Folders = NO_FOLDERS,
    ) -> None:
        self.scope = scopes.of
        """What counts for a tool."""
        self.agent = scopes.agent
        """What all tools of the session reach together."""
        self._facts = facts
        self.places = places
        self._base = places.base
        self._own = tuple(f"{folder.rstrip('/')}/" for folder in folders.own)
        self._kept = tuple(f"{folder.rstrip('/')}/" for folder in folders.kept)
        self._shared = {f"{path.rstrip('/')}/": said for path, said in folders.shared.items()}
        # Of a further root a path is told in full: from there, it would be taken for another one.
        self._roots = [
            f"{text.rstrip('/')}/"
            for place in places.workspace[:1]
            for text in dict.fromkeys(place)
        ]
        self._last_text: tuple[EffectiveScope, str, str | None] | None = None

    def __call__(self, tool: Tool, use: Use) -> Looked:
        """Find the target and see whether it is within reach."""
        if use.capability is None:
            return Looked(use)
        scope = self.scope(tool)
        if use.declared:
            return self._of_declared(scope, use)
        match use.kind:
            case "path":
                return self._of_path(scope, use)
            case "host":
                return self._of_host(scope, use)
            case "command":
                return self._of_command(scope, use)
            case _:
                return Looked(use, _refusal(scope.admits_capability(use.capability)))

    def _of_declared(self, scope: EffectiveScope, use: Use) -> Looked:
        """What a tool declares is in its own scope; a ceiling or parent has to hold all of it."""
        refusal = _refusal(scope.admits_capability(cast("str", use.capability)))
        if refusal is not None and use.kind == "path" and not self.places.workspace:
            refusal = f"{use.target!r} is relative, and no workspace is open; give workspace=."
        elif use.target and not all(containment.holds(layer, use) for layer in scope.layers[1:]):
            refusal = (
                f"{described(use)} is more than may be reached. {command_gate.BOUND_FROM_ABOVE}"
            )
        return Looked(use, refusal)

    def _of_path(self, scope: EffectiveScope, use: Use) -> Looked:
        access: Access = "read" if use.capability == "fs.read" else "write"
        seen = self._facts.look(use.target, self._base)
        if not isinstance(seen, PathView):
            return self._of_lost(scope, use, access, seen)
        found = self._placed(use, seen)
        if use.within is not None and (access == "read" or self._unwritten(seen) is None):
            # A redirection: the command text was judged as a whole, this one included.
            return Looked(found)
        if self._is_own(access, seen):
            return Looked(found, free=True)
        verdict = self._judged(scope, access, use.target, seen)
        return Looked(found, None if isinstance(verdict, PathLeave) else _said(verdict))

    def named(self, use: Use) -> Use:
        """A use of a path as rules compare it: from the workspace, by its text and on the disk."""
        seen = self._facts.look(use.target, self._base)
        if isinstance(seen, PathView):
            return self._placed(use, seen)
        return msgspec.structs.replace(use, target=normal_text(use.target))

    def path(
        self, tool: Tool, against: Against | None, access: Access, path: str
    ) -> PathLeave | Refusal:
        """Whether a body may open a path, and which one exactly: asked at the moment of use."""
        seen = self._facts.look(path, self._base)
        if isinstance(seen, PathView) and self._is_own(access, seen):
            return PathLeave(seen.physical)
        judged = self._judged(self.scope(tool), access, path, seen)
        if against is None or isinstance(judged, Refusal) or not isinstance(seen, PathView):
            return judged
        use = Use(capability=_CAPABILITY[access], kind="path", target=path)
        said = against(self._placed(use, seen))
        return judged if said is None else Refusal(target=path, reason=said)

    def _is_own(self, access: Access, seen: PathView) -> bool:
        return access == "read" and bool(self._own) and seen.physical.startswith(self._own)

    def _judged(
        self, scope: EffectiveScope, access: Access, path: str, seen: PathView | PathProblem
    ) -> PathLeave | Refusal:
        said = self._unwritten(seen) if isinstance(seen, PathView) and access == "write" else None
        if said is not None:
            return Refusal(target=path, reason=f"{path!r} {said}")
        verdict = scope.judge_seen(access, path, seen)
        if not isinstance(verdict, Refused):
            return PathLeave(verdict.canonical)
        if isinstance(seen, PathProblem):
            lexical = seen.lexical
            if lexical is None or _fits(scope, access, lexical):
                return Refusal(target=path, reason=verdict.reason)
            # Refused by its text: nothing of the answer may come from what lies there.
            seen = PathView(lexical, lexical)
        declared = judge_path([scope.layers[0].paths(access)], access, path, seen)
        if not isinstance(declared, Refused):
            return Refusal(target=path, reason=f"{verdict.reason} {command_gate.BOUND_FROM_ABOVE}")
        if _fits(scope, access, seen.lexical):
            reason = f"{verdict.reason} Name the place it leads to instead."
            return Refusal(target=path, reason=reason)
        wanted = f"requires.fs.{access} = [{self._relative(seen.lexical)!r}]"
        return Refusal(target=path, reason=verdict.reason, requirement=wanted)

    def _of_lost(
        self, scope: EffectiveScope, use: Use, access: Access, seen: PathProblem
    ) -> Looked:
        found = self._by_text(use, seen)
        if use.within is not None:
            return Looked(found)
        return Looked(found, _refusal(scope.judge_seen(access, use.target, seen)))

    def _unwritten(self, seen: PathView) -> str | None:
        """Why no call writes there; None: nothing of the kind."""
        for path in (f"{seen.physical}/", f"{seen.lexical}/"):
            for folder, instead in self._shared.items():
                if path.startswith(folder):
                    return f"is mounted to be read alone. {instead}".rstrip()
            if path.startswith(self._kept):
                return "is holdfast's own; no call writes there."
        return None

    def _placed(self, use: Use, seen: PathView) -> Use:
        lexical = self._relative(seen.lexical)
        others: tuple[str, ...] = ()
        if seen.physical != seen.lexical:
            physical = self._relative(seen.physical)
            others = () if physical == lexical else (physical,)
        if lexical == use.target and not others:
            return use
        return Use(
            capability=use.capability,
            kind="path",
            target=lexical,
            spellings=others,
            within=use.within,
            doubt=use.doubt,
        )

    def _by_text(self, use: Use, seen: PathProblem) -> Use:
        """The same where nobody can say where it leads: by its text alone, and in doubt."""
        text = normal_text(use.target) if seen.lexical is None else self._relative(seen.lexical)
        return Use(
            capability=use.capability,
            kind="path",
            target=text,
            within=use.within,
            doubt=use.doubt or f"where {use.target!r} leads is not known",
        )

    def _relative(self, path: str) -> str:
        """As people write it: from the workspace, where it lies in it."""
        for root in self._roots:
            if path.startswith(root):
                return path[len(root) :]
            if path == root[:-1]:
                return "."
        return path

    def _of_host(self, scope: EffectiveScope, use: Use) -> Looked:
        host = host_of(use.target)
        if isinstance(host, HostProblem):
            return Looked(use, f"The host is refused: {host.reason}.")
        found = _of_host(host, use.capability, use.doubt)
        verdict = self._reached(scope, use.target, host)
        return Looked(found, None if isinstance(verdict, HostLeave) else _said(verdict))

    def host(self, tool: Tool, against: Against | None, text: str) -> HostLeave | Refusal:
        """Whether a body or a process may reach a host, and which addresses of it."""
        host = host_of(text)
        if isinstance(host, HostProblem):
            return Refusal(target=text, reason=f"The host is refused: {host.reason}.")
        judged = self._reached(self.scope(tool), text, host)
        if against is None or isinstance(judged, Refusal):
            return judged
        said = against(_of_host(host, "net.fetch", None))
        return judged if said is None else Refusal(target=host.name, reason=said)

    def _reached(self, scope: EffectiveScope, text: str, host: Host) -> HostLeave | Refusal:
        verdict = scope.admits_host(text)
        if isinstance(verdict, AdmittedHost):
            return HostLeave(host.name, host.port, verdict.admits_address)
        if scope.layers[0].hosts.match(host) is not None:
            return Refusal(
                target=host.name, reason=f"{verdict.reason} {command_gate.BOUND_FROM_ABOVE}"
            )
        wanted = host_requirement(host.name, host.port)
        return Refusal(target=host.name, reason=verdict.reason, requirement=wanted)

    def _of_command(self, scope: EffectiveScope, use: Use) -> Looked:
        text = use.target if use.within is None else use.within
        known = self._last_text
        if known is None or known[0] is not scope or known[1] != text:
            found = analysed(text)
            refusal = _refusal(scope.admits_command(found))
            if refusal is not None:
                refusal = f"{refusal} {command_gate.what_would_admit(scope, found)}"
            # Every part of a text asks about the whole of it, one after the other.
            known = self._last_text = (scope, text, refusal)
        return Looked(use, known[2])


def _of_host(host: Host, capability: str | None, doubt: str | None) -> Use:
    return Use(
        capability=capability,
        kind="host",
        target=host.name,
        spellings=() if host.port is None else (with_port(host),),
        doubt=doubt,
    )


def _fits(scope: EffectiveScope, access: Access, lexical: str) -> bool:
    return all(layer.paths(access).admit_text(lexical) for layer in scope.layers)


def _said(refusal: Refusal) -> str:
    if refusal.requirement is None:
        return refusal.reason
    return f"{refusal.reason} It would be admitted by {refusal.requirement}, or by [policy.reach]."


def _refusal(verdict: object) -> str | None:
    reason = getattr(verdict, "reason", None)
    return reason if isinstance(reason, str) else None
