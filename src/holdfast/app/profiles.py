"""The profiles that ship: which built-in tools a session has, and what narrows them.

A table `[profile.NAME]` adds to the profile of its name, or makes a new one. Every profile that
ships but `bare` holds all locked tools, and restricts them by rules, sub-policies and ceilings; one
of the user's own has the toolsets that it names, and may leave the locked one out.
`question` is in every profile.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import cast

import msgspec

from holdfast.app.agent_settings import RuleSettings
from holdfast.app.command_tools import fitted
from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import ProfileSettings, Settings, limited
from holdfast.app.spelling import advice
from holdfast.app.web import with_provider
from holdfast.contract.builtin import Builtin
from holdfast.contract.tool import Tool
from holdfast.preflight.plan import LaterPlan, Plan
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.visibility import visible
from holdfast.sources.intake import built_in
from holdfast.tools import code, host, locked, managed
from holdfast.tools.locked.question import question


class _Toolsets(Mapping[str, tuple[Builtin, ...]]):
    """The toolsets that ship, by name; the tools of one are loaded with the first look at it."""

    _FOUND: Mapping[str, Callable[[], tuple[Builtin, ...]]] = MappingProxyType(
        {
            "locked": lambda: locked.LOCKED,
            "code": lambda: code.CODE,
            "host": lambda: host.HOST,
            "managed": lambda: managed.MANAGED,
        }
    )

    def __getitem__(self, name: str) -> tuple[Builtin, ...]:
        return self._FOUND[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._FOUND

    def __iter__(self) -> Iterator[str]:
        return iter(self._FOUND)

    def __len__(self) -> int:
        return len(self._FOUND)


MANAGED_TOOLSET = "managed"

TOOLSETS: Mapping[str, tuple[Builtin, ...]] = _Toolsets()

_READS_ANYTHING_HERE = msgspec.convert(
    {"read": ["**"], "hosts": ["*"], "shell": [{"cmd": "*"}]}, RequirementSettings
)
_ASKS_ABOUT_HOSTS = (RuleSettings(permission="web_fetch", pattern="*", action="ask"),)
_ASKS_ABOUT_CLONES = (
    RuleSettings(permission="repo_clone", pattern="*", action="ask", capability="net.fetch"),
)

_spelled: dict[str, tuple[Tool, Tool]] = {}
"""By the name of a built-in tool: as it is declared, and as it is taken beside the managed ones."""
_plans: dict[str, Plan] = {}
"""By the name of a built-in tool: the plan that was used last."""

_MANAGED_NAMES = (
    *("environment_*", "agent_*", "vault_*", "permissions_*", "session_*", "outcome_*"),
    *("memory_*", "learning_*", "retrieval_*", "skills_*", "shell_*", "sandbox_*", "resources_*"),
)
"""What the managed tools are called, so that none has to be loaded to name them."""

PROFILES: Mapping[str, ProfileSettings] = MappingProxyType(
    {
        "bare": ProfileSettings(toolsets=()),
        "locked": ProfileSettings(toolsets=("locked",), rules=_ASKS_ABOUT_HOSTS),
        "code": ProfileSettings(
            toolsets=("locked", "code"), rules=(*_ASKS_ABOUT_HOSTS, *_ASKS_ABOUT_CLONES)
        ),
        "host": ProfileSettings(
            toolsets=("locked", "host"), rules=_ASKS_ABOUT_HOSTS, commands_per_turn=10
        ),
        "managed": ProfileSettings(
            toolsets=("locked", "managed"),
            rules=_ASKS_ABOUT_HOSTS,
            commands="managed",
            on_demand=_MANAGED_NAMES,
        ),
        "readonly": ProfileSettings(
            toolsets=("locked",),
            rules=_ASKS_ABOUT_HOSTS,
            ceiling=_READS_ANYTHING_HERE,
            commands="read_only",
        ),
    }
)


def profile_settings(configured: Mapping[str, ProfileSettings], name: str) -> ProfileSettings:
    """What a profile says, with what configuration adds; ConfigurationError when there is none.

    A ceiling that ships is not replaced: `ceilings_of` gives all that count.
    """
    shipped, own = PROFILES.get(name), configured.get(name)
    if shipped is None and own is None:
        near = advice(name, {*PROFILES, *configured})
        raise ConfigurationError(
            f"there is no profile {name!r}; {near} (or add a [profile.{name}] table)"
        )
    shipped, own = shipped or ProfileSettings(), own or ProfileSettings()
    return ProfileSettings(
        tools=own.tools,
        toolsets=shipped.toolsets if own.toolsets is None else own.toolsets,
        rules=(*_told_apart(shipped.rules, name), *own.rules),
        ceiling=own.ceiling,
        commands=own.commands or shipped.commands or "any",
        on_demand=shipped.on_demand if own.on_demand is None else own.on_demand,
        commands_per_turn=own.commands_per_turn or shipped.commands_per_turn,
    )


def ceilings_of(settings: ProfileSettings, name: str) -> tuple[RequirementSettings, ...]:
    """The ceilings of a profile: the one that ships, and the one that configuration adds."""
    shipped = PROFILES.get(name, ProfileSettings()).ceiling
    return tuple(one for one in (shipped, settings.ceiling) if one is not None)


def catalog_of(
    tools: Iterable[Tool], profile: ProfileSettings, settings: Settings, session_id: str
) -> Catalog:
    """The tools of a session: the profile's built-in ones, then the host's own, as far as visible.

    ToolDefinitionError for two of one name.
    """
    own, limits = list(tools), settings.limits
    names = {tool.name for tool in own}
    policy = profile.commands or "any"
    shipped = (built_in(one) for one in built_in_tools(profile, names))
    provided = (with_provider(one, settings.web, session_id) for one in shipped)
    spelled = map(_in_both_spellings, provided) if is_managed(profile) else provided
    built = (_planned(limited(fitted(one, settings.commands, policy), limits)) for one in spelled)
    catalog = Catalog((limited(tool, limits) for tool in own), built_in=built)
    return visible(catalog, profile.tools)


def on_demand(profile: ProfileSettings, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that a profile has offered on demand."""
    patterns = profile.on_demand or ()
    return tuple(one for one in names if any(fnmatchcase(one, pattern) for pattern in patterns))


def is_managed(profile: ProfileSettings) -> bool:
    """Whether a profile has the managed tools, and with them all that stands behind them."""
    return MANAGED_TOOLSET in (profile.toolsets or ())


def built_in_tools(profile: ProfileSettings, given: Iterable[str]) -> tuple[Builtin, ...]:
    """The built-in tools of a profile, each once; one outside of the lock gives way to the host's.

    Every host can be asked to ask: where nobody is there, `question` says so.

    ``given``: the names of tools that the host has itself. ConfigurationError for two faces of one
    name.
    """
    own = set(given)
    found: dict[str, Builtin] = {}
    for name, tools in _chosen(profile):
        for one in tools:
            if name != "locked" and one.name in own:
                continue
            if found.setdefault(one.name, one) is not one:
                raise ConfigurationError(
                    f"toolsets: {name!r} has another {one.name!r} than a toolset before it; leave"
                    " one of them out"
                )
    found.setdefault(question.name, question)
    return tuple(found.values())


def shipped_names() -> set[str]:
    """The names of all built-in tools, whatever a profile shows of them."""
    return {one.name for tools in TOOLSETS.values() for one in tools}


def profiles_with(name: str) -> list[str]:
    """The profiles that ship and have a built-in tool of this name."""
    return [
        profile
        for profile, settings in PROFILES.items()
        if any(name == one.name for toolset in settings.toolsets or () for one in TOOLSETS[toolset])
    ]


def _in_both_spellings(tool: Tool) -> Tool:
    """With the managed tools, also the others take their arguments in camelCase."""
    known = _spelled.get(tool.name)
    if known is None or known[0] is not tool:
        known = _spelled[tool.name] = (tool, msgspec.structs.replace(tool, camel_case=True))
    return known[1]


def _planned(tool: Tool) -> Plan:
    """A built-in tool is compiled once, as long as its limits are the same, and not before a call
    needs it: that all of them can be is tested."""
    known = _plans.get(tool.name)
    if known is None or known.tool is not tool:
        known = _plans[tool.name] = LaterPlan(tool)
    return known


def check_toolsets(table: Table, origin: str) -> None:
    """Raise ConfigurationError for the first toolset that is none, also of a profile not in use.

    The table has been checked by `keys`.
    """
    for name, profile in cast("dict[str, Table]", table.get("profile", {})).items():
        for toolset in cast("list[str]", profile.get("toolsets") or []):
            _refuse_unknown(toolset, f"{origin}: profile.{name}.toolsets")


def _chosen(profile: ProfileSettings) -> Iterator[tuple[str, tuple[Builtin, ...]]]:
    for name in profile.toolsets or ():
        _refuse_unknown(name, "toolsets")
        yield name, TOOLSETS[name]


def _refuse_unknown(toolset: str, where: str) -> None:
    if toolset not in TOOLSETS:
        raise ConfigurationError(
            f"{where}: there is no toolset {toolset!r}; {advice(toolset, list(TOOLSETS))}"
        )


def _told_apart(rules: tuple[RuleSettings, ...], name: str) -> Iterator[RuleSettings]:
    """Who reads a refusal has to know that no file of theirs says so."""
    source = f"profile {name}, as it ships"
    return (msgspec.structs.replace(rule, source=source) for rule in rules)
