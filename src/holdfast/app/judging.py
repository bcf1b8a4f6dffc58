"""Putting a judge together: rules from files and profiles, capabilities of tools, hooks, grants."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from holdfast.app.grants import GrantFile
from holdfast.app.policy_files import FoundRules
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import ceilings_of
from holdfast.app.requirement_tables import requirements_of
from holdfast.app.rule_places import from_the_workspace
from holdfast.app.settings import (
    ProfileSettings,
    RequirementSettings,
    RuleSettings,
    Settings,
    Surroundings,
    WatchdogSettings,
)
from holdfast.app.spelling import advice
from holdfast.contract.audit import NO_AUDIT, AuditLog
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.ports import GrantStore, PathView
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.rules import Rule
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.contract.watchdog import Hook
from holdfast.execution import hook_program
from holdfast.execution.path_facts import DiskPaths
from holdfast.execution.timed_hook import TimedHook
from holdfast.policy.command_policies import Grounds
from holdfast.policy.hooks.destructive import destructive_commands
from holdfast.policy.hooks.exfiltration import exfiltration_shapes
from holdfast.policy.hooks.profile_commands import ProfileCommands
from holdfast.policy.hooks.secrets import SecretsInArguments
from holdfast.policy.hooks.unprotected import Protects, UnprotectedWrites
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.places import PlaceProblem, Places, places_of
from holdfast.policy.powers import AgentRules, Powers
from holdfast.policy.reach import Beside, Folders, Reach
from holdfast.policy.rules import RuleProblem
from holdfast.policy.scope import (
    EffectiveScope,
    Scope,
    child_of,
    compile_scope,
    has_hosts_of_its_own,
    shared,
    union,
)
from holdfast.policy.source_grants import together
from holdfast.policy.watchdog import Specialist, Watchdog, name_of

HANDED_OVER = "handed over in code"
"""Who vouches for a tool that the program itself registers: it runs where no rule speaks."""


class JudgeParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's judge is made from."""

    settings: Settings
    profile: str
    profile_settings: ProfileSettings
    surroundings: Surroundings
    tools: Sequence[Tool]
    unseen: Sequence[Tool] = ()
    """What the host itself runs as: it reaches what the tools do and what it requires itself."""
    workspace: Path | None
    project: Path | None
    """None: there is no project, and nothing is remembered beyond the session."""
    session_id: str
    found: FoundRules
    rules: Sequence[Rule] = ()
    hooks: Sequence[Hook] = ()
    granted: Sequence[AgentRules] = ()
    """Grants that came with the sources of tools."""
    protects: Protects = lambda _tool: True
    """Whether a tool's commands are kept from protected places."""
    audit: AuditLog = NO_AUDIT
    """Where hooks that are programs are written down."""
    grants: GrantStore | None = None
    """Instead of what is remembered for the project."""
    parents: tuple[AgentRules, ...] = ()
    """Whose verdict is never exceeded: those of the agents above."""
    above: Reach | None = None
    """What the agent above reaches: nothing here reaches further."""
    commands_above: tuple[CommandPolicy, ...] = ()
    """What the profiles of the agents above hold commands to."""
    headless: bool
    answered: bool | None = None
    """Whether a person answers what tools ask them; None: where they are asked for approval."""


def judge_for(parts: JudgeParts, reach: Reach, now: Callable[[], datetime]) -> PolicyJudge:
    """The judge of a session; ConfigurationError says what does not fit together."""
    manifest = manifest_rules(parts.profile_settings, parts.profile)
    handed_over = {tool.name: HANDED_OVER for tool in parts.tools if tool.ownership != "mcp"}
    granted = together([*parts.granted, AgentRules(standing=handed_over)])
    local = partial(
        from_the_workspace, workspace=parts.workspace, tools=parts.tools, facts=DiskPaths()
    )
    try:
        powers = Powers(
            own=AgentRules(
                rules=local((*granted.rules, *manifest, *parts.found.rules, *parts.rules)),
                standing=granted.standing,
            ),
            narrowing=(local(parts.found.narrowing),) if parts.found.narrowing else (),
            parents=parts.parents,
            look=reach,
            watchdog=Watchdog([*_hooks(parts), *map(partial(_timed, parts), parts.hooks)]),
            manifest={"agent": parts.profile, "tools": [tool.name for tool in parts.tools]},
            doubts=_who_lets_doubts_run(parts.settings),
            headless=parts.headless,
            answered=parts.answered,
        )
        return PolicyJudge(powers, parts.grants or grants_of(parts), now)
    except RuleProblem as problem:
        raise ConfigurationError(str(problem)) from None


def _who_lets_doubts_run(settings: Settings) -> str | None:
    """Whoever configured it, where processes are held by the kernel."""
    held = settings.sandbox.confinement != "unconfined"
    return "policy.doubts = 'confined'" if held and settings.policy.doubts == "confined" else None


def manifest_rules(settings: ProfileSettings, profile: str) -> list[Rule]:
    """The rules of a profile."""
    return [_manifest_rule(written, profile) for written in settings.rules]


def _manifest_rule(written: RuleSettings, profile: str) -> Rule:
    source = written.source or f"profile {profile}"
    if written.pinned and written.action != "ask":
        raise ConfigurationError(
            f"{source}: rule {written.permission!r}: only an ask can be pinned; a deny is final"
        )
    return Rule(
        permission=written.permission,
        pattern=written.pattern,
        action=written.action,
        scope="manifest",
        source=source,
        reason=written.reason,
        pinned=written.pinned,
        capability=written.capability,
    )


def reach_of(parts: JudgeParts) -> Reach:
    """What the calls of a session reach; ConfigurationError says what cannot be compiled."""
    facts = DiskPaths()
    data = str(parts.surroundings.data_home)
    variables = {
        "workspace": [] if parts.workspace is None else [str(parts.workspace)],
        # Without a place for it the variable stands for nothing, and what needs it is refused.
        "user-data": [data] if isinstance(facts.look(data, None), PathView) else [],
    }
    policy = parts.settings.policy
    try:
        places = places_of(variables, facts)
    except PlaceProblem as problem:
        raise ConfigurationError(f"workspace: {problem}") from None
    given = () if policy.reach is None else (_given(policy.reach, places),)
    declared = _declared(parts.tools, places, *given)
    ceiling: list[Scope] = []
    bounds = [] if policy.ceiling is None else [("policy", policy.ceiling)]
    whose = f"profile.{parts.profile}"
    bounds += [(whose, one) for one in ceilings_of(parts.profile_settings, parts.profile)]
    for whose, bound in bounds:
        with _belongs_to(f"{whose}.ceiling"):
            ceiling.append(compile_scope(requirements_of(bound), places))
    above = parts.above
    scope = EffectiveScope(declared, facts, *ceiling)
    apart = {
        tool.name: EffectiveScope(
            _declared(parts.tools, places, tool.requires, *given), facts, *ceiling
        )
        for tool in (*parts.unseen, *parts.tools)
        if tool in parts.unseen or has_hosts_of_its_own(tool)
    }
    if above is not None:
        scope = child_of(above.agent, scope)
        tools = {tool.name: tool for tool in (*parts.unseen, *parts.tools)}
        apart = {name: child_of(above.scope(tools[name]), own) for name, own in apart.items()}
    own = f"{data}/sessions/{parts.session_id}"
    return Reach(
        scope,
        facts,
        places,
        strict=policy.strict,
        beside=Beside(apart, given),
        folders=Folders((own,), tuple(_kept(parts, facts))),
    )


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
    around = parts.surroundings
    for home in (around.config_home, around.state_home, around.data_home):
        seen = None if home is None else facts.look(str(home), None)
        if not isinstance(seen, PathView):
            continue
        for path in (seen.lexical, seen.physical):
            # Whoever works inside of it was given that place on purpose.
            if not f"{parts.workspace}/".startswith(f"{path}/"):
                yield path


def _hooks(parts: JudgeParts) -> list[Hook]:
    wanted: WatchdogSettings = parts.settings.watchdog
    secrets = SecretsInArguments(parts.surroundings.secrets)
    shipped: list[Hook] = [
        Specialist(destructive_commands, "shell.run", "fs.write"),
        Specialist(exfiltration_shapes, "shell.run", "net.fetch"),
        Specialist(secrets, "shell.run", "net.fetch", "fs.write"),
        Specialist(UnprotectedWrites(parts.protects), "shell.run"),
    ]
    names = [name_of(hook) for hook in shipped]
    for name in wanted.off:
        if name not in names:
            raise ConfigurationError(
                f"watchdog.off: there is no hook {name!r}; {advice(name, names)}"
            )
    if not all(wanted.commands):
        raise ConfigurationError(
            "watchdog.commands: an entry names no program; write for example"
            ' commands = [["/usr/local/bin/ask-the-office", "--quick"]]'
        )
    environment = parts.surroundings.environment
    programs = [
        hook_program.HookProgram(argv, environment, wanted.seconds, parts.audit)
        for argv in wanted.commands
    ]
    chosen = [hook for hook in shipped if name_of(hook) not in wanted.off]
    return [*_profile_hooks(parts), *chosen, *programs]


def _profile_hooks(parts: JudgeParts) -> Iterator[Hook]:
    """What profiles hold commands to, this one and those above: no configuration takes it away."""
    policies = dict.fromkeys((parts.profile_settings.commands or "any", *parts.commands_above))
    facts = DiskPaths()
    seen = None if parts.workspace is None else facts.look(str(parts.workspace), None)
    grounds = Grounds(roots=(seen.physical,) if isinstance(seen, PathView) else (), facts=facts)
    for policy in policies:
        if policy != "any":
            yield Specialist(ProfileCommands(policy, grounds), "shell.run")


def _timed(parts: JudgeParts, hook: Hook) -> Hook:
    timed = TimedHook(hook, name_of(hook), parts.settings.watchdog.hook_seconds)
    return Specialist(timed, *hook.capabilities) if isinstance(hook, Specialist) else timed


class _Nothing:
    """Where there is no place for state, nothing is remembered."""

    def load(self) -> tuple[Rule, ...]:
        return ()

    def add(self, _grants: Sequence[Rule], /) -> None:
        raise OSError("there is no place to keep it; set HOME or HOLDFAST_HOME")


def grants_of(parts: JudgeParts) -> GrantStore:
    """What is remembered for the project, kept where people's decisions are."""
    state = parts.surroundings.state_home
    if state is None or parts.project is None:
        return _Nothing()
    return GrantFile(state, parts.project, parts.workspace)
