"""Grants that come with a source, so that what a program or an operator set up runs unattended.

Each is recorded: the grounds of every permit it leads to name it. A grant allows where no rule
speaks; ask and deny rules, requirements, parents and the watchdog narrow it as ever.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.rules import Action, Rule
from holdfast.policy import managed_bash
from holdfast.policy.globs import escaped
from holdfast.policy.powers import AgentRules

Source = Literal["function", "flow", "manifest", "mcp", "managed", "plugin"]

DEFAULT_REQUIREMENTS: Mapping[Source, RequirementSet] = {
    "function": requirement_set({}),
    "flow": requirement_set({}),
    "manifest": requirement_set({"fs": {"read": ["{workspace}/**"]}}),
    "mcp": requirement_set({}),
    "managed": requirement_set({}),
    "plugin": requirement_set({}),
}
"""What a tool that says nothing of its needs is taken to need, by where it comes from.

A function and a flow tool reach the world through what they are handed. A program of a manifest may
read the workspace; an operator widens that for a whole manifest. A server of others gets nothing.
What managed tools reach are their mounts. A plugin declares tools as a program does.
"""

NamedBy = Literal["the program or the command line", "the configuration", "a trusted project"]


class Mount(msgspec.Struct, frozen=True):
    """A place of the managed profile, as its tools name it."""

    path: str
    writable: bool


def named_manifest(tools: Iterable[str], manifest: str, by: NamedBy) -> AgentRules:
    """The tools of a manifest that somebody named. One that was merely found gets none."""
    return _standing(tools, f"the manifest {manifest} was named by {by}")


def flow_sandbox(tools: Iterable[str], sandbox: str) -> AgentRules:
    """The flow tools of a session that the program gave a sandbox: inside it they may work."""
    return _standing(tools, f"the program gave the session the sandbox {sandbox}")


def managed_mounts(mounts: Iterable[Mount]) -> AgentRules:
    """The managed profile: free to read and write in its mounts, and to look with ten programs."""
    rules: list[Rule] = [_rule("bash", f"{program}{{, *}}") for program in managed_bash.PROGRAMS]
    for mount in mounts:
        inside = f"{escaped(mount.path.rstrip('/'))}/**"
        rules.append(_rule("fs.read", inside))
        if mount.writable:
            rules.append(_rule("fs.write", inside))
    return AgentRules(granted=tuple(rules))


def together(grants: Iterable[AgentRules]) -> AgentRules:
    """Several grants as one; of two that vouch for a tool the first is named."""
    rules: list[Rule] = []
    granted: list[Rule] = []
    standing: dict[str, str] = {}
    for grant in grants:
        rules += grant.rules
        granted += grant.granted
        standing = {**grant.standing, **standing}
    return AgentRules(rules=tuple(rules), granted=tuple(granted), standing=standing)


def vaults(paths: Iterable[str]) -> AgentRules:
    """What lies in a vault is read and written by nobody: a deny of the manifest is final."""
    denied = [
        _rule(capability, pattern, "deny")
        for path in paths
        for pattern in (escaped(path.rstrip("/")), f"{escaped(path.rstrip('/'))}/**")
        for capability in ("fs.read", "fs.write")
    ]
    return AgentRules(rules=tuple(denied))


def _standing(tools: Iterable[str], grounds: str) -> AgentRules:
    return AgentRules(standing=dict.fromkeys(tools, grounds))


def _rule(permission: str, pattern: str, action: Action = "allow") -> Rule:
    return Rule(
        permission=permission,
        pattern=pattern,
        action=action,
        scope="manifest",
        source="profile managed" if action == "allow" else "a vault of the configuration",
        reason=None if action == "allow" else "What is in a vault is for people alone.",
    )
