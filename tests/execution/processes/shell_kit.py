"""What tests of the persistent shell share."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from execution.processes.ground import stop
from execution.processes.session import Session

from holdfast.contract.shell import CommandLimits, CommandReport

QUICK = CommandLimits(wall=0.3, grace=0.3)


async def run(here: Session, text: str, limits: CommandLimits | None = None) -> CommandReport:
    done = await here.shell.run(text, limits=limits or CommandLimits())
    return done.report


async def out(here: Session, text: str) -> str:
    report = await run(here, text)
    assert (report.exit_code, report.stderr.text()) == (0, ""), report
    return report.stdout.text()


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.01)


def family_below(keeper: int) -> list[int]:
    found = [keeper]
    for parent in found:
        listed = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii")
        found += map(int, listed.split())
    return found


@asynccontextmanager
async def stopped(keeper: int) -> AsyncGenerator[None]:
    """A warden and all below it stand still, and go on afterwards whatever happened."""
    family = family_below(keeper)
    try:
        await stop(family)
        yield
    finally:
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
