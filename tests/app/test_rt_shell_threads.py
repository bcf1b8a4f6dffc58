"""Tools in threads that ask for their shell at the same moment share one sandbox."""

import threading
import time
from pathlib import Path

import anyio
import pytest

from holdfast import Holdfast, Runtime, tool
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.execution.processes.sandbox_maker import SandboxMaker

pytestmark = pytest.mark.anyio

AT_ONCE = 4
_gate = threading.Barrier(AT_ONCE)


@tool(requires={"fs": {"read": ["**"]}, "shell": [{"cmd": "*"}]})
def look(rt: Runtime) -> str:
    """Ask for the shell when all others do."""
    _gate.wait(10)
    return rt.wait(rt.shell.run(["echo", "seen"])).stdout.text()


async def test_one_sandbox_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    usual = SandboxMaker.made

    def slowly(*given: object, **named: object) -> object:
        made.append(given)
        time.sleep(0.05)
        return usual(*given, **named)  # pyright: ignore[reportArgumentType] - handed on as given

    monkeypatch.setattr(SandboxMaker, "made", slowly)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    settings = Settings(store=StoreSettings(kind="none"))
    around = Surroundings(data_home=tmp_path / "data")
    async with Holdfast(
        tools=[look], workspace=workspace, settings=settings, surroundings=around
    ) as hf:
        answers: list[bytes] = []

        async def call() -> None:
            answers.append((await hf.settle("look")).result_json)

        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(call)
    assert len(made) == 1
    assert all(b"seen" in one for one in answers)
    assert len(answers) == AT_ONCE
