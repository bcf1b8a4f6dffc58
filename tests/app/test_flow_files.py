"""A loop in a file of JSON lines: written while it goes, named at its end, left by a crash."""

import stat
from pathlib import Path

import pytest
from app.recorded import around
from flow_kit import UNKEPT, Scripted, agent, asks, gives, says, user

from holdfast.app.flow_options import LoopOptions
from holdfast.app.settings import Settings, StoreSettings
from holdfast.contract.model import Heard, ModelReply, ModelRequest
from holdfast.flow import (
    FlowLogError,
    Session,
    read_flow_log,
    run_session_loop,
    run_session_loop_async,
)


def test_a_loop_that_ended_well_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    model = Scripted(asks(("a", "{}")), says("done", cost=2))
    out = run_session_loop(
        user(), agent(), model, [gives("a", 1)], persist_path=path, max_tool_rounds=2, **UNKEPT
    )
    out.wait()
    kept = read_flow_log(path)
    assert (kept.transcript, kept.ended) == (out.transcript(), "cleanly")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rebuilt = Session.from_transcript(kept.transcript)
    assert rebuilt.chunk_table == out.chunk_table


def test_rows_are_there_while_the_loop_goes_on_and_stay_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    seen: list[tuple[int, str]] = []

    class Looking(Scripted):
        async def complete(
            self, request: ModelRequest, heard: Heard | None = None, /
        ) -> ModelReply:
            kept = read_flow_log(path)
            seen.append((len(kept.transcript.chunk_table), kept.ended))
            return await super().complete(request, heard)

    model = Looking(asks(("a", "{}")), ValueError("dead"))
    out = run_session_loop(user(), agent(), model, [gives("a", 1)], persist_path=path, **UNKEPT)
    with pytest.raises(ValueError, match="dead"):
        out.wait()
    assert seen == [(1, "not_yet"), (3, "not_yet")]
    left = read_flow_log(path)
    assert (left.ended, left.transcript.chunk_table) == ("crash", out.chunk_table)
    assert not path.exists()


@pytest.mark.parametrize("named", [True, False])
def test_without_a_name_it_is_called_like_the_session(tmp_path: Path, named: bool) -> None:
    options: LoopOptions = {"settings": Settings(store=StoreSettings(kind="none"))}
    options["surroundings"] = around(tmp_path)
    options["persist"] = True
    if named:
        options["persist_path"] = str(tmp_path)
    out = run_session_loop(user(), agent(), Scripted(says("a")), **options)
    out.wait()
    folder = tmp_path if named else tmp_path / "data" / "flows"
    assert read_flow_log(folder / f"{out.id}.jsonl").transcript == out.transcript()


async def test_a_file_that_is_there_already_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    path = tmp_path / "rows.jsonl"
    path.write_text("mine", "utf-8")
    model = Scripted(says("a"))
    with pytest.raises(FlowLogError, match="take another path"):
        await run_session_loop_async(user(), agent(), model, persist_path=path)
    assert (path.read_text("utf-8"), model.requests) == ("mine", [])


def test_a_loop_of_an_executor_is_kept_in_a_file_too(tmp_path: Path) -> None:
    class Executor:
        def complete(self, *_given: object) -> object:
            return says("done")

        def dispatch_tool(self, *_given: object) -> object:
            return None

        def tool_schemas(self) -> list[dict[str, object]]:
            return []

    path = tmp_path / "rows.jsonl"
    out = run_session_loop(user(), agent(), executor=Executor(), persist_path=path)
    out.wait()
    assert read_flow_log(path).transcript == out.transcript()
