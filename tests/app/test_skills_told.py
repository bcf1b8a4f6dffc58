"""What a model is told of skills: their names and a line each, and nothing of what is in them."""

from pathlib import Path

import pytest
from agents_at_work import home_of

from holdfast import Holdfast
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app.settings import Settings

pytestmark = pytest.mark.anyio

BODY = "Count the eggs twice before you pack them."


@pytest.mark.req("SPEC-SKILL-01")
async def test_the_prompt_names_every_skill_in_a_line_and_holds_no_body(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    told = {"packing": "How eggs are packed.", "weighing": "How eggs are weighed."}
    for name, description in told.items():
        file = folder / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        head = f"---\nname: {name}\ndescription: {description}\n---\n\n"
        file.write_text(f"{head}{BODY}\n", "utf-8")
    model = ScriptedModel(["Done."])
    async with Holdfast(
        profile="code",
        workspace=tmp_path,
        settings=Settings(),
        surroundings=home_of(tmp_path),
        skills=[folder],
    ) as hf:
        session = await hf.new_session(model=model)
        async for _ in session.run("Pack the eggs."):
            pass
    prompt = str(model.requests[0].rows[0].content)
    for name, description in told.items():
        (line,) = (line for line in prompt.splitlines() if name in line)
        assert description in line
    assert BODY not in prompt
