"""What `Holdfast` may be given beside tools, profile and workspace. Misspelt options are errors."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypedDict

import msgspec

from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.judging import InSandbox
from holdfast.app.other_projects import OpenProject
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.source_settings import Timeouts
from holdfast.app.subagents import Above, Child, Runner, Subagent
from holdfast.contract import vectors
from holdfast.contract.agents import MOST_LABEL, RUNS_ON, Agent, CompiledAgent
from holdfast.contract.events import SessionCreated
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ChatModel
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver, Clock
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import Ports, ProgressSink, SessionFacts
from holdfast.contract.tool import Tool
from holdfast.contract.watchdog import Hook
from holdfast.runtime.ids import TimeIds


class SourceOptions(TypedDict, total=False):
    """Which tools come from elsewhere, beside those of the configuration."""

    manifests: Iterable[str | Path]
    """Files that declare programs as tools, beside those of the configuration."""
    timeouts: Timeouts
    """How long calls of manifests' programs may take that say nothing of it."""
    servers: Iterable[str]
    """Names of configured MCP servers to connect; without it, all of them."""


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """Of the session that a flow loop writes. Made by the loop, never by a program."""

    session_id: str
    metadata: JsonObject
    """What is written down of it, the program's grant among it."""
    in_sandbox: InSandbox


class AgentOptions(TypedDict, total=False):
    """Which agents there are, and which of them the session is opened under."""

    agent: str | Agent | CompiledAgent | None
    """The agent of the session: the name of one, or the declaration itself. Without one there are
    the profile and the tools alone."""
    agents: Iterable[Agent]
    """Agents beside those of the configuration."""
    model: str | ChatModel
    """The model of agents that name none: a name, or the model itself."""
    runs_on: str | None
    """The label of the workers of a cluster that run the session; without one, the agent's."""
    runner: Runner
    """Makes what runs an agent's loop. With one, `task` hands work to the agents that take it."""
    other_projects: OpenProject
    """Makes a `Holdfast` for a directory of another project, with that one's files read: sessions
    of that project are run in it. Without it they are left to programs of that project."""
    subagents: Mapping[str, Subagent]
    """Whom `task` hands work to, by name, beside those."""


class Options(SourceOptions, AgentOptions, total=False):
    """What may be handed in instead of the usual parts."""

    settings: Settings
    """These, and no file is read: neither configuration nor rules."""
    configuration: Configuration
    """What was read from files before."""
    surroundings: Surroundings
    server_patience: float
    """Seconds that opening waits for MCP servers; without it, as long as each of them may take to
    start. The tools of one that comes later are had with `take_changes`, as a turn does."""
    approver: Approver | Literal["elsewhere"] | None
    """Who is asked. Without one nobody is there, and every question is a refusal. "elsewhere":
    nobody here; a call in question stays open, and is ended by `resume` once somebody has answered.
    """
    person: Asker | Literal["elsewhere"] | None
    """Who asks a person what tools ask them. "elsewhere": nobody here, the reply comes by
    `answer_inquiry` or `holdfast sessions answer`. Without one every such call is refused."""
    application: Literal["elsewhere"] | None
    """Who fulfils the application's own tools (`ownership="custom"`). "elsewhere": their calls stay
    open until a result is given. Without it they are refused."""
    rules: Iterable[Rule]
    """Further rules of the program's own."""
    hooks: Iterable[Hook]
    """Further hooks of the watchdog."""
    progress: ProgressSink
    clock: Clock
    keep_outputs: bool
    """Leave whole outputs on disk after closing, for somebody who still has to read them."""
    session: str
    """Go on with this session, which was written down before."""
    skills: Iterable[str | Path]
    """Folders of skills that the program brings along."""
    on_demand: Iterable[str]
    """Names of tools that are offered once `tool_search` has found them, as MCP's are."""
    above: Above
    """What stands above the session of a subagent. Made by `task`, never by a program."""
    flow: Flow
    """What a flow loop says of its session. Made by the loop, never by a program."""
    ports: Ports
    """What stands behind ports that tools name, beside or instead of the usual."""
    vectors: "vectors.VectorBackend"
    """Who finds events by what they mean, for `retrieval_search` and what a run recalls."""
    embedder: "vectors.Embedder"
    """Who makes vectors of texts for the index that ships (the extra `vectors`), instead of the
    model that `retrieval.vectors` names."""


class Wanted(msgspec.Struct, frozen=True):
    """What somebody asks for."""

    tools: tuple[Tool, ...]
    profile: str
    workspace: str | Path | None
    options: Options
    make: Callable[..., Child]
    """Makes another session: that of a subagent."""


class OpenedUnder(msgspec.Struct, frozen=True):
    """What a session is opened under."""

    agent: CompiledAgent | None
    """None: there are the profile and the tools alone."""
    subagents: Mapping[str, Subagent]
    """Whom it may hand work to."""


def read_once(options: Options) -> Options:
    """The same, to be read as often as needed: what was handed in may be read only once."""
    kept = options.copy()
    if "rules" in kept:
        kept["rules"] = tuple(kept["rules"])
    if "hooks" in kept:
        kept["hooks"] = tuple(kept["hooks"])
    if "on_demand" in kept:
        kept["on_demand"] = tuple(kept["on_demand"])
    if "skills" in kept:
        kept["skills"] = tuple(kept["skills"])
    if "manifests" in kept:
        kept["manifests"] = tuple(kept["manifests"])
    if "agents" in kept:
        kept["agents"] = tuple(kept["agents"])
    if "servers" in kept:
        kept["servers"] = tuple(kept["servers"])
    return kept


def configuration_of(options: Options, workspace: str | Path | None) -> Configuration:
    """What the options say, or else what files and the environment say."""
    given = options.get("configuration")
    settings = options.get("settings")
    if given is not None and settings is not None:
        raise TypeError("Holdfast() takes either settings or configuration, not both")
    if settings is not None:
        return Configuration(settings=settings)
    return load_configuration(workspace) if given is None else given


_NAMED = ("profile", "tools", "workspace")
"""What `Holdfast()` takes beside its options."""


def refuse_unknown(options: Options) -> None:
    """A misspelt option must not go unnoticed: an approver would then never be asked."""
    taken = {*Options.__required_keys__, *Options.__optional_keys__}
    known = sorted({*taken, *_NAMED} - {"above", "flow"})
    for name in options:
        if name not in taken:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}=?" if near else f"known: {', '.join(known)}"
            raise TypeError(f"Holdfast() has no option {name!r}; {hint}")


def facts_of(wanted: Wanted, ids: TimeIds) -> SessionFacts:
    """Its id and its workspace; ConfigurationError where that is none."""
    workspace = wanted.workspace
    if workspace is not None and not Path(workspace).is_dir():
        raise ConfigurationError(
            f"workspace: {str(workspace)!r} is no directory; make it, or name another"
        )
    above, flow = wanted.options.get("above"), wanted.options.get("flow")
    fresh = ids.new("ses") if above is None else above.child_id
    fresh = fresh if flow is None else flow.session_id
    return SessionFacts(
        id=wanted.options.get("session") or fresh,
        workspace=None if workspace is None else str(Path(workspace).resolve()),
    )


def beginning_of(
    wanted: Wanted, session: SessionFacts, agent: CompiledAgent | None
) -> SessionCreated:
    """What the journal of the session begins with."""
    above, flow = wanted.options.get("above"), wanted.options.get("flow")
    model = wanted.options.get("model")
    created = SessionCreated(
        agent_id=None if agent is None else agent.id,
        profile=wanted.profile,
        workspace=session.workspace,
        model=model if agent is not None and isinstance(model, str) else None,
    )
    runs_on = wanted.options.get("runs_on") or (None if agent is None else agent.agent.runs_on)
    if runs_on is not None:
        if not 0 < len(runs_on) <= MOST_LABEL:
            raise ConfigurationError(f"runs_on: a label has 1 to {MOST_LABEL} characters")
        created = msgspec.structs.replace(created, metadata={RUNS_ON: runs_on})
    if flow is not None:
        created = msgspec.structs.replace(created, metadata=flow.metadata)
    if above is None:
        return created
    metadata: JsonObject = {**above.metadata, "depth": above.depth}
    return msgspec.structs.replace(created, parent_id=above.session_id, metadata=metadata)
