"""Policy, opened as a whole: rules from files, requirements, hooks, grants."""

import sys
from collections.abc import Sequence
from typing import TypedDict, Unpack

import anyio
import pytest
from places import Places

from holdfast import Answer, Ask, Holdfast, tool
from holdfast.app.configuration import Configuration, ConfigurationError, load_configuration
from holdfast.app.settings import Settings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.agents import AgentManifest
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure
from holdfast.contract.ports import Approver
from holdfast.contract.rules import Rule
from holdfast.contract.watchdog import Hook, Inspection, Opinion
from holdfast.policy.explain import Explanation
from holdfast.policy.watchdog import Specialist


@tool(
    requires={"fs": {"read": ["**"], "write": ["out/**"]}},
    uses={"path": "fs.write"},
)
def put(path: str, text: str = "") -> str:
    """Write a file (not really)."""
    return f"put {len(text)} into {path}"


@tool(requires={"net": {"hosts": ["api.example"]}})
def fetch() -> str:
    """Fetch (not really)."""
    return "fetched"


@tool(requires={"shell": [{"cmd": "*"}]}, uses={"command": "shell.run"})
def sh(command: str) -> str:
    """Run (not really)."""
    return f"ran {command}"


class Person:
    """Answers, and remembers what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask, /) -> Answer | None:
        self.asked.append(ask)
        return self._answers.pop(0) if self._answers else None


class More(TypedDict, total=False):
    approver: Approver
    rules: Sequence[Rule]
    hooks: Sequence[Hook]


def opened(
    places: Places,
    *,
    user: str = "",
    project: str = "",
    configuration: Configuration | None = None,
    tools: Sequence[object] = (),
    **options: Unpack[More],
) -> Holdfast:
    places.user_file.with_name("policy.toml").write_text(user, "utf-8")
    places.project_file.with_name("policy.toml").write_text(project, "utf-8")
    loaded = configuration or places.load()
    return Holdfast(
        tools=[put, fetch, sh, *tools],
        workspace=places.project,
        configuration=loaded,
        surroundings=surroundings_of_this_process(loaded.settings, environment=places.environment),
        **options,
    )


async def settled(hf: Holdfast, name: str, **arguments: object) -> Envelope:
    async with hf:
        return await hf.settle(name, arguments)


def said(envelope: Envelope) -> str:
    assert envelope.failure is not None
    return envelope.failure.message


async def test_a_tool_handed_over_in_code_runs_within_what_it_requires(places: Places) -> None:
    assert (await settled(opened(places), "put", path="out/a")).ok
    assert (await settled(opened(places), "fetch")).ok
    refused = said(await settled(opened(places), "put", path="src/a"))
    assert "requires.fs.write = ['src/a']" in refused
    outside = said(await settled(opened(places), "put", path="../x"))
    assert "outside of what may be written" in outside


@pytest.mark.req("SPEC-CON-11")
async def test_what_one_tool_requires_widens_what_all_may_reach(places: Places) -> None:
    @tool(requires={"fs": {"write": ["src/**"]}})
    def other() -> None:
        """Require more."""

    assert not (await settled(opened(places), "put", path="src/a")).ok
    assert (await settled(opened(places, tools=[other]), "put", path="src/a")).ok


DENY = '[[rule]]\npermission = "fs.write"\npattern = "out/secret"\naction = "deny"\n'


async def test_rules_of_the_persons_own_file_count(places: Places) -> None:
    envelope = await settled(opened(places, user=DENY), "put", path="out/./secret")
    assert "The project rule fs.write 'out/secret'" in said(envelope)
    assert f"{places.home}/policy.toml:1" in said(envelope)


async def test_rules_of_an_untrusted_project_narrow_only(places: Places) -> None:
    project = DENY + '[[rule]]\npermission = "put"\npattern = "**"\naction = "allow"\n'
    hf = opened(places, user=DENY.replace("secret", "mine"), project=project)
    async with hf:
        for path, fits in (("out/secret", False), ("out/mine", False), ("out/x", True)):
            assert (await hf.settle("put", {"path": path})).ok is fits


async def test_rules_of_the_profile_are_the_manifests(places: Places) -> None:
    configuration = places.load(
        user='[[profile.bare.rules]]\npermission = "sh"\npattern = "rm *"\naction = "deny"\n'
    )
    allow = Rule(permission="sh", pattern="rm x", action="allow", scope="session", source="code")
    hf = opened(places, configuration=configuration, rules=[allow])
    envelope = await settled(hf, "sh", command="ls; rm -fr x")
    assert f"The manifest rule sh 'rm *' ({places.user_file}:1) denies shell.run" in said(envelope)


async def test_a_ceiling_bounds_every_tool(places: Places) -> None:
    ceiling = '[policy.ceiling]\nread = ["**"]\nwrite = ["out/a"]\n'
    configuration = places.load(user=ceiling + '[[policy.ceiling.shell]]\ncmd = "git"\n')
    hf = opened(places, configuration=configuration)
    async with hf:
        assert (await hf.settle("put", {"path": "out/a"})).ok
        assert not (await hf.settle("put", {"path": "out/b"})).ok
        assert not (await hf.settle("fetch", {})).ok
        assert (await hf.settle("sh", {"command": "git log"})).ok
        assert not (await hf.settle("sh", {"command": "git log; rm x"})).ok


async def test_strict_mode_is_a_setting(places: Places) -> None:
    configuration = places.load(user="[policy]\nstrict = true\n")

    @tool(uses={"path": "fs.read"})
    def look(path: str) -> str:
        """Look."""
        return path

    hf = opened(places, configuration=configuration, tools=[look])
    assert not (await settled(hf, "look", path="a")).ok
    assert (await settled(opened(places, configuration=configuration), "put", path="out/a")).ok


async def test_the_hooks_that_ship_are_on_and_can_be_taken_off(places: Places) -> None:
    refused = said(await settled(opened(places), "sh", command="rm -rf /"))
    assert "deletes the system or a home directory" in refused
    off = places.load(user='[watchdog]\noff = ["destructive_commands"]\n')
    assert (await settled(opened(places, configuration=off), "sh", command="rm -rf /")).ok
    with pytest.raises(ConfigurationError, match="did you mean 'destructive_commands'"):
        opened(places, configuration=places.load(user='[watchdog]\noff = ["destructive"]\n'))


async def test_a_hook_in_python_has_the_time_the_settings_give_it(places: Places) -> None:
    async def waits(_inspection: Inspection, /) -> Opinion:
        await anyio.sleep(600)
        return Opinion()

    configuration = places.load(user="[watchdog]\nhook_seconds = 0.01\n")
    hf = opened(places, configuration=configuration, hooks=[waits])
    assert "'waits' failed (TimeoutError: it took longer than 0.01 s)" in said(
        await settled(hf, "fetch")
    )


async def test_a_specialist_is_asked_about_its_own_calls_alone(places: Places) -> None:
    def never(_inspection: Inspection, /) -> Opinion:
        return Opinion("deny", "Never.")

    async with opened(places, hooks=[Specialist(never, "fs.write")]) as hf:
        assert (await hf.settle("fetch", {})).ok
        assert "Never." in said(await hf.settle("put", {"path": "out/a"}))


async def test_hooks_of_the_program_and_of_the_configuration_are_asked(places: Places) -> None:
    def never(inspection: Inspection, /) -> Opinion:
        return Opinion("deny", f"Not {inspection.tool}.")

    assert "Not fetch." in said(await settled(opened(places, hooks=[never]), "fetch"))
    program = "import sys; sys.exit('no')"
    text = f'[watchdog]\ncommands = [["{sys.executable}", "-c", "{program}"]]\n'
    hf = opened(places, configuration=places.load(user=text))
    assert "status 1: no" in said(await settled(hf, "fetch"))


async def test_an_answer_for_the_project_is_found_by_the_next_session(places: Places) -> None:
    asking = '[[rule]]\npermission = "put"\npattern = "**"\naction = "ask"\n'
    person = Person(Answer(allowed=True, by="ada", remember="project"))
    first = opened(places, user=asking, approver=person)
    assert (await settled(first, "put", path="out/a")).ok
    second = opened(places, user=asking)
    assert (await settled(second, "put", path="out/a")).ok
    assert not (await settled(opened(places, user=asking), "put", path="out/b")).ok
    assert not list(places.project.rglob("*grants*"))
    assert len(person.asked) == 1


@pytest.mark.req("SPEC-HEAD-01")
async def test_without_an_approver_every_question_is_refused(places: Places) -> None:
    asking = '[[rule]]\npermission = "*"\npattern = "*"\naction = "ask"\n'
    envelope = await settled(opened(places, user=asking), "fetch")
    assert "no user is present" in said(envelope)


async def test_a_link_does_not_lead_around_a_rule(places: Places) -> None:
    (places.project / "out").mkdir()
    (places.project / "out" / "link").symlink_to(places.project / "out" / "secret")
    envelope = await settled(opened(places, user=DENY), "put", path="out/link")
    assert "denies fs.write on 'out/link'" in said(envelope)


async def test_an_explanation_names_the_file_and_line(places: Places) -> None:
    found = await opened(places, user=DENY).explain("put", {"path": "out/secret"})
    assert isinstance(found, Explanation)
    assert found.verdict == "deny"
    (one,) = [use for use in found.uses if use.capability == "fs.write"]
    assert one.decided_by is not None
    assert one.decided_by.source == f"{places.home}/policy.toml:1"


async def test_what_is_never_judged_is_not_explained(places: Places) -> None:
    hf = opened(places)
    for name, arguments in (("nope", {}), ("put", {"path": 5})):
        assert isinstance(await hf.explain(name, arguments), Failure)


def test_settings_and_configuration_exclude_each_other(places: Places) -> None:
    loaded = places.load()
    with pytest.raises(TypeError, match="not both"):
        Holdfast(settings=loaded.settings, configuration=loaded)


def test_a_workspace_that_cannot_be_one_is_an_error(places: Places) -> None:
    (places.project / "file").touch()
    with pytest.raises(ConfigurationError, match="workspace"):
        Holdfast(
            workspace=places.project / "file" / "x",
            configuration=places.load(),
            surroundings=surroundings_of_this_process(
                places.load().settings, environment=places.environment
            ),
        )


HUGE = "{a,b}" * 9


@pytest.mark.parametrize("where", ["code", "profile"])
def test_a_rule_that_cannot_be_weighed_is_an_error_at_once(places: Places, where: str) -> None:
    rule = Rule(permission="sh", pattern=HUGE, scope="session", source="code")
    profile = f'[[profile.bare.rules]]\npermission = "sh"\npattern = "{HUGE}"\n'
    configuration = places.load(user=profile if where == "profile" else "")
    named = {"code": "code", "profile": "config.toml:1"}[where]
    with pytest.raises(ConfigurationError, match=f"{named}: rule .sh.*alternatives"):
        opened(places, configuration=configuration, rules=[rule] if where == "code" else [])


def test_a_pinned_deny_and_an_empty_program_are_errors(places: Places) -> None:
    rule = '[[profile.bare.rules]]\npermission = "sh"\npattern = "*"\n'
    text = f'{rule}action = "deny"\npinned = true\n'
    with pytest.raises(ConfigurationError, match="only an ask can be pinned"):
        opened(places, configuration=places.load(user=text))
    with pytest.raises(ConfigurationError, match="an entry names no program; write"):
        opened(places, configuration=places.load(user="[watchdog]\ncommands = [[]]\n"))


async def test_without_a_project_nothing_outlives_the_session(places: Places) -> None:
    asking = Rule(permission="fetch", pattern="*", action="ask", scope="project", source="code")
    surroundings = surroundings_of_this_process(Settings(), environment=places.environment)

    def fresh(approver: Approver | None) -> Holdfast:
        return Holdfast(
            tools=[fetch],
            settings=Settings(),
            surroundings=surroundings,
            rules=[asking],
            approver=approver,
        )

    person = Person(Answer(allowed=True, by="ada", remember="project"))
    assert (await settled(fresh(person), "fetch")).ok
    assert not (await settled(fresh(None), "fetch")).ok


def test_rules_of_an_untrusted_profile_are_left_out_with_a_notice(places: Places) -> None:
    loaded = places.load(
        project='[[profile.bare.rules]]\npermission = "sh"\npattern = "*"\naction = "allow"\n'
    )
    assert loaded.settings.profile == {}
    assert any("profile.bare.rules" in notice for notice in loaded.notices)


def test_a_folder_that_is_both_is_the_persons_own(places: Places) -> None:
    environment = {"HOLDFAST_HOME": str(places.project / ".holdfast")}
    allow = DENY.replace("deny", "allow")
    places.project_file.with_name("policy.toml").write_text(allow, "utf-8")
    loaded = load_configuration(places.project, environment=environment)
    assert [one.action for one in loaded.rules.rules] == ["allow"]
    assert loaded.notices == ()


async def test_what_stands_in_the_way_of_a_command_is_told_rightly(places: Places) -> None:
    @tool(requires={"shell": [{"cmd": "git"}]}, uses={"command": "shell.run"})
    def only_git(command: str) -> str:
        """Run git (not really)."""
        return command

    hf = Holdfast(
        tools=[only_git],
        workspace=places.project,
        configuration=places.load(),
        surroundings=surroundings_of_this_process(Settings(), environment=places.environment),
    )
    for command, wanted in (
        ("git log; rm x", "requires.shell = [{'cmd': 'rm'}]"),
        ("git log $x", "cannot be taken apart"),
        ("LC_ALL=C git log", "sets a variable in front of a command"),
        ("git log > out", "outside of requires.fs"),
        ("git fetch &", "background"),
    ):
        assert wanted in said(await settled(hf, "only_git", command=command))


async def test_a_missing_workspace_is_called_one() -> None:
    @tool(requires={"fs": {"read": ["docs/**"]}})
    def reads() -> None:
        """Read."""

    hf = Holdfast(tools=[reads], settings=Settings())
    assert "no workspace is open" in said(await settled(hf, "reads"))


@pytest.mark.parametrize("written", ["out/b.py", "./out/b.py", "@/out/b.py", "@/out/"])
async def test_a_pattern_counts_however_it_is_written(places: Places, written: str) -> None:
    pattern = written.replace("@", str(places.project.resolve()))
    user = f'[[rule]]\npermission = "fs.write"\npattern = "{pattern}"\naction = "deny"\n'
    hf = opened(places, user=user)
    async with hf:
        for path in ("out/b.py", "./out/b.py", f"{places.project}/out/b.py"):
            assert not (await hf.settle("put", {"path": path})).ok


@pytest.mark.req("SPEC-WATCH-02")
async def test_a_hook_is_passed_tool_arguments_manifest_and_session(places: Places) -> None:
    seen: list[Inspection] = []

    def notes(inspection: Inspection, /) -> Opinion:
        seen.append(inspection)
        return Opinion()

    hf = opened(places, hooks=[notes])
    assert (await settled(hf, "put", path="out/a", text="x")).ok
    (one,) = seen
    assert (one.tool, one.session_id) == ("put", hf.session_id)
    assert one.arguments == {"path": "out/a", "text": "x"}
    assert one.manifest == AgentManifest(agent="bare", tools=("question", "put", "fetch", "sh"))


async def test_no_call_writes_holdfasts_own_files(places: Places) -> None:
    @tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"})
    def anywhere(path: str) -> str:
        """Write anywhere (not really)."""
        return path

    loaded = places.load()
    hf = Holdfast(
        tools=[anywhere, sh],
        workspace=places.home.parent,
        configuration=loaded,
        surroundings=surroundings_of_this_process(loaded.settings, environment=places.environment),
    )
    (places.home.parent / "link").symlink_to(places.home)
    async with hf:
        for path in ("home/policy.toml", "home/state/trust.json", "link/data/x", "home"):
            assert "holdfast's own" in said(await hf.settle("anywhere", {"path": path}))
        redirected = await hf.settle("sh", {"command": "echo a > home/policy.toml"})
        assert "holdfast's own" in said(redirected)
        assert (await hf.settle("anywhere", {"path": "homework"})).ok
