"""Random calls, seeded: whatever comes, one envelope goes back and nothing is left behind.

`make test` runs a short share; `make soak SEED=1 MINUTES=10` runs as long as asked.
"""

import gc
import os
import random
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec
import pytest
from support import make_call, make_pipeline, make_tool

from holdfast.contract.json_value import JsonObject
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits, OutputBound, RunStyle, Tool
from holdfast.envelope.dialects import ok, typed
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio

SEED = int(os.environ.get("SEED", "1"))
SHORT_SHARE = 1_500

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 0},
        "mode": {"type": "string", "enum": ["say", "raise", "wait", "shout", "vanish"]},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}},
        "deep": {"type": "object", "properties": {"x": {"type": "number"}}},
    },
    "required": ["mode"],
    "additionalProperties": False,
}


async def _body(values: Mapping[str, object], _runtime: Runtime) -> object:
    match values["mode"]:
        case "raise":
            raise LookupError("as asked")
        case "wait":
            await anyio.sleep(60)
        case "shout":
            return {"text": "é" * 5_000, "n": values.get("n")}
        case "vanish":
            return object()
        case _:
            await anyio.lowlevel.checkpoint()
    return values.get("n")


def _tool(style: RunStyle = "async") -> Tool:
    limits = Limits(wall_seconds=0.005, output=OutputBound(max_bytes=4_000))
    return make_tool(_body, style=style, schema=SCHEMA, limits=limits)


def _arguments(dice: random.Random) -> str | bytes | None:
    mode = dice.choice(["say", "SAY", "raise", "wait", "shout", "vanish", "?", 1, None])
    value: dict[str, object] = {"mode": mode}
    if dice.random() < 0.5:
        value["n"] = dice.choice([1, "2", 3.0, "x", -1, None, 2**70, "9" * 50])
    if dice.random() < 0.3:
        value["tags"] = dice.choice([["a", None], '["b"]', "c", [1], [["d"]]])
    if dice.random() < 0.3:
        value["deep"] = dice.choice([{"x": "1.5"}, '{"x": 2}', {"y": 1}, {"properties": {"x": 1}}])
    if dice.random() < 0.1:
        value[dice.choice(["Mode", "zz", ""])] = 1
    if dice.random() < 0.1:
        value = {"properties": value}
    text = msgspec.json.encode(value)
    if dice.random() < 0.1:
        cut = dice.randrange(len(text))
        return text[:cut]
    if dice.random() < 0.05:
        return bytes(dice.randrange(256) for _ in range(20))
    return dice.choice([text, text.decode(), None])


def _resident_kilobytes() -> int:
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS in /proc/self/status")


async def _some_calls(dice: random.Random, folder: Path, count: int) -> None:
    pipeline = make_pipeline(_tool(), sidecars=SidecarFiles(folder, session_quota=1 << 20))
    for number in range(count):
        call = make_call(dice.choice(["probe"] * 9 + ["nope"]), _arguments(dice))
        call = msgspec.structs.replace(call, id=f"cal_{number}")
        envelope = await pipeline.settle(call, Abort())
        assert ok.parse(ok.render(envelope)).ok is envelope.ok
        assert typed.parse(typed.render(envelope)).ok is envelope.ok
        assert envelope.ok or envelope.failure is not None


async def test_a_seeded_share_of_random_calls_settles(tmp_path: Path) -> None:
    await _some_calls(random.Random(SEED), tmp_path, SHORT_SHARE)


@pytest.mark.timeout(0)
async def test_a_long_run_neither_raises_nor_grows(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    dice = random.Random(SEED)
    await _some_calls(dice, tmp_path, SHORT_SHARE)
    gc.collect()
    before, threads = _resident_kilobytes(), threading.active_count()
    until = time.monotonic() + 60 * float(os.environ.get("MINUTES", "10"))
    while time.monotonic() < until:
        await _some_calls(dice, tmp_path, SHORT_SHARE)
    gc.collect()
    assert _resident_kilobytes() - before < 20_000
    assert threading.active_count() <= threads + 1
