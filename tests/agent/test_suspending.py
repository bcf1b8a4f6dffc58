"""Which tools wait for a person: of the locked ones `question` alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from agents_at_work import at_work, calls
from matrix_calls import CALLS

from holdfast import Answer, Subagent
from holdfast.app.holdfast import Holdfast
from holdfast.contract.events import CallSettled
from holdfast.tools.locked import LOCKED

pytestmark = pytest.mark.anyio


async def reviewed(_child: Holdfast, prompt: str) -> str:
    return f"done: {prompt}"


OPTIONS: Mapping[str, Any] = {
    "profile": "locked",
    "subagents": {"reviewer": Subagent(run=reviewed, description="Looks at things.")},
}


@pytest.mark.req("SPEC-QUES-06")
@pytest.mark.parametrize("name", sorted(one.name for one in LOCKED))
async def test_of_the_locked_tools_only_question_suspends_a_run(tmp_path: Path, name: str) -> None:
    """Leave to run is given to whatever asks for it: that is no tool's own doing."""
    workspace = tmp_path / "work"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "app.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
    asked = calls((name, json.dumps(CALLS[name])))
    async with at_work(tmp_path, [asked, "done"], workspace=workspace, **OPTIONS) as desk:
        await desk.told("Go.")
        for question in await desk.holdfast.questions():
            await desk.session.answer(question, Answer(allowed=True, by="ada"))
            await desk.told()
        assert desk.session.last is not None
        suspended = desk.session.last.ended == "requires_action"
        assert suspended is (name == "question")
        assert len(await desk.payloads(CallSettled)) == (0 if suspended else 1)
        assert len(await desk.holdfast.inquiries()) == (1 if suspended else 0)
        assert len(desk.model.requests) == (1 if suspended else 2)
