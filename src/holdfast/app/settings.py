"""What can be configured, as one frozen, validated value.

Reading files and the environment is `configuration`'s work; here is only the shape.
"""

import math
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from holdfast.app.agent_settings import (
    AgentSettings,
    ClusterSettings,
    EngineSettings,
    RuleSettings,
)
from holdfast.app.model_settings import ModelSettings
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.source_settings import ManifestSettings, McpSettings, PluginSettings, Seconds
from holdfast.contract import bus as buses
from holdfast.contract.agents import Visibility
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.file_bounds import FILE_BYTES
from holdfast.contract.journal import Session
from holdfast.contract.shell import Confinement
from holdfast.contract.tool import Limits, Tool
from holdfast.execution.sidecars import DEFAULT_CALL_QUOTA, DEFAULT_SESSION_QUOTA
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES
from holdfast.record.sqlite.connection import Durability
from holdfast.tools.locked.web_search import MOST_SECONDS

DEFAULT_PROFILE = "bare"
"""Of a library: the tools that are handed over, and no others."""

Count = Annotated[int, msgspec.Meta(ge=1)]
Quota = Annotated[int, msgspec.Meta(ge=0)]
DaysSeconds = Annotated[float, msgspec.Meta(gt=0, le=7 * 86_400)]
"""A time that a model may ask for: it has an end."""

Amount = TypeVar("Amount", int, float)


class ToolLimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one tool, changed by the host. What is not given stays as the tool has it."""

    wall_seconds: Seconds | None = None
    """`inf` takes the wall clock away."""
    max_bytes: Count | None = None
    """Of an answer; what is longer is cut, and kept in a file."""
    max_items: Count | None = None
    """Of the longest list in an answer."""


AS_THE_TOOL_HAS_IT = ToolLimitSettings()


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[limits]` table."""

    argument_bytes: Count = MAX_ARGUMENT_BYTES
    """Larger arguments are refused."""
    file_bytes: Count = FILE_BYTES
    """The largest text that `write`, `edit` and their like take."""
    sidecar_call_bytes: Quota = DEFAULT_CALL_QUOTA
    """How much of one call's output is kept in a file at most."""
    sidecar_session_bytes: Quota = DEFAULT_SESSION_QUOTA
    """How much of a session's outputs is kept in files at most."""
    tool: dict[str, ToolLimitSettings] = {}
    """By the name of a tool."""
    at_most: dict[str, ToolLimitSettings] = {}
    """What a project narrows tools to. Worked out while loading; not a key of the table."""


class SecretSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[secrets]` table: which environment variables hold secrets beside the obvious ones."""

    variables: tuple[str, ...] = ()
    """Their values are taken out of everything that is shown or written down."""


class AuditSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[audit]` table."""

    redact: str = ""
    """What is taken out of command lines and directories: regular expressions, split on comma and
    semicolon; one that is none is meant as it is written."""


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[tools]` table: Python files of tools, relative to the file that names them."""

    files: tuple[str, ...] = ()
    """The command loads them; the library does not."""


class SkillSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[skills]` table: whose instructions are offered."""

    project: Literal["trusted", "always", "never"] = "trusted"
    """Whether the project's own count: once a person trusts it, always, or never."""
    paths: tuple[str, ...] = ()
    """Further folders of skills, relative to the file that names them."""


class EditSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[edit]` table."""

    ignore_whitespace: bool = False
    """Where `edit` finds nothing, it looks again for the same with other runs of whitespace."""


class AfterEditSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[hooks.after_edit]]` table: a program for files that a tool has changed."""

    files: str
    """Which files, as a pattern of paths in the workspace."""
    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    """A program and its arguments; `{path}` stands for the file."""
    seconds: Seconds = 10.0
    """How long it may take."""


class HookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[hooks]` table."""

    after_edit: tuple[AfterEditSettings, ...] = ()


class ProfileSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[profile.NAME]` table."""

    tools: Visibility = Visibility()
    toolsets: tuple[str, ...] | None = None
    """The built-in tools it has; None: those that ship with a profile of this name, or none."""
    rules: tuple[RuleSettings, ...] = ()
    ceiling: RequirementSettings | None = None
    """What no tool of the profile gets more than, processes included."""
    commands: CommandPolicy | None = None
    """Which commands it runs; None: as the profile of this name that ships, or any."""
    on_demand: tuple[str, ...] | None = None
    """Tools that are offered once `tool_search` found them, or a hint led to them: names, or
    patterns with `*`. None: as it ships, or none."""
    commands_per_turn: Count | None = None
    """How many calls that run commands a turn may make; None: as it ships, or as many as it likes.
    """


class PolicySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[policy]` table."""

    strict: bool = False
    """Check a call against its own tool's requirements, not against all tools' together."""
    ceiling: RequirementSettings | None = None
    """What no tool gets more than, whatever it requires. Without one there is no such bound."""
    reach: RequirementSettings | None = None
    """What every tool may reach beside what it requires itself, within every ceiling."""
    doubts: Literal["ask", "confined"] = "ask"
    """What becomes of a command that is not known wholly before it runs, where no rule speaks of
    it: `confined` lets it run, since the kernel holds its processes."""


class CommandSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[commands]` table: what the tools that run commands offer."""

    default_seconds: DaysSeconds = 120.0
    """How long a command of `bash` may take that says nothing about it."""
    most_seconds: DaysSeconds = 600.0
    """What it may ask for at most."""
    background: bool = False
    """Whether `sandbox_exec` may leave a process running in the background."""


class WatchdogSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[watchdog]` table."""

    off: tuple[str, ...] = ()
    """Hooks that ship and are not wanted."""
    commands: tuple[tuple[str, ...], ...] = ()
    """Programs to ask about every call: the call as JSON in, an opinion as JSON out."""
    seconds: Seconds = 10.0
    """How long a program may think."""
    hook_seconds: Seconds = 10.0
    """How long a hook in Python may think; `inf` takes the limit away."""


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[sandbox]` table: what processes are confined in, and what they may use together."""

    confinement: Confinement | None = None
    """This kind and no other; without it, the strongest there is. `unconfined` says so in every
    answer."""
    memory_bytes: Count | None = None
    """Of a sandbox as a whole."""
    processes: Count | None = 512
    """Of a sandbox as a whole."""
    cpu_seconds: Seconds | None = None
    """Of a single process."""
    file_bytes: Count | None = None
    """Of a single file."""


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[web.search]]` table: a provider that `web_search` may use."""

    kind: Literal["searxng", "brave", "static"]
    """Which provider."""
    url: str | None = None
    """Where a SearXNG instance is; for `brave`, somebody who speaks like it."""
    key_variable: str | None = None
    """The environment variable that holds the key for `brave`."""
    file: str | None = None
    """The documents of `static`: JSON, relative to the file that names it."""


class WebSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[web]` table. Neither limit can be taken away."""

    search: tuple[SearchSettings, ...] = ()
    """Each session has one of these, chosen by its id; without any, nothing is searched."""
    search_calls: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 25
    """How often a session may search."""
    search_seconds: Annotated[float, msgspec.Meta(gt=0, le=MOST_SECONDS)] = 15.0
    """How long one search may take."""


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[store.retention]` table: what `holdfast prune` leaves, unless it is told otherwise."""

    days: Count | None = None
    """Since a session was last active."""
    sessions: Quota | None = None
    """The last so many are kept."""
    bytes: Quota | None = None
    """Of all sessions together."""


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[store]` table: where sessions are written down."""

    kind: Literal["sqlite", "postgres", "none"] = "sqlite"
    """`none`: nothing is written down, and nothing can be taken up again or proven later."""
    durability: Durability = "process"
    """What an answer survives: the end of the process, or the loss of `power`, too. PostgreSQL's
    own configuration decides that for itself."""
    url: str | None = None
    """Of the PostgreSQL, with its password: never shown."""
    retention: RetentionSettings = RetentionSettings()

    def __repr__(self) -> str:
        """Without the URL: a value that is printed somewhere must not tell the password."""
        url = None if self.url is None else "***"
        return f"StoreSettings(kind={self.kind!r}, durability={self.durability!r}, url={url!r})"


class TelemetrySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[telemetry]` table: spans and metrics for OpenTelemetry."""

    enabled: bool = False
    """Whether anything is told."""
    endpoint: str | None = None
    """A collector that speaks OTLP over HTTP, without `/v1/traces`; without it, the program's own
    OpenTelemetry is told."""
    headers_variable: str | None = None
    """The environment variable that holds what the collector wants to be told, as `name=value`
    with commas between."""
    service_name: str = "holdfast"
    """What the spans and metrics say they are from."""
    content: bool = False
    """Whether arguments, answers and what the model said are told, too."""


class RetrievalSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[retrieval]` table: how sessions are searched, beside by their words."""

    vectors: str | None = None
    """The `[model.NAME]` that makes vectors of texts; None: nothing is found by what it means."""
    least_similarity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.25
    """What is less similar is not found."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[run]` table: how a person is shown a run."""

    view: Literal["lines", "screen"] = "lines"
    """Line by line, or on the whole screen of the terminal."""


class LanguageServerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[lsp.NAME]` table: a language server, by the name of its language."""

    command: tuple[str, ...]
    """The program and its arguments, spoken with over its standard streams; empty: none."""
    extensions: tuple[str, ...] = ()
    """Of the files it knows, with the dot."""


class VaultSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[vault.NAME]` table: a directory that models know of, and that no call reads."""

    path: str
    """Absolute, or below `~/`."""
    prompt: str = ""
    """What is in it, in one line."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole configuration."""

    limits: LimitSettings = LimitSettings()
    secrets: SecretSettings = SecretSettings()
    audit: AuditSettings = AuditSettings()
    tools: ToolSettings = ToolSettings()
    skills: SkillSettings = SkillSettings()
    edit: EditSettings = EditSettings()
    hooks: HookSettings = HookSettings()
    policy: PolicySettings = PolicySettings()
    commands: CommandSettings = CommandSettings()
    watchdog: WatchdogSettings = WatchdogSettings()
    sandbox: SandboxSettings = SandboxSettings()
    store: StoreSettings = StoreSettings()
    run: RunSettings = RunSettings()
    engine: EngineSettings = EngineSettings()
    cluster: ClusterSettings = ClusterSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    web: WebSettings = WebSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    profile: dict[str, ProfileSettings] = {}
    agent: dict[str, AgentSettings] = {}
    vault: dict[str, VaultSettings] = {}
    lsp: dict[str, LanguageServerSettings] = {}
    manifest: dict[str, ManifestSettings] = {}
    mcp: dict[str, McpSettings] = {}
    plugins: PluginSettings = PluginSettings()
    model: dict[str, ModelSettings] = {}


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken from the machine and not from configuration."""

    data_home: Path
    config_home: Path | None = None
    """Where the person's own configuration and rules are."""
    state_home: Path | None = None
    """Where grants and trust are kept; None: nothing is remembered beyond the session."""
    runtime_homes: tuple[Path, ...] = ()
    """Where sockets may be, the best place first; behind them comes `state_home`."""
    environment: Mapping[str, str] = {}
    """What programs of our own are started with."""
    parent_environment: Mapping[str, str] = {}
    """All of it, for declared programs that are allowed some of it by name."""
    secrets: tuple[str, ...] = ()
    search_keys: Mapping[str, str] = {}
    """By variable, the keys of search providers."""
    model_keys: tuple[str, ...] = ()
    """Values of the variables that hold a model's key: however short, no audit log shows them."""
    bus: "buses.BusPlace | None" = None
    """How processes of other machines are reached; None: they are not."""
    announces: "Callable[[Session], Awaitable[bool]] | None" = None
    """Tells workers of a fleet that a session became due; None: there is none."""

    def __repr__(self) -> str:
        """Where things are, and no value of any variable."""
        return f"Surroundings(data_home={self.data_home!r}, ...)"


def limited(tool: Tool, limits: LimitSettings) -> Tool:
    """The tool under the host's own limits, narrowed by the project's."""
    if tool.name not in limits.tool and tool.name not in limits.at_most:
        return tool
    own = limits.tool.get(tool.name, AS_THE_TOOL_HAS_IT)
    most = limits.at_most.get(tool.name, AS_THE_TOOL_HAS_IT)
    output = tool.limits.output
    wall = _chosen(tool.limits.wall_seconds, own.wall_seconds, most.wall_seconds)
    max_bytes = _chosen(output.max_bytes, own.max_bytes, most.max_bytes)
    bound = msgspec.structs.replace(
        output,
        max_bytes=output.max_bytes if max_bytes is None else max_bytes,
        max_items=_chosen(output.max_items, own.max_items, most.max_items),
    )
    changed = Limits(wall_seconds=None if wall == math.inf else wall, output=bound)
    return msgspec.structs.replace(tool, limits=changed)


def _chosen(tools: Amount | None, hosts: Amount | None, most: Amount | None) -> Amount | None:
    """The host's limit before the tool's, and neither above the project's. None is no limit."""
    chosen = tools if hosts is None else hosts
    if most is None:
        return chosen
    return most if chosen is None else min(chosen, most)
