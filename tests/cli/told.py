"""Sessions written into the home of a command, as an agent would leave them."""

from pathlib import Path

import anyio

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract.events import AgentChunk, Payload, SessionCreated
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.testing.fakes import FakeClock, FakeIds


def session_in(home: Path, *payloads: Payload) -> str:
    """A session with these events, a tenth of a second apart."""

    async def main() -> None:
        clock = FakeClock()
        around = Surroundings(data_home=home / "data", state_home=home / "state")
        journal = open_store(Settings(), around, clock, FakeIds()).journal
        await journal.create("ses_told", [SessionCreated()])
        for payload in payloads:
            clock.advance(0.1)
            await journal.append("ses_told", [payload])
        await journal.close()

    anyio.run(main)
    return "ses_told"


def said(**fields: JsonValue) -> AgentChunk:
    """A piece of what the agent says."""
    chunk: JsonObject = {**fields}
    return AgentChunk(chunk=chunk)
