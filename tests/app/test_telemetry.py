"""Sessions that are told to OpenTelemetry: real calls and a real wake; nothing where it is off."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from agents_at_work import at_work, calls, home_of
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from telemetry_kit import Memory, told

from holdfast import Answer, ConfigurationError, Holdfast, Rule, Subagent, tool
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.agent.place import Equipment
from holdfast.app import telemetry
from holdfast.app.agent_session import AgentSession
from holdfast.app.settings import Settings, StoreSettings, TelemetrySettings
from holdfast.contract.call import Ask
from holdfast.contract.model import ModelReply, ModelUsage
from holdfast.record.telemetry.door import Destination

pytestmark = pytest.mark.anyio
ON = Settings(telemetry=TelemetrySettings(enabled=True))


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(requires={"fs": {"write": ["notes.txt"]}})
async def note(text: str) -> str:
    """Write something down."""
    return text


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The OpenTelemetry that the program around us has set up."""
    kept = Memory()
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", kept.tracers)
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", kept.meters)
    return kept


async def test_calls_of_a_library_are_told_to_the_programs_own_opentelemetry(
    memory: Memory, tmp_path: Path
) -> None:
    async with Holdfast(tools=[add], settings=ON, surroundings=home_of(tmp_path)) as hf:
        assert (await hf.settle("add", '{"a": "1", "b": 2}')).result == 3
        assert (await hf.settle("add", {"a": "x"})).failure is not None
    good, bad = [one for one in memory.spans if one.name == "execute_tool add"]
    assert memory.tree() == ["execute_tool add", "  permission.evaluate", "execute_tool add"]
    assert told(good)["gen_ai.conversation.id"] == hf.session_id
    assert told(good)["holdfast.tool.repairs"] == ("integer_from_text",)
    assert told(bad)["error.type"] == "invalid_args"
    assert told(memory.span("permission.evaluate"))["holdfast.permission.source"] == "standing"


async def test_calls_are_inside_of_the_span_that_the_program_has_open(
    memory: Memory, tmp_path: Path
) -> None:
    async with Holdfast(tools=[add], settings=ON, surroundings=home_of(tmp_path)) as hf:
        with memory.tracers.get_tracer("program").start_as_current_span("a request") as around:
            await hf.settle("add", {"a": 1, "b": 2})
        await hf.settle("add", {"a": 1, "b": 2})
    inside, outside = [one for one in memory.spans if one.name == "execute_tool add"]
    assert inside.parent is not None
    assert inside.parent.span_id == around.get_span_context().span_id
    assert outside.parent is None


async def test_what_a_person_decided_is_told_but_not_who_and_why(
    memory: Memory, tmp_path: Path
) -> None:
    async def approver(_ask: Ask) -> Answer:
        return Answer(allowed=False, by="ada lovelace", note="not my diary")

    workspace = tmp_path / "ws"
    workspace.mkdir()
    async with Holdfast(
        tools=[note],
        workspace=workspace,
        settings=ON,
        surroundings=home_of(tmp_path),
        approver=approver,
        rules=[_asks("note")],
    ) as hf:
        assert (await hf.settle("note", {"text": "my diary"})).failure is not None
    call = told(memory.span("execute_tool note"))
    asked, denied = [told(one) for one in memory.spans if one.name == "permission.evaluate"]
    assert call["error.type"] == "user_denied"
    assert asked["holdfast.permission.action"] == "ask"
    assert asked["holdfast.permission.allowed"] is False
    assert (denied["holdfast.permission.action"], denied["holdfast.permission.source"]) == (
        *("deny", "person"),
    )
    everything = str([call, asked, denied])
    assert "lovelace" not in everything
    assert "diary" not in everything


def _asks(name: str) -> Rule:
    return Rule(permission=name, pattern="*", action="ask", scope="session", source="test")


async def test_a_wake_of_an_agent_is_told_with_all_that_is_inside(
    memory: Memory, tmp_path: Path
) -> None:
    usage = ModelUsage(input_tokens=10, output_tokens=5)
    both = calls(("add", '{"a": 1, "b": 2}'), ("add", '{"a": 3, "b": 4}'))
    model = ScriptedModel([both, ModelReply(text="3 and 7", usage=usage)])
    async with at_work(tmp_path, [], tools=[add], settings=ON, equipment={"model": model}) as desk:
        await desk.told("1 + 2, 3 + 4?")
    assert memory.tree() == [
        "invoke_agent",
        f"  chat {model.name}",
        *("  execute_tool add", "    permission.evaluate"),
        *("  execute_tool add", "    permission.evaluate"),
        f"  chat {model.name}",
    ]
    wake = told(memory.span("invoke_agent"))
    assert wake["gen_ai.conversation.id"] == desk.session.id
    assert wake["gen_ai.provider.name"] == model.provider
    assert (wake["holdfast.wake.result"], wake["holdfast.wake.stop_reason"]) == ("success", "idle")
    assert (wake["gen_ai.usage.input_tokens"], wake["gen_ai.usage.output_tokens"]) == (10, 5)
    ((attributes, total, count), _) = memory.points("gen_ai.client.token.usage")
    assert (attributes["gen_ai.provider.name"], total, count) == (model.provider, 10, 1)
    assert "3 and 7" not in str([told(one) for one in memory.spans])


async def test_whose_model_it_is_is_known_also_where_that_was_said_before_opening(
    memory: Memory, tmp_path: Path
) -> None:
    held = Holdfast(settings=ON, surroundings=home_of(tmp_path))
    model = ScriptedModel(["Yes."])
    session = AgentSession(held.parts, Equipment(model=model), lambda: ("Be brief.",))
    async with held:
        async for _ in session.run("Are you there?"):
            pass
    assert told(memory.span(f"chat {model.name}"))["gen_ai.provider.name"] == model.provider


async def test_who_says_so_is_told_what_was_said_without_secrets(
    memory: Memory, tmp_path: Path
) -> None:
    settings = Settings(telemetry=TelemetrySettings(enabled=True, content=True))
    around = home_of(tmp_path)
    around = type(around)(
        data_home=around.data_home, state_home=around.state_home, secrets=("hunter22hunter22",)
    )
    turns = [calls(("say", '{"text": "hunter22hunter22 it is"}')), "The word is hunter22hunter22."]

    @tool(read_only=True, inline=True)
    def say(text: str) -> str:
        """Say it again."""
        return text

    async with at_work(
        tmp_path, turns, tools=[say], settings=settings, surroundings=around
    ) as desk:
        await desk.told("Well?")
    call = told(memory.span("execute_tool say"))
    assert "it is" in call["gen_ai.tool.call.arguments"]
    assert "it is" in call["gen_ai.tool.call.result"]
    assert "The word is" in told(memory.span("invoke_agent"))["gen_ai.output.messages"]
    assert "hunter22" not in str([told(one) for one in memory.spans])


async def test_a_subagents_calls_are_inside_of_the_call_that_handed_it_the_work(
    memory: Memory, tmp_path: Path
) -> None:
    async def work(child: Holdfast, prompt: str) -> str:
        await child.settle("add", {"a": 1, "b": 2})
        return prompt

    async with Holdfast(
        profile="locked",
        tools=[add],
        workspace=tmp_path,
        settings=ON,
        surroundings=home_of(tmp_path / "home"),
        subagents={"adder": Subagent(run=work, description="Adds.")},
    ) as hf:
        done = await hf.settle("task", {"subagent_type": "adder", "prompt": "add"})
        assert done.failure is None
    assert memory.tree() == [
        "execute_tool task",
        "  permission.evaluate",
        "  execute_tool add",
        "    permission.evaluate",
    ]
    assert told(memory.span("execute_tool add"))["gen_ai.agent.name"] == "adder"


async def test_where_it_is_off_nobody_listens(memory: Memory, tmp_path: Path) -> None:
    settings = Settings(telemetry=TelemetrySettings(content=True))
    async with Holdfast(tools=[add], settings=settings, surroundings=home_of(tmp_path)) as hf:
        assert hf.parts.log is not None
        assert (hf.parts.telemetry, hf.parts.log.listeners) == (None, [])
        await hf.settle("add", {"a": 1, "b": 2})
    assert memory.spans == []


OFF = """
import sys
import anyio
from holdfast import Holdfast, tool

@tool(read_only=True)
def add(a: int, b: int) -> int:
    'Add.'
    return a + b

async def main():
    async with Holdfast(profile="code", workspace=sys.argv[1], tools=[add]) as hf:
        assert (await hf.settle("add", '{"a": 1, "b": 2}')).result == 3

anyio.run(main)
from holdfast._later import Later
print([name for name, module in sys.modules.items()
       if "telemetry" in name and type(module) is not Later])
"""


def test_where_it_is_off_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    workspace, home = tmp_path / "ws", tmp_path / "home"
    workspace.mkdir()
    home.mkdir(mode=0o700)
    found = subprocess.run(
        [sys.executable, "-c", OFF, str(workspace)],
        capture_output=True,
        text=True,
        check=True,
        env={"HOLDFAST_HOME": str(home), "PATH": "/usr/bin:/bin"},
    )
    assert (found.stdout, found.stderr) == ("[]\n", "")


async def test_it_can_be_opened_again_and_listens_only_while_it_is_open(
    memory: Memory, tmp_path: Path
) -> None:
    held = Holdfast(tools=[add], settings=ON, surroundings=home_of(tmp_path))
    for _ in range(2):
        async with held as hf:
            await hf.settle("add", {"a": 1, "b": 2})
    assert memory.tree() == ["execute_tool add", "  permission.evaluate"] * 2
    assert held.parts.log is not None
    assert held.parts.log.listeners == []
    assert held.parts.telemetry is not None
    await held.parts.telemetry.close()


class Raising(SpanProcessor):
    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("the office is closed")


async def test_whoever_cannot_be_told_is_told_no_more_and_no_call_hears_of_it(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory.tracers.add_span_processor(Raising())
    with caplog.at_level(logging.WARNING, "holdfast"):
        async with Holdfast(tools=[add], settings=ON, surroundings=home_of(tmp_path)) as hf:
            for _ in range(3):
                assert (await hf.settle("add", {"a": 1, "b": 2})).result == 3
    assert [one.getMessage() for one in caplog.records] == [
        f"telemetry of session {hf.session_id} ends here: RuntimeError: the office is closed"
    ]


async def test_closing_hears_of_it_neither(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory.tracers.add_span_processor(Raising())
    with caplog.at_level(logging.WARNING, "holdfast"):
        async with Holdfast(
            tools=[note],
            workspace=tmp_path,
            settings=ON,
            surroundings=home_of(tmp_path / "home"),
            approver="elsewhere",
            rules=[_asks("note")],
        ) as hf:
            await hf.settle("note", {"text": "x"})
    assert "the office is closed" in caplog.text


def test_nothing_can_be_told_of_what_is_not_written_down(tmp_path: Path) -> None:
    settings = Settings(telemetry=TelemetrySettings(enabled=True), store=StoreSettings(kind="none"))
    with pytest.raises(ConfigurationError, match=r"set store\.kind = 'sqlite'"):
        Holdfast(settings=settings, surroundings=home_of(tmp_path))


@pytest.mark.parametrize("missing", ["opentelemetry.trace", "opentelemetry.exporter.otlp"])
def test_a_package_that_is_missing_is_named_with_what_to_install(
    missing: str, tmp_path: Path
) -> None:
    script = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "from holdfast import Holdfast\n"
        "from holdfast.app.settings import Settings, TelemetrySettings\n"
        "on = TelemetrySettings(enabled=True, endpoint='http://localhost:4318')\n"
        "Holdfast(settings=Settings(telemetry=on))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={"HOLDFAST_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert found.returncode == 1
    last = found.stderr.splitlines()[-1]
    assert last.startswith("holdfast.app.problems.ConfigurationError: telemetry.enabled: ")
    assert last.endswith("install it with: pip install 'holdfast[telemetry]'")


async def test_sessions_that_tell_the_same_share_what_is_open(
    memory: Memory, tmp_path: Path
) -> None:
    place = Destination()
    first, second = telemetry.SHARED.opened(place), telemetry.SHARED.opened(place)
    assert first is second
    assert telemetry.SHARED.let_go(place) is None
    assert telemetry.SHARED.let_go(place) is first
    assert telemetry.SHARED.opened(place) is not first
    assert telemetry.SHARED.let_go(place) is not None
