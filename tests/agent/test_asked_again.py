"""A question is about exactly one call: where another one would run, nobody is asked about it."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import at_work, calls

from holdfast import Answer, tool
from holdfast.contract.call import Ask
from holdfast.contract.events import ApprovalAnswered, CallIntended, CallSettled

pytestmark = pytest.mark.anyio

RAN: list[object] = []


def deploying(kind: type) -> Any:
    def deploy(count: Any) -> str:
        """Deploy so many."""
        RAN.append(count)
        return "deployed"

    deploy.__annotations__["count"] = kind
    return tool(permission_policy="always_ask")(deploy)


@pytest.mark.parametrize(("kind", "same"), [(str, True), (int, False)])
async def test_whoever_is_asked_again_is_asked_about_the_same_call(
    tmp_path: Path, kind: type, same: bool
) -> None:
    """A tool that reads its arguments otherwise would do something else with the stored ones."""
    RAN.clear()
    turns = [calls(("deploy", '{"count": "5"}'))]
    async with at_work(tmp_path, turns, tools=[deploying(str)]) as desk:
        await desk.told("Deploy.")
        session = desk.session.id
    asked: list[Ask] = []

    async def approver(ask: Ask, /) -> Answer:
        asked.append(ask)
        return Answer(allowed=True, by="ada")

    options: dict[str, Any] = {"session": session, "approver": approver}
    async with at_work(
        tmp_path, ["I see."], tools=[deploying(kind)], equipment={"interactive": True}, **options
    ) as desk:
        await desk.told()
        (settled,) = await desk.payloads(CallSettled)
        assert (["5"] if same else []) == RAN
        assert len(asked) == (1 if same else 0)
        assert len(await desk.payloads(CallIntended)) == (1 if same else 0)
        allowed = [one.allowed for one in await desk.payloads(ApprovalAnswered)]
        assert (True in allowed) is same
        if not same:
            assert b"something else would run now" in bytes(settled.envelope)
