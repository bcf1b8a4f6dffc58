"""Profiles: which built-in tools a session has, and what bounds them."""

from pathlib import Path

import msgspec
import pytest
from places import Places
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import Holdfast, tool
from holdfast.app import profiles
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import PROFILES, TOOLSETS, profile_settings
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import ProfileSettings, Settings, StoreSettings, Surroundings
from holdfast.contract.agents import Visibility
from holdfast.contract.builtin import builtin
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.person import Asker, Inquiry, Replies
from holdfast.contract.tool import LOCKED_NAMES, ToolDefinitionError


def names(tmp_path: Path, profile: str, **table: ProfileSettings) -> list[str]:
    settings = Settings(store=StoreSettings(kind="none"), profile=table)
    hf = Holdfast(tools=[own], profile=profile, settings=settings, surroundings=around(tmp_path))
    return [one.name for one in hf.tools]


def around(tmp_path: Path) -> Surroundings:
    return Surroundings(data_home=tmp_path / "data")


@tool
def own() -> int:
    """One of the host's."""
    return 1


def test_a_library_has_what_it_hands_over_and_question(tmp_path: Path) -> None:
    assert names(tmp_path, "bare") == ["question", "own"]
    hf = Holdfast(tools=[own], settings=Settings(), surroundings=around(tmp_path))
    assert [one.name for one in hf.tools] == ["question", "own"]


@pytest.mark.req("SPEC-QUES-09")
@pytest.mark.parametrize("profile", [*PROFILES, "mine"])
async def test_no_host_lacks_a_way_to_ask_or_its_refusal(tmp_path: Path, profile: str) -> None:
    async def answers(inquiry: Inquiry, /) -> Replies:
        return Replies(answers=((inquiry.questions[0].options[0].label,),), by="ada")

    given = {"questions": [{"question": "Which?", "options": [{"label": "this one"}]}]}
    settings = Settings(
        store=StoreSettings(kind="none"), profile={"mine": ProfileSettings(toolsets=())}
    )

    async def settled(person: Asker | None) -> Envelope:
        async with Holdfast(
            profile=profile, settings=settings, surroundings=around(tmp_path), person=person
        ) as hf:
            return await hf.settle("question", given)

    assert (await settled(answers)).result == {"answers": [["this one"]]}
    refused = (await settled(None)).failure
    assert refused is not None
    assert refused.kind is FailureKind.REJECTED


def test_the_built_in_tools_come_first_and_hide_like_any_other(tmp_path: Path) -> None:
    assert names(tmp_path, "locked") == [*(one.name for one in TOOLSETS["locked"]), "own"]
    hidden = ProfileSettings(tools=Visibility(deny=("todo",)))
    assert "todo" not in names(tmp_path, "locked", locked=hidden)


def test_a_toolset_is_written_in_configuration(places: Places) -> None:
    loaded = places.load(user='[profile.mine]\ntoolsets = ["locked"]\n')
    chosen = profile_settings(loaded.settings.profile, "mine")
    assert chosen.toolsets == ("locked",)
    with pytest.raises(ConfigurationError, match="no toolset 'lokced'; did you mean 'locked'"):
        Holdfast(
            profile="mine",
            configuration=places.load(user='[profile.mine]\ntoolsets = ["lokced"]\n'),
        )


def test_a_table_adds_to_the_profile_that_ships(places: Places) -> None:
    loaded = places.load(
        user='[[profile.code.rules]]\npermission = "bash"\npattern = "rm *"\naction = "deny"\n'
    )
    chosen = profile_settings(loaded.settings.profile, "code")
    assert chosen.toolsets == PROFILES["code"].toolsets
    sources = [rule.source for rule in chosen.rules]
    assert sources[0] == "profile code, as it ships"
    assert sources[-1].endswith("config.toml:1")


def test_a_project_that_is_not_trusted_chooses_no_toolsets(places: Places) -> None:
    loaded = places.load(project='[profile.code]\ntoolsets = ["host"]\n')
    assert profile_settings(loaded.settings.profile, "code").toolsets == ("locked", "code")
    assert any("profile.code.toolsets" in notice for notice in loaded.notices)


@pytest.mark.req("SPEC-LOCK-03")
def test_nobody_registers_a_tool_under_a_locked_name(tmp_path: Path) -> None:
    @tool(name="todo")
    def theirs() -> int:
        """Another list."""
        return 1

    for profile in ("bare", "locked"):
        with pytest.raises(ToolDefinitionError, match="this name is locked"):
            Holdfast(
                tools=[theirs],
                profile=profile,
                settings=Settings(),
                surroundings=around(tmp_path),
            )


def test_the_built_in_tools_of_the_lock_bear_locked_names() -> None:
    assert {one.name for one in TOOLSETS["locked"]} <= LOCKED_NAMES
    for name, tools in TOOLSETS.items():
        if name != "locked":
            assert not {one.name for one in tools} & LOCKED_NAMES


def test_no_catalog_holds_two_faces_of_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @builtin()
    def twin() -> int:
        """One face."""
        return 1

    other = builtin(name="twin")(lambda: 2)
    sets = {"a": (twin,), "again": (twin,), "b": (other,)}
    monkeypatch.setattr(profiles, "TOOLSETS", sets)
    same = ProfileSettings(toolsets=("a", "again"))
    assert names(tmp_path, "mine", mine=same) == ["twin", "question", "own"]
    two = ProfileSettings(toolsets=("a", "b"))
    with pytest.raises(ConfigurationError, match="'b' has another 'twin'"):
        names(tmp_path, "mine", mine=two)


def test_a_tool_outside_of_the_lock_gives_way_to_the_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @builtin(name="own")
    def shipped() -> int:
        """The one that ships."""
        return 2

    monkeypatch.setattr(profiles, "TOOLSETS", {"code": (shipped,)})
    settings = Settings(
        store=StoreSettings(kind="none"), profile={"mine": ProfileSettings(toolsets=("code",))}
    )
    hf = Holdfast(tools=[own], profile="mine", settings=settings, surroundings=around(tmp_path))
    assert [one.description for one in hf.tools if one.name == "own"] == ["One of the host's."]


@pytest.mark.anyio
async def test_a_ceiling_in_a_table_narrows_the_one_that_ships_and_never_widens_it(
    tmp_path: Path,
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "src").mkdir(parents=True)
    for name in ("a.txt", "src/b.txt"):
        (workspace / name).write_text("text\n", "utf-8")
    ceiling = RequirementSettings(read=("src/**",), write=("**",))
    settings = msgspec.structs.replace(
        UNRECORDED, profile={"readonly": ProfileSettings(ceiling=ceiling)}
    )
    async with opened(workspace, "readonly", settings=settings) as hf:
        refused = [
            await failure(hf, "write", path="src/x.txt", content="x"),
            await failure(hf, "read", path="a.txt"),
        ]
        await result(hf, "read", path="src/b.txt")
    assert [one.kind for one in refused] == [FailureKind.REJECTED] * 2
    assert not (workspace / "src" / "x.txt").exists()
