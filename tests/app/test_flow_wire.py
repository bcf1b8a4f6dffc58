"""A loop with a model behind real HTTP, and with models that are only named."""

import json
from pathlib import Path

import pytest
from app.recorded import around
from flow_kit import UNKEPT, agent, gives, kinds, results, user
from loopback_site import serving
from model_server import TurnServer

from holdfast.agent.models import openai_chat
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import ScriptedCall, Turn
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.model import ModelDelta, TextDelta
from holdfast.flow import (
    Agent,
    Compressor,
    run_session_compress,
    run_session_loop,
    run_session_loop_async,
    table_schemas,
    tool_table,
)

CALL = Turn(calls=(ScriptedCall(name="mine", arguments={"n": 1}),))


@pytest.mark.req("RATH-TAB-05")
async def test_the_schemas_of_the_table_are_sent_with_each_completion() -> None:
    server = TurnServer([CALL, Turn(text="done")])
    heard: list[ModelDelta] = []
    tools = [gives("mine", {"ok": 1})]
    async with serving(server.app()) as url:
        model = HttpModel(ModelSetup(model="m", url=f"{url}/v1"), openai_chat.FORM)
        out = await run_session_loop_async(
            user(), agent(), model, tools, on_event=heard.append, **UNKEPT
        )
        await model.close()
    expected = json.loads(json.dumps(table_schemas(tool_table(tools))))
    assert [asked["tools"] for asked in server.asked] == [expected, expected]
    roles = [message["role"] for message in server.asked[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]
    assert kinds(out) == ["user", "assistant", "tool_result", "assistant"]
    assert "".join(one.text for one in heard if isinstance(one, TextDelta)) == "done"


TURNS = """
[[turn]]
[[turn.calls]]
name = "mine"
arguments = {}

[[turn]]
text = "done"
"""


def test_a_model_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "turns.toml").write_text(TURNS, "utf-8")
    (tmp_path / "short.toml").write_text('[[turn]]\ntext = "in short"\n', "utf-8")
    name, short = (f"scripted:{tmp_path}/{file}.toml" for file in ("turns", "short"))
    out = run_session_loop(user(), agent(), name, [gives("mine", 1)], **UNKEPT)
    assert results(out) == ["1"]
    with Agent("be brief", name, [gives("mine", 2)], **UNKEPT) as worker:
        assert results(worker(user())) == ["2"]
        assert results(worker(user())) == ["2"]  # made anew for each loop
    assert len(run_session_compress(out, agent(), short, **UNKEPT).chunk_table) == 1
    assert len(Compressor("be brief", short, **UNKEPT)(out).chunk_table) == 1


def test_the_only_model_that_is_configured_need_not_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "turns.toml").write_text(TURNS, "utf-8")
    table = f'[model.played]\nkind = "scripted"\nfile = "{tmp_path}/turns.toml"\n'
    (tmp_path / "config.toml").write_text(f'{table}[store]\nkind = "none"\n', "utf-8")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    out = run_session_loop(user(), agent(), tools=[gives("mine", 3)], surroundings=around(tmp_path))
    assert results(out) == ["3"]
    again = run_session_loop(user(), agent(), tools=[gives("mine", 4)])
    assert results(again) == ["4"]
