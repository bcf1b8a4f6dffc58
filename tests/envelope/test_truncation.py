"""Output that is too large to show, through the real pipeline onto a real disk."""

import json
import stat
from pathlib import Path
from typing import cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import make_call, make_pipeline, make_tool, settle

from holdfast.app.settings import LimitSettings, ToolLimitSettings, limited
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import OperationFailed
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Limits, OutputBound, Ownership, RunStyle, Tool
from holdfast.envelope.dialects import ok, typed
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


def _maker(
    returned: object, bound: OutputBound | None = None, *, style: RunStyle = "inline"
) -> Tool:
    limits = Limits() if bound is None else Limits(output=bound)
    return make_tool(lambda _values, _runtime: returned, name="maker", style=style, limits=limits)


def _file(envelope: Envelope) -> Path:
    assert envelope.metadata.output_path is not None
    return Path(envelope.metadata.output_path)


def _result(envelope: Envelope) -> JsonObject:
    return cast("JsonObject", envelope.result)


@pytest.mark.req("SPEC-TRUNC-01")
@pytest.mark.parametrize("ownership", ["managed", "mcp"])
@pytest.mark.parametrize("style", ["inline", "thread"])
async def test_the_runtime_cuts_what_a_body_returns_whole(
    ownership: Ownership, style: RunStyle, tmp_path: Path
) -> None:
    tool = _maker("x" * 5_000, OutputBound(max_bytes=100), style=style)
    owned = msgspec.structs.replace(tool, ownership=ownership)
    answer = await settle(owned, sidecars=SidecarFiles(tmp_path))
    assert answer.ok
    assert answer.result == {"head": "x" * 100}
    assert _file(answer).read_bytes() == b"x" * 5_000


@pytest.mark.req("SPEC-TRUNC-01")
async def test_every_tool_has_its_own_maximum(tmp_path: Path) -> None:
    for limit in (10, 1_000):
        tool = _maker("x" * 5_000, OutputBound(max_bytes=limit))
        answer = await settle(tool, sidecars=SidecarFiles(tmp_path / str(limit)))
        assert len(str(_result(answer)["head"])) == limit


@pytest.mark.req("SPEC-TRUNC-02", "SPEC-ENV-05", "SPEC-ENV-06")
async def test_a_cut_result_has_its_beginning_its_end_and_the_way_to_the_whole(
    tmp_path: Path,
) -> None:
    lines = "".join(f"line {n}\n" for n in range(2_000))
    tool = _maker({"text": lines}, OutputBound(max_bytes=500))
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    wire = json.loads(typed.render(answer))
    assert wire["data"] == {"head": lines[:500]}
    told = wire["metadata"]
    assert told["truncated"] is True
    assert Path(told["output_path"]).read_text("utf-8") == lines
    assert told["tail"] == lines[-2_048:]
    assert told["output_bytes"] == len(lines)
    assert "dropped_bytes" not in told
    assert isinstance(told["duration_ms"], int)


async def test_a_result_that_fits_says_nothing_about_truncation(tmp_path: Path) -> None:
    answer = await settle(_maker("short"), sidecars=SidecarFiles(tmp_path / "root"))
    assert json.loads(ok.render(answer))["metadata"].keys() == {"duration_ms"}
    assert not (tmp_path / "root").exists()


CUT: dict[str, tuple[object, OutputBound]] = {
    "text": ("x" * 900, OutputBound(max_bytes=50)),
    "other-number": ("x" * 900, OutputBound(max_bytes=333)),
    "list": (["x" * 90] * 90, OutputBound(max_bytes=50)),
    "items": ([1, 2, 3], OutputBound(max_items=2)),
    "field": ({"a": "x" * 900, "b": 1}, OutputBound(max_bytes=50, fields=("a",))),
    "fields": ({"a": "x" * 900, "b": "y" * 900}, OutputBound(max_bytes=50, fields=("a", "b"))),
    "largest": ({"a": "x" * 900, "b": 1}, OutputBound(max_bytes=50)),
    "whole": ({"a": "x" * 900, "b": "y" * 900}, OutputBound(max_bytes=50)),
    "number": (10**900, OutputBound(max_bytes=50)),
}


@pytest.mark.req("SPEC-TRUNC-03")
@pytest.mark.parametrize("case", CUT)
async def test_head_and_output_path_are_the_one_shape_whatever_the_numbers(
    case: str, tmp_path: Path
) -> None:
    returned, bound = CUT[case]
    answer = await settle(_maker(returned, bound), sidecars=SidecarFiles(tmp_path))
    head = _result(answer)["head"]
    assert isinstance(head, str)
    assert answer.metadata.truncated is True
    assert _file(answer).read_text("utf-8").startswith(head)


@pytest.mark.req("SPEC-TRUNC-05")
async def test_each_session_has_a_folder_of_its_own(tmp_path: Path) -> None:
    tool = _maker("x" * 900, OutputBound(max_bytes=50))
    pipeline = make_pipeline(tool, sidecars=SidecarFiles(tmp_path))
    for session in ("ses_a", "ses_b"):
        answer = await pipeline.settle(make_call("maker", session=session), Abort())
        assert _file(answer).is_relative_to(tmp_path / session)


async def test_the_file_is_private_and_named_after_tool_and_call(tmp_path: Path) -> None:
    tool = _maker("x" * 900, OutputBound(max_bytes=50))
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    path = _file(answer)
    assert path.name == f"maker-{answer.call_id}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.req("SPEC-TRUNC-13", "SPEC-TRUNC-16")
async def test_a_tool_without_a_limit_has_the_documented_one(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path)
    fits = await settle(_maker({"text": "x" * 100_000}), sidecars=files)
    assert fits.result == {"text": "x" * 100_000}
    over = await settle(_maker({"text": "x" * 100_001}), sidecars=files)
    assert over.result == {"head": "x" * 100_000}
    documented = (Path(__file__).parents[2] / "docs" / "envelope.md").read_text("utf-8")
    assert "A tool without a limit of its own has 100,000 bytes" in " ".join(documented.split())


@pytest.mark.req("SPEC-TRUNC-14")
async def test_a_host_changes_every_limit_without_touching_the_tool(tmp_path: Path) -> None:
    tool = _maker({"rows": ["x" * 10] * 50, "n": 50})
    files = SidecarFiles(tmp_path)
    untouched = await settle(limited(tool, LimitSettings()), sidecars=files)
    assert not untouched.metadata.truncated
    by_size = LimitSettings(tool={"maker": ToolLimitSettings(max_bytes=100)})
    smaller = await settle(limited(tool, by_size), sidecars=files)
    assert len(str(_result(smaller)["head"])) <= 100
    by_count = LimitSettings(tool={"maker": ToolLimitSettings(max_items=3)})
    fewer = await settle(limited(tool, by_count), sidecars=SidecarFiles(tmp_path / "b"))
    assert _result(fewer) == {"head": "\n".join(["x" * 10] * 3), "n": 50}
    larger = LimitSettings(tool={"maker": ToolLimitSettings(max_bytes=10_000)})
    tight = _maker("x" * 5_000, OutputBound(max_bytes=10))
    assert not (await settle(limited(tight, larger))).metadata.truncated
    assert tool.limits == Limits()


async def _forever(_values: object, _runtime: object) -> None:
    await Abort().wait()


@pytest.mark.req("SPEC-TRUNC-14")
async def test_a_host_changes_the_time_a_tool_has() -> None:
    tool = make_tool(_forever, name="maker", style="async")
    quick = LimitSettings(tool={"maker": ToolLimitSettings(wall_seconds=0.02)})
    answer = await settle(limited(tool, quick))
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.TIMEOUT


@pytest.mark.req("SPEC-TRUNC-15")
@pytest.mark.parametrize("limit", [100, 101, 102, 103])
async def test_the_head_on_the_wire_is_whole_characters(limit: int, tmp_path: Path) -> None:
    tool = _maker("😀" * 500, OutputBound(max_bytes=limit))
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    assert answer.result == {"head": "😀" * 25}
    assert answer.metadata.tail == "😀" * 475


@pytest.mark.req("SPEC-TRUNC-17")
async def test_the_exit_code_and_the_time_out_mark_stay_beside_the_head(tmp_path: Path) -> None:
    shell = {"stdout": "o" * 300, "stderr": "e" * 300, "exit_code": 137, "timed_out": True}
    tool = _maker(shell, OutputBound(max_bytes=350, fields=("stdout", "stderr")))
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    assert _result(answer) == {
        "exit_code": 137,
        "timed_out": True,
        "head": "o" * 300 + "e" * 50,
    }
    assert _file(answer).read_text("utf-8") == "o" * 300 + "e" * 300


@pytest.mark.req("SPEC-TRUNC-18")
async def test_a_cut_list_is_sent_once_as_lines(tmp_path: Path) -> None:
    found = {"matches": [f"src/{n:03d}.py" for n in range(100)], "pattern": "*.py"}
    tool = _maker(found, OutputBound(max_items=4, fields=("matches",)))
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    assert _result(answer) == {
        "pattern": "*.py",
        "head": "src/000.py\nsrc/001.py\nsrc/002.py\nsrc/003.py",
    }
    assert ok.render(answer).count("src/000.py") == 1
    assert _file(answer).read_text("utf-8").splitlines() == found["matches"]


@pytest.mark.req("SPEC-TRUNC-19")
async def test_the_file_holds_the_whole_so_that_offsets_agree_with_the_head(
    tmp_path: Path,
) -> None:
    text = "".join(f"{n:05d};é\n" for n in range(3_000))
    answer = await settle(
        _maker(text, OutputBound(max_bytes=1_000)), sidecars=SidecarFiles(tmp_path)
    )
    content = _file(answer).read_bytes()
    head = str(_result(answer)["head"]).encode()
    assert content == text.encode()
    assert content[: len(head)] == head
    assert answer.metadata.output_bytes == len(content)


@pytest.mark.req("SPEC-TRUNC-19")
@pytest.mark.parametrize("quota", [{"call_quota": 700}, {"session_quota": 700}])
async def test_past_the_quota_the_rest_is_dropped_and_counted(
    quota: dict[str, int], tmp_path: Path
) -> None:
    answer = await settle(
        _maker("x" * 1_000, OutputBound(max_bytes=100)),
        sidecars=SidecarFiles(tmp_path, **quota),
    )
    assert _file(answer).read_bytes() == b"x" * 700
    assert (answer.metadata.output_bytes, answer.metadata.dropped_bytes) == (1_000, 300)


async def test_a_failure_that_is_cut_stays_a_failure(tmp_path: Path) -> None:
    def body(_values: object, _runtime: object) -> object:
        raise OperationFailed("m" * 9_000, extras={"log": "l" * 200_000})

    answer = await settle(make_tool(body), sidecars=SidecarFiles(tmp_path))
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.EXECUTION_ERROR
    assert len(ok.render(answer)) < 10_000
    whole = json.loads(_file(answer).read_text("utf-8"))
    assert whole["message"] == "m" * 9_000
    assert whole["extras"] == {"log": "l" * 200_000}


LINES = ["a", "é€", "", "😀" * 9, "x" * 30]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None
)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=30),
    limit=st.integers(min_value=1, max_value=200),
    quota=st.integers(min_value=1, max_value=400),
)
async def test_head_file_and_counts_agree_for_any_text_limit_and_quota(
    lines: list[str], limit: int, quota: int, tmp_path: Path
) -> None:
    files = SidecarFiles(tmp_path, call_quota=quota)
    files.forget("ses_test")
    text = "\n".join(lines)
    answer = await settle(_maker(text, OutputBound(max_bytes=limit)), sidecars=files)
    told, content = answer.metadata, text.encode()
    if len(content) <= limit:
        assert (answer.result, told.truncated) == ({"text": text}, False)
        return
    head = str(_result(answer)["head"]).encode()
    assert content.startswith(head)
    assert limit - 4 < len(head) <= limit
    assert told.output_bytes == len(content)
    stored = _file(answer).read_bytes() if told.output_path else b""
    assert content.startswith(stored)
    assert len(stored) <= quota
    if told.output_path:
        assert told.dropped_bytes == (len(content) - len(stored) or None)
