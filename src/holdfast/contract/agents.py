"""An agent as its author declares it: who it is, what it may reach, and how long it may run.

Values only. Whether what is declared exists, and what it comes to in a session, is found out
elsewhere, before the session starts; who runs an agent's loop is not known here either.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, TypeVar, cast

import msgspec

from holdfast.contract.delegation import AgentMode
from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import NOTHING_REQUIRED, RequirementSet, declared_set
from holdfast.contract.rules import Action, Rule

DEFAULT_ROUNDS = 64
DEFAULT_RETRIES = 4
DEFAULT_CONTINUES = 3

_Count = Annotated[int, msgspec.Meta(ge=1)]
MOST_LABEL = 63
"""Characters, as elsewhere where machines have labels; in any script it is part of a name."""
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_LABEL)]
"""Of workers of a cluster, and of sessions that are for them alone."""
RUNS_ON = "runs_on"
"""Where a session's metadata say which workers of a cluster may run it."""
_LISTS = ("rules", "roots", "ad_hoc", "subagents", "skills")


def label_in(metadata: JsonObject) -> str | None:
    """The label that a session's metadata name, if they do."""
    label = metadata.get(RUNS_ON)
    return label if isinstance(label, str) and label else None


class Visibility(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names or patterns with `*`. Deny wins; no allow list means all."""

    allow: tuple[str, ...] = ()
    """What is visible; empty: everything."""
    also_allow: tuple[str, ...] = ()
    """Added to `allow`."""
    deny: tuple[str, ...] = ()
    """What is not visible, whatever else is said."""

    def admits(self, name: str) -> bool:
        """Whether a tool of this name is visible."""
        if _matches(name, self.deny):
            return False
        return not self.allow or _matches(name, (*self.allow, *self.also_allow))


class RunLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much one run of an agent may use. None: as much as it likes."""

    rounds: _Count = DEFAULT_ROUNDS
    """How often the model is asked."""
    tokens: _Count | None = None
    """Of all requests and replies together."""
    cost: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """In the currency that the model's prices are told in."""
    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """From the start of the run."""
    retries: Annotated[int, msgspec.Meta(ge=0)] = DEFAULT_RETRIES
    """How often a request to the model is sent again after a failure that may pass."""
    continues: Annotated[int, msgspec.Meta(ge=0)] = DEFAULT_CONTINUES
    """How many runs in a row may end with the wish to go on; the next one sleeps instead."""

    def within(self, bounds: "RunLimits") -> "RunLimits":
        """The smaller of both, each by itself; what is no use of anything stays."""
        return RunLimits(
            rounds=min(self.rounds, bounds.rounds),
            tokens=_smaller(self.tokens, bounds.tokens),
            cost=_smaller(self.cost, bounds.cost),
            seconds=_smaller(self.seconds, bounds.seconds),
            retries=self.retries,
            continues=self.continues,
        )


class ManifestRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule of an agent's author. A deny is final."""

    permission: str
    pattern: str
    action: Action = "ask"
    reason: str | None = None
    pinned: bool = False
    """Of an ask: no session or project rule turns it into an allow."""
    source: str = ""
    """Where it stands, if not in code."""


class Agent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent is declared as, in code or as an `[agent.NAME]` table."""

    id: str
    description: str = ""
    """What it is for, in one line."""
    mode: AgentMode = "all"
    """Who starts it: people (`primary`), other agents (`subagent`), or both."""
    model: str | None = None
    """The name of a configured model, or `provider:model`; None: whichever is usual."""
    profile: str | None = None
    """Its tools and what narrows them; None: as the session is opened."""
    instructions: str = ""
    """What the model is told first."""
    requires: RequirementSet | Mapping[str, object] = NOTHING_REQUIRED
    """What it needs beside what its tools require."""
    rules: tuple[ManifestRule, ...] = ()
    tools: Visibility = Visibility()
    """Which tools of its profile it sees."""
    roots: tuple[str, ...] = ()
    """Further directories that `{workspace}` stands for: absolute, below `~/`, or from the
    workspace."""
    substrate: str | None = None
    """Where the files are that all its sessions share: a directory as in `roots`; None: one that
    holdfast keeps. Managed sessions read it, and change it by what they promote alone."""
    ad_hoc: tuple[str, ...] = ()
    """The files that are open now, wherever they lie; `{ad-hoc}` stands for their directories."""
    subagents: tuple[str, ...] | None = None
    """Whom it may hand work to; None: every agent that takes work."""
    skills: tuple[str, ...] = ()
    """Folders of skills that it brings along."""
    limits: RunLimits = RunLimits()
    directives: bool = False
    """Whether the directive that ends or repeats a loop is offered to the model."""
    guidance: bool = True
    """Whether the loop reminds the model of its own list of things to do."""
    tools_off: bool = False
    """Send no tools to the model at all."""
    runs_on: Label | None = None
    """The label of the workers of a cluster that run its sessions; None: any of them."""

    def __post_init__(self) -> None:
        """What was handed over as a list or a table must not change later."""
        if not isinstance(self.requires, RequirementSet):
            try:
                requires = declared_set(self.requires)
            except ValueError as problem:
                raise ValueError(f"agent.{self.id}.{problem}") from None
            msgspec.structs.force_setattr(self, "requires", requires)
        for name in _LISTS:
            given: object = getattr(self, name)
            if isinstance(given, list):
                kept = tuple(cast("list[object]", given))
                msgspec.structs.force_setattr(self, name, kept)

    @property
    def takes_work(self) -> bool:
        """Whether other agents may hand work to it."""
        return self.mode != "primary"


class AgentManifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An agent as the watchdog sees it: compiled, and the same for the whole session."""

    agent: str
    """Its id; of a session without an agent the name of the profile."""
    tools: tuple[str, ...]
    """All that can be called now."""
    mode: AgentMode | None = None
    profile: str | None = None
    requires: RequirementSet = NOTHING_REQUIRED
    rules: tuple[Rule, ...] = ()
    """Every rule of the manifest scope there is, the profile's included."""
    roots: tuple[str, ...] = ()
    """The workspace and every further root, without links."""


NO_AGENT = AgentManifest(agent="", tools=())


class CompiledAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as a session is opened under it. Nothing of it changes."""

    agent: Agent
    profile: str
    requires: RequirementSet
    rules: tuple[Rule, ...]
    """All rules of the manifest scope: the profile's, then its own."""
    workspace: str | None
    roots: tuple[str, ...]
    """The further roots: absolute, without links."""
    ad_hoc: tuple[str, ...]
    """The directories of the files that are open."""
    substrate: str | None = None
    """Where its shared files are, without links; None: where holdfast keeps them."""
    subagents: tuple[str, ...]
    """Whom it may hand work to."""

    @property
    def id(self) -> str:
        """What it is called."""
        return self.agent.id

    def manifest(self, tools: Iterable[str]) -> AgentManifest:
        """What the watchdog receives, with the names of all tools that can be called."""
        workspace = () if self.workspace is None else (self.workspace,)
        return AgentManifest(
            agent=self.agent.id,
            tools=tuple(tools),
            mode=self.agent.mode,
            profile=self.profile,
            requires=self.requires,
            rules=self.rules,
            roots=(*workspace, *self.roots),
        )


_Amount = TypeVar("_Amount", int, float)


def _smaller(one: _Amount | None, other: _Amount | None) -> _Amount | None:
    """None: there is no limit."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern.strip()) for pattern in patterns if pattern.strip())
