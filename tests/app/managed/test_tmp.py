from pathlib import Path
import pytest
from app.managed.managed_kit import *
from agents_at_work import calls
pytestmark = pytest.mark.anyio
async def test_it(tmp_path: Path):
    async with at_managed_work(tmp_path, [calls(("make_report","{}")), "Done."], tools=[make_report]) as desk:
        await define(desk)
        await desk.told("Please read notes.txt first.")
        for n in (0,1):
            print(desk.model.requests[n].notices)
        for one in sorted(shown(desk).iterdir()):
            print(one.name); print(one.read_text()[:700])
        assert 0
