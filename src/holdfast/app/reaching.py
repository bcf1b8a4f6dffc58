"""What the calls of a session reach: requirements of its tools, ceilings, and what stands above."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from holdfast.app.judging import JudgeParts
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import ceilings_of
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.requirement_tables import requirements_of
from holdfast.contract.ports import PathView
from holdfast.contract.requirements import FsRequirement, RequirementSet
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.globs import escaped
from holdfast.policy.places import PlaceProblem, Places, places_of
from holdfast.policy.reach import Folders, Reach
from holdfast.policy.scope import (
    EffectiveScope,
    Scope,
    child_of,
    compile_scope,
    has_hosts_of_its_own,
    shared,
    union,
)
from holdfast.policy.tool_scopes import Beside, ToolScopes


def reach_of(parts: JudgeParts) -> Reach:
    """What the calls of a session reach; ConfigurationError says what cannot be compiled."""
    facts = DiskPaths()
    data = str(parts.surroundings.data_home)
    agent = parts.agent
    variables = {
        "workspace": [*_roots(parts)],
        "ad-hoc": () if agent is None else agent.ad_hoc,
        # Without a place for it the variable stands for nothing, and what needs it is refused.
        "user-data": [data] if isinstance(facts.look(data, None), PathView) else [],
    }
    policy = parts.settings.policy
    try:
        places = places_of(variables, facts)
    except PlaceProblem as problem:
        raise ConfigurationError(f"workspace: {problem}") from None
    given = () if policy.reach is None else (_given(policy.reach, places),)
    given += _mounts(parts)
    bounding = _Bounding(places, facts, _ceiling(parts, places), parts.above, parts.tools_above)
    # In strict mode a tool has what it requires itself, and this is not that.
    wanted = given if agent is None else (*given, agent.requires)
    declared = _declared(parts.tools, places, *wanted)
    apart = {
        tool.name: bounding.of(tool, _declared(parts.tools, places, tool.requires, *wanted))
        for tool in (*parts.unseen, *parts.tools)
        if tool.alone is None and (tool in parts.unseen or has_hosts_of_its_own(tool))
    }
    own = f"{data}/sessions/{parts.session_id}"
    beside = Beside(apart, given, bounding.alone)
    scopes = ToolScopes(bounding.agent(declared), places, strict=policy.strict, beside=beside)
    folders = Folders((own,), tuple(_kept(parts, facts)), parts.mounted.read_only)
    return Reach(scopes, facts, places, folders)


def _mounts(parts: JudgeParts) -> tuple[RequirementSet, ...]:
    """What every tool may read in a managed session."""
    inside = tuple([f"{escaped(path.rstrip('/'))}/**" for path in parts.mounted.readable])
    return (RequirementSet(fs=FsRequirement(read=inside)),) if inside else ()


def _roots(parts: JudgeParts) -> Iterator[str]:
    """The workspace, where relative paths begin, and every further root."""
    if parts.workspace is not None:
        yield str(parts.workspace)
        yield from () if parts.agent is None else parts.agent.roots


class _Bounding(msgspec.Struct, frozen=True):
    """Puts scopes within what bounds them all."""

    places: Places
    facts: DiskPaths
    ceiling: tuple[Scope, ...]
    above: Reach | None
    """What the agent above reaches."""
    tools_above: Callable[[str], Tool | None]

    def agent(self, declared: Scope) -> EffectiveScope:
        """What all tools together reach."""
        own = EffectiveScope(declared, self.facts, *self.ceiling)
        return own if self.above is None else child_of(self.above.agent, own)

    def of(self, tool: Tool, declared: Scope) -> EffectiveScope:
        """What one tool reaches."""
        own = EffectiveScope(declared, self.facts, *self.ceiling)
        return own if self.above is None else child_of(self.above.scope(tool), own)

    def alone(self, tool: Tool) -> EffectiveScope:
        """What one tool reaches that shares nothing with the others; ToolDefinitionError."""
        with _belongs_to(f"tool {tool.name!r}: requires", ToolDefinitionError):
            declared = compile_scope(tool.requires, self.places)
        above = self.tools_above(tool.name)
        same = above is not None and (above.requires, above.alone) == (tool.requires, tool.alone)
        return self.of(tool, declared) if same or self.above is None else self.agent(declared)


def _ceiling(parts: JudgeParts, places: Places) -> tuple[Scope, ...]:
    policy = parts.settings.policy
    bounds = [] if policy.ceiling is None else [("policy", policy.ceiling)]
    whose = f"profile.{parts.profile}"
    bounds += [(whose, one) for one in ceilings_of(parts.profile_settings, parts.profile)]
    found: list[Scope] = []
    for whose, bound in bounds:
        with _belongs_to(f"{whose}.ceiling"):
            found.append(compile_scope(requirements_of(bound), places))
    return tuple(found)


def _given(table: RequirementSettings, places: Places) -> RequirementSet:
    """What `[policy.reach]` adds for all tools."""
    with _belongs_to("policy.reach"):
        requirements = requirements_of(table)
        compile_scope(requirements, places)
    return requirements


def _declared(tools: Sequence[Tool], places: Places, *more: RequirementSet) -> Scope:
    wanted = [*map(shared, tools), *more]
    try:
        return compile_scope(union(wanted), places)
    except ValueError:
        for tool in tools:
            with _belongs_to(f"tool {tool.name!r}: requires", ToolDefinitionError):
                compile_scope(tool.requires, places)
        raise


@contextmanager
def _belongs_to(whose: str, problem: type[ValueError] = ConfigurationError) -> Generator[None]:
    """Say whose pattern it is that cannot be one."""
    try:
        yield
    except ValueError as said:
        raise problem(f"{whose}: {said}; correct or remove that entry") from None


def _kept(parts: JudgeParts, facts: DiskPaths) -> Iterator[str]:
    """Where rules, grants, trust and outputs lie, by text and on the disk."""
    for path in parts.kept:
        seen = facts.look(path, None)
        if isinstance(seen, PathView):
            yield from (seen.lexical, seen.physical)
    around = parts.surroundings
    for home in (around.config_home, around.state_home, around.data_home):
        seen = None if home is None else facts.look(str(home), None)
        if not isinstance(seen, PathView):
            continue
        for path in (seen.lexical, seen.physical):
            # Whoever works inside of it was given that place on purpose.
            if not f"{parts.workspace}/".startswith(f"{path}/"):
                yield path
