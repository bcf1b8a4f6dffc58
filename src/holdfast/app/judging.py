"""Putting a judge together: rules from files and profiles, capabilities of tools, hooks, grants."""

from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import cast

import msgspec

from holdfast.app.agent_settings import RuleSettings
from holdfast.app.grants import GrantFile
from holdfast.app.policy_files import FoundRules
from holdfast.app.problems import ConfigurationError
from holdfast.app.rule_places import from_the_workspace
from holdfast.app.settings import (
    ProfileSettings,
    Settings,
    Surroundings,
    WatchdogSettings,
)
from holdfast.app.spelling import advice
from holdfast.contract.agents import AgentManifest, CompiledAgent
from holdfast.contract.audit import NO_AUDIT, AuditLog
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.ports import GrantStore, PathView
from holdfast.contract.rules import Rule
from holdfast.contract.tool import Tool
from holdfast.contract.watchdog import Hook, Inspection, Opinion
from holdfast.execution import hook_program, timed_hook
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy import sandbox_look
from holdfast.policy.command_policies import Grounds
from holdfast.policy.hooks import destructive, exfiltration, profile_commands
from holdfast.policy.hooks.secrets import SecretsInArguments
from holdfast.policy.hooks.unprotected import Protects, UnprotectedWrites
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules, Look, Powers
from holdfast.policy.reach import Reach
from holdfast.policy.rules import RuleProblem
from holdfast.policy.source_grants import together
from holdfast.policy.watchdog import Specialist, Watchdog, name_of

_CONFINED = '[policy] doubts = "confined"'
HANDED_OVER = "handed over in code"
"""Who vouches for a tool that the program itself registers: it runs where no rule speaks."""


class InSandbox(msgspec.Struct, frozen=True):
    """Tools that work in a sandbox which the program itself gave: that is its grant."""

    names: frozenset[str]
    standing: Mapping[str, str]
    """By tool, on which grounds it runs; looked at with each judgement, as a sandbox may go."""
    grounds: str
    """Why a command runs there although nobody knows beforehand what it does."""


class Mounted(msgspec.Struct, frozen=True, kw_only=True):
    """What is mounted for the session beside its workspace: directories, without links."""

    readable: tuple[str, ...] = ()
    """Within reach of every tool and of every process."""
    read_only: Mapping[str, str] = {}
    """Those of them that no call writes, and what to do instead."""
    vaults: tuple[str, ...] = ()
    """Read by no call and no process."""


class JudgeParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's judge is made from."""

    settings: Settings
    profile: str
    profile_settings: ProfileSettings
    agent: CompiledAgent | None = None
    """What the session is opened under; its rules are all of the manifest scope there are."""
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
    vouched: Mapping[str, str] = {}
    """By tool, the grants of sources whose tools change; it is looked at with each judgement."""
    kept: tuple[str, ...] = ()
    """What tools are made from: no call writes there, or a model could give itself others."""
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
    tools_above: Callable[[str], Tool | None] = lambda _name: None
    """The tools of the agent above, by name."""
    commands_above: tuple[CommandPolicy, ...] = ()
    """What the profiles of the agents above hold commands to."""
    confirmed_above: Callable[[str], bool] = lambda _name: True
    """Whether the agents above leave the commands of a tool of this name to a person, too."""
    commands_begin: Callable[[], Awaitable[str | None]] | None = None
    """Where a command runs of which nobody says it; None: in the workspace."""
    headless: bool
    answered: bool | None = None
    """Whether a person answers what tools ask them; None: where they are asked for approval."""
    in_sandbox: InSandbox | None = None
    mounted: Mounted = Mounted()


_NOWHERE = InSandbox(frozenset(), {}, "")


def judge_for(parts: JudgeParts, reach: Reach, now: Callable[[], datetime]) -> PolicyJudge:
    """The judge of a session; ConfigurationError says what does not fit together."""
    manifest = _manifest_rules(parts)
    inside = parts.in_sandbox or _NOWHERE
    handed_over = {
        tool.name: HANDED_OVER
        for tool in parts.tools
        if tool.ownership != "mcp" and tool.name not in inside.names
    }
    granted = together([*parts.granted, AgentRules(standing=handed_over)])
    # What sources grant changes when their tools do; it is named before the rest.
    changing = (cast("dict[str, str]", one) for one in (inside.standing, parts.vouched))
    standing = ChainMap(*changing, dict(granted.standing))
    local = partial(
        from_the_workspace,
        workspace=parts.workspace,
        tools=parts.tools,
        facts=DiskPaths(),
        roots=() if parts.agent is None else parts.agent.roots,
    )
    try:
        powers = Powers(
            own=AgentRules(
                rules=local((*granted.rules, *manifest, *parts.found.rules, *parts.rules)),
                granted=local(granted.granted),
                standing=standing,
            ),
            narrowing=(local(parts.found.narrowing),) if parts.found.narrowing else (),
            parents=parts.parents,
            look=_look(reach, inside),
            watchdog=Watchdog([*_hooks(parts), *map(partial(_timed, parts), parts.hooks)]),
            manifest=agent_manifest(parts.profile, parts.agent, parts.tools),
            doubts=_who_lets_doubts_run(parts.settings) or inside.grounds or None,
            doubts_setting=_CONFINED if _holds_processes(parts.settings) else None,
            headless=parts.headless,
            answered=parts.answered,
        )
        return PolicyJudge(powers, parts.grants or grants_of(parts), now)
    except RuleProblem as problem:
        raise ConfigurationError(str(problem)) from None


def _look(reach: Reach, inside: InSandbox) -> Look:
    if not inside.names:
        return reach
    return sandbox_look.SandboxLook(reach, inside.names.__contains__)


def agent_manifest(
    profile: str, agent: CompiledAgent | None, tools: Iterable[Tool]
) -> AgentManifest:
    """What the watchdog receives."""
    if agent is not None:
        return agent.manifest([tool.name for tool in tools])
    return AgentManifest(agent=profile, tools=tuple([tool.name for tool in tools]))


def _who_lets_doubts_run(settings: Settings) -> str | None:
    """Whoever configured it, where processes are held by the kernel."""
    said = settings.policy.doubts == "confined"
    return "policy.doubts = 'confined'" if said and _holds_processes(settings) else None


def _holds_processes(settings: Settings) -> bool:
    return settings.sandbox.confinement != "unconfined"


def _manifest_rules(parts: JudgeParts) -> Sequence[Rule]:
    """The rules of the agent, or where there is none of the profile; ConfigurationError."""
    if parts.agent is None:
        return manifest_rules(parts.profile_settings, parts.profile)
    for rule in parts.rules:
        if rule.scope == "manifest":
            raise ConfigurationError(
                f"rules: {rule.source}: a rule of the manifest stands in the manifest alone; put it"
                f" into the rules of the agent {parts.agent.id!r}, or give it the scope project"
            )
    return parts.agent.rules


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


def destructive_commands(inspection: Inspection, /) -> Opinion:
    """The hook of this name; what it knows is loaded with the first call that it looks at."""
    return destructive.destructive_commands(inspection)


def exfiltration_shapes(inspection: Inspection, /) -> Opinion:
    """The hook of this name; what it knows is loaded with the first call that it looks at."""
    return exfiltration.exfiltration_shapes(inspection)


def _hooks(parts: JudgeParts) -> list[Hook]:
    wanted: WatchdogSettings = parts.settings.watchdog
    secrets = SecretsInArguments(parts.surroundings.secrets)
    shipped: list[Hook] = [
        Specialist(destructive_commands, "shell.run", "fs.write"),
        Specialist(exfiltration_shapes, "shell.run", "net.fetch"),
        Specialist(secrets, "shell.run", "net.fetch", "fs.write"),
        Specialist(UnprotectedWrites(partial(_protects, parts)), "shell.run"),
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


def _protects(parts: JudgeParts, tool: str) -> bool | Awaitable[bool]:
    """What a sandbox of the program's keeps from its commands is that backend's choice."""
    inside = parts.in_sandbox
    return (inside is not None and tool in inside.names) or parts.protects(tool)


def _profile_hooks(parts: JudgeParts) -> Iterator[Hook]:
    """What profiles hold commands to, this one and those above: no configuration takes it away."""
    own = parts.profile_settings.commands or "any"
    facts = DiskPaths()
    seen = None if parts.workspace is None else facts.look(str(parts.workspace), None)
    further = () if parts.agent is None else parts.agent.roots
    read = parts.mounted.readable
    roots = (seen.physical, *further, *read) if isinstance(seen, PathView) else read
    grounds = Grounds(roots=roots, facts=facts)
    begins = parts.commands_begin

    def above(tool: Tool) -> bool:
        return parts.confirmed_above(tool.name)

    if own != "any" and own not in parts.commands_above:
        yield Specialist(profile_commands.ProfileCommands(own, grounds, begins), "shell.run")
    for policy in dict.fromkeys(parts.commands_above):
        if policy != "any":
            held = profile_commands.ProfileCommands(policy, grounds, begins, above)
            yield Specialist(held, "shell.run")


def _timed(parts: JudgeParts, hook: Hook) -> Hook:
    timed = timed_hook.TimedHook(hook, name_of(hook), parts.settings.watchdog.hook_seconds)
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
