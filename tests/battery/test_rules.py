"""Rules against each other, through every door: none of these calls may run."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from battery.attempts_rules import RAW, UNREADABLE, WEIGHTS, RuleAttempt, grant, said
from battery.kit import (
    Attempt,
    Law,
    Person,
    World,
    ask,
    assert_stopped_by,
    evidence,
    made,
    open_world,
    refused,
    told,
    tools_for,
)
from battery.worlds import PLACES
from places import Places
from policy.judge_kit import WRITER, action, judged
from support import make_judge

from holdfast import Answer, Holdfast, tool
from holdfast.app.configuration import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.rules import Rule
from holdfast.policy.powers import AgentRules


@pytest.mark.parametrize("attempt", WEIGHTS, ids=[one.id for one in WEIGHTS])
async def test_rules_against_each_other(tmp_path: Path, attempt: RuleAttempt) -> None:
    law = Law(manifest=attempt.manifest, rules=attempt.rules)
    explanation = await refused(open_world(tmp_path, law), attempt.tool, attempt.arguments)
    assert explanation.stage == "rules"
    like = Attempt(attempt.id, attempt.tries, "", attempt.names, attempt.by)
    assert_stopped_by(explanation, like)


@pytest.mark.parametrize("text", [one[2] for one in RAW], ids=[one[0] for one in RAW])
async def test_what_is_judged_is_what_the_body_would_get(tmp_path: Path, text: str) -> None:
    world = open_world(tmp_path, PLACES)
    async with world.hf as hf:
        envelope = await hf.settle("put", text)
    assert world.ran == []
    assert envelope.failure is not None
    assert envelope.failure.kind == "rejected"
    assert "outside/loot" in envelope.failure.message


@pytest.mark.parametrize("text", [one[2] for one in UNREADABLE], ids=[one[0] for one in UNREADABLE])
async def test_what_is_no_argument_is_never_run(tmp_path: Path, text: str) -> None:
    world = open_world(tmp_path, PLACES)
    async with world.hf as hf:
        envelope = await hf.settle("put", text)
    assert world.ran == []
    assert envelope.failure is not None
    assert envelope.failure.kind == "invalid_args"


async def test_of_a_key_given_twice_the_judged_one_is_the_one_that_runs(tmp_path: Path) -> None:
    world = open_world(tmp_path, PLACES)
    async with world.hf as hf:
        await hf.settle("put", '{"path": "../outside/loot", "path": "out/a"}')
    assert world.ran in ([], [("put", "out/a")])


REMEMBERED = (
    ("star", {"path": "out/*"}, {"path": "out/other"}),
    ("stars", {"path": "out/**"}, {"path": "out/deep/other"}),
    ("question", {"path": "out/?"}, {"path": "out/x"}),
    ("brace", {"path": "out/{a,b}"}, {"path": "out/a"}),
    ("subtree", {"path": "out/deep/"}, {"path": "out/deep/below"}),
    ("backslash", {"path": "out/\\*"}, {"path": "out/*"}),
    ("bracket", {"path": "out/[ab]"}, {"path": "out/a"}),
    ("longer", {"path": "out/a"}, {"path": "out/ab"}),
    ("below", {"path": "out/a"}, {"path": "out/a/b"}),
    ("case", {"path": "out/a"}, {"path": "out/A"}),
    ("line", {"path": "out/a"}, {"path": "out/a\nb"}),
)


@pytest.mark.parametrize(
    "first", [one[1] for one in REMEMBERED], ids=[one[0] for one in REMEMBERED]
)
async def test_a_remembered_path_widens_nothing(tmp_path: Path, first: Mapping[str, str]) -> None:
    second = next(one[2] for one in REMEMBERED if one[1] is first)
    person = Person(Answer(allowed=True, by="ada", remember="session"))
    world = open_world(tmp_path, Law(manifest=(ask("fs.write", "**"),)), person)
    assert (await made(world, "put", first)).ok
    assert (await told(world, "put", first)).verdict == "allow"
    assert "**" in evidence(await refused(world, "put", second))
    await refused(world, "put_all", {"paths": [first["path"]]})


COMMANDS = (
    ("list", "git status", "git status; touch x"),
    ("redirect", "git status", "git status > out/a"),
    ("star", "echo '*'", "echo anything"),
    ("wrapped", "git status", "env git status"),
    ("path", "git status", "./git status"),
    ("longer", "git status", "git status --porcelain"),
    ("other-redirect", "echo x > out/a", "echo x > out/b"),
    ("assignment", "git status", "GIT_PAGER=x git status"),
    ("braces", "echo '{a,b}'", "echo a"),
    ("line", "git status", "git status\ntouch x"),
)


@pytest.mark.parametrize(("first", "second"), [one[1:] for one in COMMANDS], ids=lambda text: text)
async def test_a_remembered_command_widens_nothing(tmp_path: Path, first: str, second: str) -> None:
    person = Person(Answer(allowed=True, by="ada", remember="session"))
    law = Law(manifest=(ask("*", "**"),))
    world = open_world(tmp_path, law, person)
    assert (await made(world, "sh", {"command": first})).ok
    assert (await told(world, "sh", {"command": first})).verdict == "allow"
    await refused(world, "sh", {"command": second})
    await refused(world, "power", {"script": first})


async def test_a_remembered_link_is_asked_about_again_when_it_leads_elsewhere(
    tmp_path: Path,
) -> None:
    person = Person(Answer(allowed=True, by="ada", remember="session"))
    world = open_world(tmp_path, Law(manifest=(ask("fs.write", "**"),)), person)
    link = world.workspace / "out" / "link"
    link.symlink_to("deep")
    assert (await made(world, "put", {"path": "out/link"})).ok
    link.unlink()
    link.symlink_to("file")
    await refused(world, "put", {"path": "out/link"})


@pytest.mark.parametrize("command", ['eval "$x"', "ls `id`", "python3 -c pass", "x=1 ls"])
async def test_what_is_in_doubt_is_never_remembered(tmp_path: Path, command: str) -> None:
    person = Person(Answer(allowed=True, by="ada", remember="project"))
    world = open_world(tmp_path, Law(), person)
    assert (await made(world, "sh", {"command": command})).ok
    await refused(world, "sh", {"command": command})


def in_files(places: Places, user: str, project: str, config: str = "") -> World:
    """A world whose rules stand in files; the project is not trusted."""
    places.user_file.with_name("policy.toml").write_text(user, "utf-8")
    places.project_file.with_name("policy.toml").write_text(project, "utf-8")
    loaded = places.load(project=config)
    person = Person()
    ran: list[tuple[str, object]] = []
    hf = Holdfast(
        tools=tools_for(ran, [{"cmd": "*"}]),
        workspace=places.project,
        configuration=loaded,
        surroundings=surroundings_of_this_process(loaded.settings, environment=places.environment),
        approver=person,
    )
    return World(hf, person, ran, places.project)


def toml(permission: str, pattern: str, act: str) -> str:
    return f'[[rule]]\npermission = "{permission}"\npattern = "{pattern}"\naction = "{act}"\n'


UNTRUSTED = (
    ("allow", toml("put", "**", "deny"), toml("put", "out/x", "allow")),
    ("allow-ask", toml("put", "**", "ask"), toml("put", "out/x", "allow")),
    ("ask-below-deny", toml("fs.write", "out/**", "deny"), toml("put", "out/x", "ask")),
    ("allow-star", toml("fs.write", "out/*", "deny"), toml("*", "**", "allow")),
    ("same-pattern", toml("put", "out/x", "deny"), toml("put", "out/x", "allow")),
    ("own-deny", "", toml("put", "out/*", "deny") + toml("put", "out/x", "allow")),
)


@pytest.mark.parametrize(
    ("user", "project"), [one[1:] for one in UNTRUSTED], ids=[one[0] for one in UNTRUSTED]
)
async def test_a_project_that_is_not_trusted_only_narrows(
    places: Places, user: str, project: str
) -> None:
    explanation = await refused(in_files(places, user, project), "put", {"path": "out/x"})
    assert explanation.stage == "rules"


CONFIGURED = (
    "[watchdog]\noff = ['destructive_commands']\n",
    "[[profile.bare.rules]]\npermission = 'sh'\npattern = '*'\naction = 'allow'\n",
    "[policy]\nstrict = false\n",
    "[policy.ceiling]\nwrite = ['/**']\n",
)


@pytest.mark.parametrize("config", CONFIGURED)
async def test_a_projects_configuration_takes_no_guard_away(places: Places, config: str) -> None:
    world = in_files(places, "", "", config)
    explanation = await refused(world, "sh", {"command": "rm -rf /"})
    assert explanation.stage == "watchdog"
    await refused(world, "put", {"path": "/etc/passwd"})


async def test_a_project_brings_no_remembered_answers(places: Places) -> None:
    rule = '[{"permission":"put","pattern":"**","action":"allow","scope":"project","source":"x"}]'
    for folder in (places.project / "grants", places.project / ".holdfast" / "grants"):
        folder.mkdir()
        for name in ("grants", "a" * 32):
            (folder / f"{name}.json").write_text(rule, "utf-8")
    await refused(in_files(places, toml("put", "**", "ask"), ""), "put", {"path": "out/x"})


def test_a_project_cannot_pin_or_speak_for_the_manifest(places: Places) -> None:
    with pytest.raises(ConfigurationError, match="pinned"):
        in_files(places, "", toml("put", "**", "ask") + "pinned = true\n")
    with pytest.raises(ConfigurationError, match="scope"):
        in_files(places, "", toml("put", "**", "allow") + 'scope = "manifest"\n')


PARENTS = (
    ("deny", AgentRules(rules=(said("deny", "fs.write", "a/**", "manifest"),)), "deny"),
    ("deny-project", AgentRules(rules=(said("deny", "*", "**", "project"),)), "deny"),
    ("ask", AgentRules(rules=(said("ask", "fs.write", "**", "session"),)), "ask"),
    ("silent", AgentRules(), "ask"),
    ("other-tool", AgentRules(rules=(said("allow", "reader", "**", "session"),)), "ask"),
    ("narrower", AgentRules(rules=(said("allow", "writer", "b/**", "session"),)), "ask"),
)


@pytest.mark.parametrize(
    "own",
    [said("allow", "writer", "a/x", "session"), grant("writer", "a/x")],
    ids=["rule", "grant"],
)
@pytest.mark.parametrize(
    ("parent", "verdict"), [one[1:] for one in PARENTS], ids=[one[0] for one in PARENTS]
)
def test_a_child_does_not_exceed_its_parent(own: Rule, parent: AgentRules, verdict: str) -> None:
    above = AgentRules(rules=(said("allow", "*", "**", "manifest"),))
    judge = make_judge(own, standing={"writer": "code"}, parents=(above, parent))
    assert action(judged(judge, WRITER, {"path": "a/x"})) == verdict


def open_with(one: object, folder: Path, person: Person | None = None) -> Holdfast:
    """One tool alone, in a workspace of its own."""
    (folder / "project").mkdir()
    return Holdfast(
        tools=[one],
        workspace=folder / "project",
        settings=Settings(),
        surroundings=Surroundings(data_home=folder / "data"),
        approver=person,
    )


async def test_a_default_is_judged_like_anything_that_is_sent(tmp_path: Path) -> None:
    ran: list[object] = []

    @tool(requires={"fs": {"write": ["out/**"]}}, uses={"path": "fs.write"})
    def backup(path: str = "../outside/loot") -> None:
        """Write (not really)."""
        ran.append(path)

    async with open_with(backup, tmp_path) as hf:
        for arguments in ({}, None, "{}", {"path": "../x"}):
            assert not (await hf.settle("backup", arguments)).ok
    assert ran == []


@pytest.mark.parametrize("where", [{"path": "../outside/loot"}, {"path": "/etc/shadow"}, {}])
async def test_a_path_hidden_in_an_object_is_asked_about(
    tmp_path: Path, where: dict[str, str]
) -> None:
    ran: list[object] = []

    @tool(requires={"fs": {"read": ["**"]}}, uses={"where": "fs.read"})
    def look(where: dict[str, str]) -> None:
        """Look (not really)."""
        ran.append(where)

    person = Person()
    async with open_with(look, tmp_path, person) as hf:
        assert not (await hf.settle("look", {"where": where})).ok
    assert ran == []
    assert "no text" in person.asked[0].reason
