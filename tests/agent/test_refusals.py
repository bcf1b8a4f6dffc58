"""What a no means: alone it ends the turn of whoever is watched, with words it does not."""

from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, calls

from holdfast import Answer, tool
from holdfast.contract.call import Ask
from holdfast.contract.events import CallSettled

RAN: list[str] = []


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    RAN.append(place)
    return "deployed"


@tool
def look() -> str:
    """Look."""
    RAN.append("looked")
    return "seen"


@pytest.mark.parametrize(
    ("note", "ended"), [(None, "tool_rejected"), ("Not on a Friday.", "final_response")]
)
@pytest.mark.parametrize("behind", [("look", "{}"), ("complete", '{"summary": "done"}')])
async def test_a_refusal_with_words_is_told_to_the_model_which_goes_on(
    tmp_path: Path, note: str | None, ended: str, behind: tuple[str, str]
) -> None:
    RAN.clear()

    async def refuse(_question: Ask) -> Answer:
        return Answer(allowed=False, by="ada", note=note)

    asked = calls(("deploy", '{"place": "prod"}'), behind)
    async with at_work(
        tmp_path,
        [asked, "I wait."],
        tools=[deploy, look],
        profile="host",
        workspace=tmp_path,
        approver=refuse,
        equipment={"interactive": True},
    ) as desk:
        await desk.told("Deploy.")
        assert desk.session.last is not None
        assert desk.session.last.ended == ended
        assert RAN == []
        told = [bytes(one.envelope).decode() for one in await desk.payloads(CallSettled)]
        assert len(told) == 2
        assert "a person refused one before it" in told[1]
        assert (note or "user_denied") in told[0]


async def test_how_long_a_call_took_does_not_count_who_was_asked_before(tmp_path: Path) -> None:
    async def allow(_question: Ask) -> Answer:
        await anyio.sleep(0.3)
        return Answer(allowed=True, by="ada")

    asked = calls(("deploy", '{"place": "prod"}'))
    async with at_work(
        tmp_path, [asked, "done"], tools=[deploy], approver=allow, equipment={"interactive": True}
    ) as desk:
        await desk.told("Deploy.")
        (settled,) = await desk.payloads(CallSettled)
        envelope = bytes(settled.envelope).decode()
        took = int(envelope.partition('"duration_ms":')[2].split(",")[0].strip("}"))
        assert took < 300
