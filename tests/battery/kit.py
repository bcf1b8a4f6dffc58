"""The worlds in which the battery makes its attempts, and how one attempt is judged.

A world is a real `Holdfast` in a real folder, with tools that do nothing but note that they ran,
and a person who is asked and never answers. Nothing that is attempted is ever executed.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from holdfast import Answer, Ask, Holdfast, tool
from holdfast.app.agent_settings import RuleSettings
from holdfast.app.settings import (
    PolicySettings,
    ProfileSettings,
    Settings,
    Surroundings,
    WatchdogSettings,
)
from holdfast.contract.envelope import Envelope
from holdfast.contract.rules import Action, Rule
from holdfast.policy.explain import Explanation, UseExplained

ALL_HOOKS = ("destructive_commands", "exfiltration_shapes", "secrets_in_arguments")
NO_HOOKS = WatchdogSettings(off=ALL_HOOKS)
ANY_COMMAND = ({"cmd": "*"},)

By = Literal["rule", "doubt", "reach", "watchdog", "ask"]
"""What has to stop an attempt: a deny rule, a doubt, the capabilities, a hook, an ask rule."""


class Attempt(NamedTuple):
    """One try to get past the policy."""

    id: str
    tries: str
    text: str
    names: str
    """What the explanation has to name: the deciding rule's pattern, or a piece of the doubt."""
    by: By = "doubt"


class Person:
    """Is asked, writes it down, and answers nothing unless told to."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask, /) -> Answer | None:
        self.asked.append(ask)
        return self._answers.pop(0) if self._answers else None


class World(NamedTuple):
    """One opened whole, and what happened in it."""

    hf: Holdfast
    person: Person
    ran: list[tuple[str, object]]
    workspace: Path


def tools_for(
    ran: list[tuple[str, object]], commands: Iterable[Mapping[str, object]]
) -> list[object]:
    """Tools that note that they ran. What they require is what the agent may reach."""

    @tool(
        requires={"shell": list(commands), "fs": {"read": ["**"], "write": ["out/**", "src/*.py"]}},
        uses={"command": "shell.run"},
    )
    def sh(command: str) -> str:
        """Run a command (not really)."""
        ran.append(("sh", command))
        return "ran"

    @tool(uses={"script": "shell.run"})
    def power(script: str) -> str:
        """Run a command in another shell (not really)."""
        ran.append(("power", script))
        return "ran"

    @tool(uses={"path": "fs.write"})
    def put(path: str, text: str = "") -> str:
        """Write a file (not really)."""
        ran.append(("put", path))
        return "put"

    @tool(uses={"paths": "fs.write"})
    def put_all(paths: list[str]) -> str:
        """Write files (not really)."""
        ran.append(("put_all", paths))
        return "put"

    @tool(uses={"path": "fs.read"})
    def get(path: str) -> str:
        """Read a file (not really)."""
        ran.append(("get", path))
        return "got"

    @tool(
        requires={"net": {"hosts": ["api.example.com", "*.cdn.example.com", "secure.example:443"]}},
        uses={"url": "net.fetch"},
    )
    def fetch(url: str) -> str:
        """Fetch (not really)."""
        ran.append(("fetch", url))
        return "fetched"

    return [sh, power, put, put_all, get, fetch]


class Law(NamedTuple):
    """What a world is governed by."""

    commands: Sequence[Mapping[str, object]] = ANY_COMMAND
    manifest: Sequence[RuleSettings] = ()
    rules: Sequence[Rule] = ()
    watchdog: WatchdogSettings = NO_HOOKS
    policy: PolicySettings = PolicySettings()


def open_world(folder: Path, law: Law, person: Person | None = None) -> World:
    """Open a world in a folder of its own, with links in it that lead astray."""
    workspace = lay_out(folder)
    ran: list[tuple[str, object]] = []
    someone = person or Person()
    hf = Holdfast(
        tools=tools_for(ran, law.commands),
        workspace=workspace,
        settings=Settings(
            watchdog=law.watchdog,
            policy=law.policy,
            profile={"bare": ProfileSettings(rules=tuple(law.manifest))},
        ),
        surroundings=Surroundings(data_home=folder / "data"),
        approver=someone,
        rules=law.rules,
    )
    return World(hf, someone, ran, workspace)


def lay_out(folder: Path) -> Path:
    """A workspace, what lies beside it, and links between them."""
    workspace = folder / "project"
    for name in ("out/deep", "src", "secret", ".git/hooks", ".holdfast"):
        (workspace / name).mkdir(parents=True)
    for name in ("outside", "project-evil"):
        (folder / name).mkdir()
        (folder / name / "loot").write_text("loot", "utf-8")
    (workspace / "secret" / "key").write_text("key", "utf-8")
    (workspace / "src" / "a.py").write_text("", "utf-8")
    (workspace / "out" / "file").write_text("", "utf-8")
    links = {
        "out/away": folder / "outside",
        "out/loot": folder / "outside" / "loot",
        "out/dangling": folder / "outside" / "not-yet",
        "out/far-dangling": folder / "nowhere" / "at" / "all",
        "out/loop": workspace / "out" / "loop",
        "out/loop-a": workspace / "out" / "loop-b",
        "out/loop-b": workspace / "out" / "loop-a",
        "out/key": Path("../secret/key"),
        "out/two-steps": Path("away-again"),
        "out/away-again": Path("../../outside/loot"),
        "out/deep/up": Path("../../../outside"),
        "out/hooks": workspace / ".git" / "hooks",
        "out/conf": Path("../.git/config"),
        "out/root": Path("/"),
        "out/fine": Path("deep"),
    }
    for name, target in links.items():
        (workspace / name).symlink_to(target)
    return workspace


def deny(permission: str, pattern: str) -> RuleSettings:
    """A deny of the manifest."""
    return RuleSettings(permission=permission, pattern=pattern, action="deny")


def allow(permission: str, pattern: str) -> RuleSettings:
    """An allow of the manifest."""
    return RuleSettings(permission=permission, pattern=pattern, action="allow")


def ask(permission: str, pattern: str) -> RuleSettings:
    """An ask of the manifest."""
    return RuleSettings(permission=permission, pattern=pattern, action="ask")


async def made(world: World, name: str, arguments: Mapping[str, object]) -> Envelope:
    """Make a call for real."""
    async with world.hf as hf:
        return await hf.settle(name, dict(arguments))


async def told(world: World, name: str, arguments: Mapping[str, object]) -> Explanation:
    """Ask how a call would be judged."""
    found = await world.hf.explain(name, dict(arguments))
    assert isinstance(found, Explanation), found
    return found


async def refused(world: World, name: str, arguments: Mapping[str, object]) -> Explanation:
    """Attempt a call: it must not run, and whoever asks is told why. The same thing each time."""
    ran, asked = len(world.ran), len(world.person.asked)
    explanation = await told(world, name, arguments)
    assert explanation.verdict in ("ask", "deny"), "ALLOWED"
    envelope = await made(world, name, arguments)
    assert not envelope.ok
    assert len(world.ran) == ran, "the body ran"
    assert len(world.person.asked) - asked == (explanation.verdict == "ask")
    assert envelope.failure is not None
    assert envelope.failure.kind == "rejected"
    assert explanation.reason.strip()
    if explanation.verdict == "deny":
        assert explanation.reason in envelope.failure.message
    else:
        assert world.person.asked[-1].reason == explanation.reason
    assert await told(world, name, arguments) == explanation
    assert_grounds(explanation)
    return explanation


def assert_grounds(explanation: Explanation) -> None:
    """Whatever decided is named in the reason: a rule, a doubt, a refusal."""
    strict = [use for use in explanation.uses if use.verdict != "allow"]
    if explanation.stage == "watchdog":
        assert explanation.reason
        return
    assert strict, "nothing is said to have decided"
    deciding = [use for use in strict if _is_named(explanation, use)]
    assert deciding, f"the reason names nothing that decided: {explanation.reason}"


def _is_named(explanation: Explanation, use: UseExplained) -> bool:
    if not use.within_reach:
        return use.otherwise is not None and use.otherwise in explanation.reason
    if use.doubt is not None and use.doubt in explanation.reason:
        return True
    return use.decided_by is not None and repr(use.decided_by.pattern) in explanation.reason


def evidence(explanation: Explanation) -> str:
    """Everything an explanation cites, without the text of the attempt itself."""
    pieces: list[str] = []
    for use in explanation.uses:
        if use.doubt is not None:
            pieces.append(use.doubt)
        if use.decided_by is not None and use.decided_by.action != "allow":
            pieces.append(use.decided_by.pattern)
        if not use.within_reach:
            pieces.append(use.otherwise or "")
    if explanation.stage == "watchdog":
        pieces.append(explanation.reason)
    return "\n".join(pieces)


def strictest_expected(by: By) -> tuple[Action, ...]:
    """Which verdicts stop an attempt of this kind well enough."""
    return ("ask", "deny") if by in ("doubt", "ask") else ("deny",)


def assert_stopped_by(explanation: Explanation, attempt: Attempt) -> None:
    """The expected piece decided, not something by accident."""
    assert explanation.verdict in strictest_expected(attempt.by), explanation.reason
    assert attempt.names in evidence(explanation), evidence(explanation)
