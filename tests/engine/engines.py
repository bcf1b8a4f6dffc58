"""Embedded engines, opened for a test."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from holdfast.contract.journal import Journal
from holdfast.contract.ports import Clock
from holdfast.contract.wakes import Engine, WakeRunner
from holdfast.engine.embedded import EmbeddedEngine, EnginePace
from holdfast.testing.engine_kit import EngineMaker


def embedded(journal: Journal, clock: Clock, look_seconds: float = 30.0) -> EngineMaker:
    """Looks so seldom that a test that relies on looking does not end."""

    @asynccontextmanager
    async def make(runner: WakeRunner, concurrency: int) -> AsyncGenerator[Engine]:
        pace = EnginePace(concurrency=concurrency, look_seconds=look_seconds)
        yield EmbeddedEngine(journal, runner, clock, pace)

    return make
