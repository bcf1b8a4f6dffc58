"""Skills as an agent that knows where it stands reads them: a glimpse of all, the whole of one."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened, result

from holdfast.app.settings import Settings, SkillSettings, StoreSettings
from holdfast.contract.failure import FailureKind
from holdfast.runtime.managed.skill_book import preview

pytestmark = pytest.mark.anyio

FLAT = """\
---
name: deploy
description: Ship it with make.
---
First.

Second.
Third.
Fourth.
"""
LONG = "# Review\n\nLook   twice.\nThen look\nagain.\n" + "x" * 30_000


def written(folder: Path, name: str, description: str, body: str) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n", "utf-8")
    return file


def with_skills(workspace: Path, *, kind: str = "none") -> Any:
    folder = workspace.parent / "our-library"
    if not folder.exists():
        written(folder, "review", "How code is looked at.", LONG)
        written(folder, "build", "How to build.", "Run make.")
        (folder / "deploy.md").write_text(FLAT, "utf-8")
    settings = Settings(
        store=StoreSettings(kind=kind),  # type: ignore[arg-type] - one of those there are
        skills=SkillSettings(paths=(str(folder),)),
    )
    return opened(workspace, "managed", settings=settings)


@pytest.mark.req("BOA-SKL-01", "BOA-SKL-02")
async def test_skills_are_listed_by_name_with_a_glimpse(workspace: Path) -> None:
    async with with_skills(workspace) as hf:
        declared = next(one for one in hf.tools if one.name == "skills_list")
        assert declared.input_schema["properties"] == {}
        told = await result(hf, "skills_list")
        names = [one["name"] for one in told["skills"]]
        assert (told["count"], names) == (3, ["build", "deploy", "review"])
        folder = workspace.parent / "our-library"
        for one in told["skills"]:
            assert set(one) == {"name", "description", "preview", "source", "next_step"}
            assert one["source"] == str(folder)
            step = one["next_step"]
            assert (step["tool"], step["args"]) == ("skills_read", {"name": one["name"]})
            assert step["rationale"]
            assert (await result(hf, step["tool"], **step["args"]))["name"] == one["name"]
        build, deploy, review = told["skills"]
        assert (build["preview"], build["description"]) == ("Run make.", "How to build.")
        assert deploy["preview"] == "First. Second. Third."
        assert review["preview"] == "# Review Look twice. Then look"


@given(st.text(alphabet="ab \n\t#", max_size=2_000))
def test_a_glimpse_is_short_and_of_the_first_three_lines(body: str) -> None:
    shown = preview(body)
    assert len(shown) <= 220
    assert "\n" not in shown
    said = [" ".join(line.split()) for line in body.splitlines() if line.strip()]
    assert " ".join(said[:3]).startswith(shown.removesuffix("…"))


@pytest.mark.req("BOA-SKL-03", "BOA-SKL-04")
async def test_skills_are_found_by_name_description_and_source(workspace: Path) -> None:
    async with with_skills(workspace) as hf:
        declared: Any = next(one for one in hf.tools if one.name == "skills_search")
        assert declared.input_schema["required"] == ["query"]
        assert declared.input_schema["properties"]["limit"]["default"] == 8
        told = await result(hf, "skills_search", query="build make")
        assert (told["count"], [one["name"] for one in told["hits"]]) == (2, ["build", "deploy"])
        best = told["hits"][0]
        folder = workspace.parent / "our-library"
        assert set(best) == {
            *("name", "description", "preview", "source", "next_step", "score", "reasons"),
            *("file_path", "base_dir"),
        }
        assert best["file_path"] == str(folder / "build" / "SKILL.md")
        assert (best["base_dir"], best["source"]) == (str(folder / "build"), str(folder))
        assert (best["score"], best["reasons"]) == (1, ["term:build"])
        assert best["preview"] == "Run make."
        step = best["next_step"]
        assert (await result(hf, step["tool"], **step["args"]))["content"].strip() == "Run make."
        deploy = told["hits"][1]
        assert (deploy["file_path"], deploy["base_dir"]) == (str(folder / "deploy.md"), str(folder))
        # What a body says is not looked at; where the skills come from is.
        assert (await result(hf, "skills_search", query="twice"))["count"] == 0
        by_source = await result(hf, "skills_search", query="our-library")
        assert by_source["count"] == 3
        assert (await result(hf, "skills_search", query="our-library", limit=2))["count"] == 2
        refused = await failure(hf, "skills_search", query=" ")
        assert "skills_search requires a non-empty query" in refused.message


@pytest.mark.req("BOA-SKL-05", "BOA-SKL-06")
async def test_the_whole_body_of_one_is_read(workspace: Path) -> None:
    async with with_skills(workspace) as hf:
        declared: Any = next(one for one in hf.tools if one.name == "skills_read")
        assert declared.input_schema["required"] == ["name"]
        assert declared.input_schema["properties"]["max_chars"]["default"] == 24_000
        short = await result(hf, "skills_read", name="build")
        assert (short["content"].strip(), short["truncated"]) == ("Run make.", False)
        assert (short["description"], short["next_step"]) == ("How to build.", None)
        assert short["file_path"].endswith("/our-library/build/SKILL.md")
        cut = await result(hf, "skills_read", name="review")
        assert (len(cut["content"]), cut["truncated"]) == (24_000, True)
        step = cut["next_step"]
        whole = await result(hf, step["tool"], **step["args"])
        assert (whole["content"].strip(), whole["truncated"]) == (LONG, False)
        few = await result(hf, "skills_read", name="review", max_chars=8)
        assert (few["content"], few["truncated"]) == (LONG[:8], True)
        for name in ("Build", "bui", "no-such"):
            refused = await failure(hf, "skills_read", name=name)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "name")
            more: Any = refused.extras["next_step"]
            assert (await result(hf, more["tool"], **more["args"]))["count"] == 3
        blank = await failure(hf, "skills_read", name=" ")
        assert "skills_read requires a non-empty name" in blank.message


async def test_a_skill_that_is_gone_is_listed_without_a_glimpse(workspace: Path) -> None:
    async with with_skills(workspace) as hf:
        assert len(hf.skills) == 3
        (workspace.parent / "our-library" / "build" / "SKILL.md").unlink()
        told = await result(hf, "skills_list")
        assert [one["preview"] == "" for one in told["skills"]] == [True, False, False]
        refused = await failure(hf, "skills_read", name="build")
        assert refused.kind is FailureKind.UNAVAILABLE
