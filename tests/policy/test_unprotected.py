"""Commands that may write are asked about where nothing keeps them from protected places."""

from collections.abc import Awaitable

import pytest

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.call import Prepared, ToolCall
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.rules import Use
from holdfast.contract.tool import Body, Tool
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.policy.hooks.unprotected import UnprotectedWrites

SHELL = Tool(
    name="sh",
    description=None,
    requires=RequirementSet(),
    body=Body(style="inline", invoke=lambda _values, _runtime: None),
)


def inspected(*uses: Use) -> Inspection:
    call = ToolCall(id="c", tool="sh", arguments={}, session_id="s")
    return Inspection(
        prepared=Prepared(call=call, tool=SHELL, values={}, checked={}),
        manifest=NO_AGENT,
        uses=uses,
    )


def command(text: str, doubt: str | None = None) -> Use:
    return Use(capability="shell.run", kind="command", target=text, doubt=doubt)


REDIRECTED = Use(capability="fs.write", kind="path", target="x", within="ls > x")


def opinion(hook: UnprotectedWrites, *uses: Use) -> Opinion:
    given = hook(inspected(*uses))
    assert isinstance(given, Opinion)
    return given


@pytest.mark.parametrize(
    ("uses", "verdict"),
    [
        ((command("ls -la"),), "allow"),
        ((command("git status"), command("cat x")), "allow"),
        ((command("touch x"),), "ask"),
        ((command("ls"), command("make")), "ask"),
        ((command("ls", doubt="it cannot be read"),), "ask"),
        (
            (command("ls"), Use(capability="fs.write", kind="path", target="x", within="ls > x")),
            "ask",
        ),
        ((Use(capability="fs.write", kind="path", target="x"),), "allow"),
    ],
)
def test_what_may_write_is_asked_about(uses: tuple[Use, ...], verdict: str) -> None:
    asked: list[str] = []

    def protects(tool: str) -> bool:
        asked.append(tool)
        return False

    assert opinion(UnprotectedWrites(protects), *uses).verdict == verdict
    assert asked == (["sh"] if verdict == "ask" else [])


def test_where_the_kernel_keeps_them_nobody_is_asked() -> None:
    assert opinion(UnprotectedWrites(lambda _tool: True), command("make")).verdict == "allow"


@pytest.mark.parametrize(("protects", "verdict"), [(True, "allow"), (False, "ask")])
async def test_what_is_not_known_yet_is_waited_for(protects: bool, verdict: str) -> None:
    async def found_out() -> bool:
        return protects

    waited = UnprotectedWrites(lambda _tool: found_out())(inspected(command("make")))
    assert isinstance(waited, Awaitable)
    assert (await waited).verdict == verdict
