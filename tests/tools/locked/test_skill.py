"""`skill`: instructions in files, found in order, loaded when asked for, and the same since."""

import os
from pathlib import Path

import pytest
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import Holdfast
from holdfast.app.configuration import load_configuration
from holdfast.app.project_folder import read_project
from holdfast.app.settings import Settings, SkillSettings, StoreSettings, Surroundings
from holdfast.app.trust import TrustFile
from holdfast.contract.failure import FailureKind
from holdfast.sources.skills import LONGEST_FILE, SkillFolders

pytestmark = pytest.mark.anyio


def written(folder: Path, name: str, *, description: str = "What it does.", body: str = "") -> Path:
    """A skill in a folder of its own."""
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body or name}\n")
    return file


def settings(project: str = "always", *paths: Path) -> Settings:
    chosen = SkillSettings(project=project, paths=tuple(map(str, paths)))  # type: ignore[arg-type] - one of three
    return Settings(store=StoreSettings(kind="none"), skills=chosen)


def home_of(workspace: Path) -> Surroundings:
    home = workspace.parent / "home"
    return Surroundings(data_home=home / "data", environment={"HOME": str(home)})


@pytest.mark.req("SPEC-SKILL-02", "SPEC-SKILL-03", "SPEC-SKILL-05", "SPEC-LOCK-16")
async def test_a_body_is_loaded_when_asked_for_and_stays_the_same(workspace: Path) -> None:
    file = written(workspace / ".agents/skills", "review", body="# Review\n\nLook twice. <b>&</b>")
    async with opened(workspace, "locked", settings=settings()) as hf:
        assert next(tool for tool in hf.tools if tool.name == "skill").requires.empty
        assert [(one.name, one.description) for one in hf.skills] == [("review", "What it does.")]
        # Only now: what stands there when it is found is not what is loaded.
        file.write_text(file.read_text().replace("twice", "three times"))
        first = await hf.settle("skill", {"name": "review"})
        assert first.failure is None
        body = "# Review\n\nLook three times. <b>&</b>"
        assert await result(hf, "skill", name="review") == {
            "content": f'<skill_content name="review">\n{body}\n</skill_content>'
        }
        file.write_text("changed")
        again = await hf.settle("skill", {"name": "review"})
        assert again.result_json == first.result_json


@pytest.mark.req("SPEC-SKILL-04")
async def test_an_unknown_name_is_told_which_there_are(workspace: Path) -> None:
    async with opened(workspace, "locked", settings=settings()) as hf:
        nothing = await failure(hf, "skill", name="review")
        assert (nothing.kind, nothing.field) == (FailureKind.INVALID_ARGS, "name")
        assert "No skill is available here" in nothing.message
    for name in ("plan", "deploy"):
        written(workspace / ".agents/skills", name)
    async with opened(workspace, "locked", settings=settings()) as hf:
        assert (await failure(hf, "skill", name="../plan")).message == (
            "There is no skill '../plan'. Available: deploy, plan."
        )


async def test_the_nearest_wins_then_the_persons_the_programs_and_those_named(
    workspace: Path,
) -> None:
    (workspace / ".git").mkdir()
    inner = workspace / "packages/app"
    inner.mkdir(parents=True)
    home, extra = workspace.parent / "home", workspace.parent / "extra"
    bundled = workspace.parent / "bundled"
    places = (
        *(inner / ".agents/skills", inner / ".claude/skills", workspace / ".agents/skills"),
        *(workspace / ".claude/skills", home / ".agents/skills", home / ".claude/skills", bundled),
        extra,
    )
    for number, place in enumerate(places):
        for name in ("shared", f"own-{number}"):
            written(place, name, body=f"from {number}")
    written(workspace.parent / ".agents/skills", "outside")  # above the project
    for number in range(len(places)):
        named = settings("always", extra)
        around = home_of(workspace)
        made = opened(inner, "locked", settings=named, surroundings=around, skills=[bundled])
        async with made as hf:
            assert f"from {number}" in (await result(hf, "skill", name="shared"))["content"]
            assert "outside" not in [one.name for one in hf.skills]
            assert len(hf.skills) == 1 + len(places) - number
            twice = [one for one in hf.remarks_on_skills if "was found before" in one]
            assert len(twice) == len(places) - number - 1
        (places[number] / "shared/SKILL.md").unlink()
        (places[number] / f"own-{number}/SKILL.md").unlink()


@pytest.mark.parametrize("project", ["trusted", "never"])
async def test_a_project_that_nobody_trusts_gives_no_instructions(
    workspace: Path, project: str
) -> None:
    written(workspace / ".claude/skills", "review")
    async with opened(workspace, "locked", settings=settings(project)) as hf:
        assert hf.skills == ()
        told = [one for one in hf.remarks_on_skills if "nobody trusts the project" in one]
        assert len(told) == (project == "trusted")


async def test_a_project_that_a_person_trusts_does(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = workspace.parent / "home"
    home.mkdir()
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    written(workspace / ".agents/skills", "review")
    (workspace / ".holdfast").mkdir()
    (workspace / ".holdfast/config.toml").write_text("")
    around = Surroundings(data_home=home / "data", state_home=home / "state")
    for trusted in (False, True):
        configuration = load_configuration(workspace, overrides={"store.kind": "none"})
        hf = Holdfast(
            profile="locked",
            workspace=workspace,
            configuration=configuration,
            surroundings=around,
        )
        async with hf:
            assert [one.name for one in hf.skills] == (["review"] if trusted else [])
        seen = read_project(workspace)
        assert seen is not None
        TrustFile(home / "state").trust(workspace.resolve(), seen)


@pytest.mark.req("SPEC-SKILL-06")
def test_what_cannot_be_a_skill_is_passed_over_with_a_remark(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "skills", tmp_path / "elsewhere"
    written(folder, "good", description=">\n  several\n  lines")
    (folder / "flat.md").write_text("---\nname: flat\ndescription: A flat one.\n---\nbody")
    written(elsewhere, "stolen")
    (folder / "linked").symlink_to(elsewhere / "stolen")
    (folder / "linked.md").symlink_to(elsewhere / "stolen/SKILL.md")
    (folder / "inner").mkdir()
    (folder / "inner/SKILL.md").symlink_to(elsewhere / "stolen/SKILL.md")
    (folder / "shouting.md").write_text("---\nname: Shouting\ndescription: x\n---\n")
    (folder / "silent.md").write_text("---\nname: silent\n---\n")
    (folder / "plain.md").write_text("# No frontmatter")
    (folder / "binary.md").write_bytes(b"---\nname: b\n\xff\n---\n")
    (folder / "huge.md").write_bytes(b"x" * (LONGEST_FILE + 1))
    (folder / "something").mkdir()
    (folder / ".hidden.md").write_text("")
    (folder / "notes.txt").write_text("")
    os.mkfifo(folder / "pipe.md")
    found = SkillFolders([tmp_path / "missing", folder])
    assert [(one.name, one.description) for one in found.all()] == [
        ("flat", "A flat one."),
        ("good", "several lines"),
    ]
    told = {Path(one.split(": ")[0]).relative_to(folder).as_posix(): one for one in found.remarks}
    assert sorted(told) == [
        *("binary.md", "huge.md", "inner/SKILL.md", "linked.md", "linked/SKILL.md"),
        *("pipe.md", "plain.md", "shouting.md", "silent.md"),
    ]
    for name in ("inner/SKILL.md", "linked.md", "linked/SKILL.md"):
        assert "a link is in the way" in told[name]


async def test_a_folder_that_leads_out_of_the_project_is_passed_over(workspace: Path) -> None:
    elsewhere = workspace.parent / "elsewhere"
    written(elsewhere, "stolen")
    (workspace / ".agents").mkdir()
    (workspace / ".agents/skills").symlink_to(elsewhere)
    async with opened(workspace, "locked", settings=settings()) as hf:
        assert hf.skills == ()
        assert "leads out of the project" in hf.remarks_on_skills[0]


@pytest.mark.req("SPEC-SKILL-08")
async def test_a_file_that_became_a_link_is_not_loaded(workspace: Path) -> None:
    secret = workspace.parent / "secret.md"
    secret.write_text("---\nname: review\ndescription: x\n---\nsecret")
    file = written(workspace / ".agents/skills", "review")
    async with opened(workspace, "locked", settings=settings()) as hf:
        assert len(hf.skills) == 1
        file.unlink()
        file.symlink_to(secret)
        refused = await failure(hf, "skill", name="review")
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "secret" not in refused.message
        file.unlink()
        assert (await failure(hf, "skill", name="review")).kind == FailureKind.UNAVAILABLE


@pytest.mark.req("SPEC-SKILL-09")
async def test_which_skills_there_are_does_not_change_in_a_session(workspace: Path) -> None:
    written(workspace / ".agents/skills", "first")
    async with opened(workspace, "locked", settings=settings()) as hf:
        before = hf.skills
        written(workspace / ".agents/skills", "second")
        assert hf.skills == before
        assert (await failure(hf, "skill", name="second")).field == "name"


async def test_without_a_home_nothing_of_a_person_is_read(workspace: Path) -> None:
    async with opened(workspace, "locked", settings=UNRECORDED) as hf:
        assert hf.skills == ()
