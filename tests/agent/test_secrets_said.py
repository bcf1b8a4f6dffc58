"""Secrets that people say, and that ends of runs would tell: nobody reads them afterwards."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from agents_at_work import Desk, at_work, home_of

from holdfast.contract.events import StatusIdle, UserInterrupt, UserMessage

pytestmark = pytest.mark.anyio

SECRET = "hunter2-very-secret-value-99"


def with_secret(folder: Path) -> dict[str, Any]:
    return {"surroundings": msgspec.structs.replace(home_of(folder), secrets=(SECRET,))}


async def _is_nowhere(desk: Desk, folder: Path) -> None:
    assert SECRET not in str(await desk.events())
    stored = b"".join(one.read_bytes() for one in (folder / "data").rglob("holdfast.db*"))
    assert stored
    assert SECRET.encode() not in stored


@pytest.mark.parametrize("how", ["send", "run"])
async def test_a_secret_that_a_person_says_is_not_written_down(tmp_path: Path, how: str) -> None:
    async with at_work(tmp_path, ["I see."], **with_secret(tmp_path)) as desk:
        message = f"The password is {SECRET}, use it."
        if how == "send":
            await desk.session.send(message)
            await desk.told()
        else:
            await desk.told(message)
        (said,) = await desk.payloads(UserMessage)
        assert said.message.startswith("The password is ")
        assert said.message.endswith(", use it.")
        assert SECRET not in str(desk.rows())
        await _is_nowhere(desk, tmp_path)


async def test_a_secret_in_what_to_do_instead_is_not_written_down(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["I see."], **with_secret(tmp_path)) as desk:
        await desk.session.interrupt(f"Use {SECRET} instead.")
        await desk.told()
        (said,) = await desk.payloads(UserInterrupt)
        assert said.note is not None
        assert SECRET not in said.note
        await _is_nowhere(desk, tmp_path)


async def test_a_secret_in_why_a_run_failed_is_not_told(tmp_path: Path) -> None:
    def broken(_request: object) -> str:
        raise LookupError(f"there is no {SECRET} here")

    async with at_work(tmp_path, [broken], **with_secret(tmp_path)) as desk:
        await desk.told("Go.")
        end = desk.session.last
        assert end is not None
        assert end.problem is not None
        assert end.problem.startswith("LookupError: there is no ")
        assert SECRET not in end.problem
        (idle,) = await desk.payloads(StatusIdle)
        assert idle.summary.startswith("Wake failed: LookupError: there is no ")
        await _is_nowhere(desk, tmp_path)
