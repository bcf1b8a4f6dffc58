"""A script belongs to the session that plays it: others of the same program begin it anew."""

import json
from pathlib import Path

import pytest
from agents_at_work import home_of

from holdfast import Holdfast
from holdfast.app import agent_opening
from holdfast.app.model_settings import ModelSettings
from holdfast.app.settings import Settings

pytestmark = pytest.mark.anyio


def script_in(folder: Path, *turns: object) -> str:
    (folder / "turns.json").write_text(json.dumps({"turn": turns}), "utf-8")
    return f"scripted:{folder / 'turns.json'}"


async def test_each_session_plays_a_script_from_its_beginning(tmp_path: Path) -> None:
    model = script_in(tmp_path, {"text": "one"}, {"text": "two"})
    async with Holdfast(workspace=tmp_path, surroundings=home_of(tmp_path)) as hf:
        first = await hf.new_session(model=model)
        second = await hf.new_session(model=model)
        for session, said in ((first, "one"), (second, "one"), (first, "two"), (second, "two")):
            async for _ in session.run("Go on."):
                pass
            assert session.last is not None
            assert session.last.response == said


async def test_a_session_that_is_opened_again_goes_on_in_its_script(tmp_path: Path) -> None:
    model = script_in(tmp_path, {"text": "one"}, {"text": "two"})
    async with Holdfast(workspace=tmp_path, surroundings=home_of(tmp_path)) as hf:
        said: list[str] = []
        known: str | None = None
        for _ in range(2):
            session = await hf.new_session(model=model, session=known)
            async for _ in session.run("Go on."):
                pass
            assert session.last is not None
            said.append(session.last.response)
            known = session.id
            await session.close()
        assert said == ["one", "two"]


async def test_a_script_that_is_configured_is_no_more_shared_than_one_that_is_named(
    tmp_path: Path,
) -> None:
    file = script_in(tmp_path, {"text": "one"}).removeprefix("scripted:")
    settings = Settings(model={"play": ModelSettings(kind="scripted", file=file)})
    around = home_of(tmp_path)
    async with Holdfast(workspace=tmp_path, settings=settings, surroundings=around) as hf:
        for _ in range(2):
            session = await hf.new_session()
            async for _ in session.run("Go on."):
                pass
            assert session.last is not None
            assert session.last.response == "one"


async def test_only_so_many_scripts_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_opening, "_MOST_PLAYING", 1)
    model = script_in(tmp_path, {"text": "one"}, {"text": "two"})
    async with Holdfast(workspace=tmp_path, surroundings=home_of(tmp_path)) as hf:
        first = await hf.new_session(model=model)
        await hf.new_session(model=model)
        for _ in range(2):
            async for _ in first.run("Go on."):
                pass
            await first.close()
            first = await hf.new_session(session=first.id)
        assert first.last is None
        async for _ in first.run("Go on."):
            pass
        assert first.last is not None
        assert first.last.response == "two"
