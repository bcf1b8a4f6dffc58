"""What is sent to a collector over HTTP, and what becomes of a call when nobody takes it."""

import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import msgspec
import pytest
from agents_at_work import home_of
from telemetry_collector import collecting

from holdfast import Holdfast, tool
from holdfast.app import telemetry
from holdfast.app.settings import Settings, TelemetrySettings

pytestmark = pytest.mark.anyio


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def _sent_to(url: str, variable: str | None = None) -> Settings:
    on = TelemetrySettings(
        enabled=True, endpoint=url, headers_variable=variable, service_name="calculator"
    )
    return Settings(telemetry=on)


async def test_a_collector_gets_spans_and_metrics_when_the_session_closes(tmp_path: Path) -> None:
    async with collecting() as collected:
        around = msgspec.structs.replace(
            home_of(tmp_path), parent_environment={"KEYS": "x-api-key=open-sesame"}
        )
        settings = _sent_to(collected.url, "KEYS")
        async with Holdfast(tools=[add], settings=settings, surroundings=around) as hf:
            await hf.settle("add", {"a": 1, "b": 2})
        names = {span.name: span for span in collected.spans}
        assert set(names) == {"execute_tool add", "permission.evaluate"}
        inside, call = names["permission.evaluate"], names["execute_tool add"]
        assert (inside.parent_span_id, inside.trace_id) == (call.span_id, call.trace_id)
        attributes = {one.key: one.value.string_value for one in call.attributes}
        assert attributes["gen_ai.conversation.id"] == hf.session_id
        assert collected.headers[0]["x-api-key"] == "open-sesame"
        assert collected.resources[0]["service.name"] == "calculator"
        assert collected.metrics == ["gen_ai.execute_tool.duration"]


async def test_sessions_side_by_side_share_one_way_to_the_collector(tmp_path: Path) -> None:
    async with collecting() as collected:
        settings, around = _sent_to(collected.url), home_of(tmp_path)
        async with Holdfast(tools=[add], settings=settings, surroundings=around) as one:
            async with Holdfast(tools=[add], settings=settings, surroundings=around) as other:
                await other.settle("add", {"a": 1, "b": 2})
            await one.settle("add", {"a": 1, "b": 2})
        sessions = {
            attribute.value.string_value
            for span in collected.spans
            for attribute in span.attributes
            if attribute.key == "gen_ai.conversation.id"
        }
        assert sessions == {one.session_id, other.session_id}


async def test_a_collector_that_refuses_changes_no_answer(tmp_path: Path) -> None:
    async with collecting(status=400) as collected:
        async with Holdfast(
            tools=[add], settings=_sent_to(collected.url), surroundings=home_of(tmp_path)
        ) as hf:
            assert (await hf.settle("add", {"a": 1, "b": 2})).result == 3
        assert len(collected.spans) == 2


@contextmanager
def _silent() -> Generator[str]:
    """Somebody who takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


async def test_a_collector_that_never_answers_is_waited_for_only_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(telemetry, "CLOSING_SECONDS", 0.05)
    with _silent() as url, anyio.fail_after(8), caplog.at_level(logging.WARNING, "holdfast"):
        async with Holdfast(
            tools=[add], settings=_sent_to(url), surroundings=home_of(tmp_path)
        ) as hf:
            assert (await hf.settle("add", {"a": 1, "b": 2})).result == 3
    assert f"telemetry: not all of it could be sent to {url}" in caplog.text


async def test_nobody_there_is_no_error_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "CLOSING_SECONDS", 0.05)
    with _silent() as url:
        pass  # nobody listens at that port any more
    async with Holdfast(tools=[add], settings=_sent_to(url), surroundings=home_of(tmp_path)) as hf:
        assert (await hf.settle("add", {"a": 1, "b": 2})).result == 3


@pytest.mark.parametrize("level", [logging.NOTSET, logging.INFO])
async def test_a_collector_that_is_not_there_is_told_of_once_and_in_our_words(
    level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(telemetry, "CLOSING_SECONDS", 0.05)
    exporter = logging.getLogger("opentelemetry.exporter")
    monkeypatch.setattr(exporter, "level", level)
    exporter.setLevel(level)  # forgets what was reckoned from the level before
    with _silent() as url:
        pass  # nobody listens at that port any more
    async with Holdfast(tools=[add], settings=_sent_to(url), surroundings=home_of(tmp_path)) as hf:
        caplog.clear()  # an exporter of a test before may still be ending
        assert (await hf.settle("add", {"a": 1, "b": 2})).result == 3
    assert exporter.level == (level or logging.ERROR)  # who set one of their own keeps it
    told = {one.levelno for one in caplog.records if one.name.startswith(exporter.name)}
    assert level or not told - {logging.ERROR}
    assert caplog.text.count(f"telemetry: not all of it could be sent to {url}") == 1
