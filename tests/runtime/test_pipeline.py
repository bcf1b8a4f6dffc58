"""The way of a call, end to end: every road ends in exactly one envelope."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec
import pytest
from support import make_call, make_pipeline, make_tool, settle

from holdfast.contract.errors import UserDenied
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.tool import Limits, Tool
from holdfast.envelope.dialects import ok, typed
from holdfast.envelope.redact import REDACTED, Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.words import NOBODY_TO_ASK
from holdfast.runtime.abort import Abort
from holdfast.testing.fakes import FakeApprover, FakeClock, FakeProgress

pytestmark = pytest.mark.anyio

CLOSED: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def _asking(entered: list[object]) -> Tool:
    tool = make_tool(lambda values, _runtime: entered.append(values["n"]), schema=CLOSED)
    return msgspec.structs.replace(tool, permission_policy="always_ask")


async def test_a_good_call_runs_once_with_checked_arguments() -> None:
    seen: list[object] = []
    tool = make_tool(lambda values, _runtime: seen.append(dict(values)), schema=CLOSED)
    envelope = await settle(tool, '{"n": 3}')
    assert envelope.ok
    assert seen == [{"n": 3}]


@pytest.mark.req("SPEC-CON-22", "OSA-KND-13")
async def test_an_unknown_tool_is_named_before_anything_else_is_looked_at() -> None:
    pipeline = make_pipeline(make_tool(name="known", schema=CLOSED))
    envelope = await pipeline.settle(make_call("unknown", '{"whatever": 1}'), Abort())
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TOOL_NOT_FOUND
    assert "unknown" in envelope.failure.message
    assert "known'" not in envelope.failure.message.replace("unknown'", "")
    both = await pipeline.settle(make_call("unknown", "{"), Abort())
    assert both.failure is not None
    assert both.failure.kind is FailureKind.TOOL_NOT_FOUND


@pytest.mark.req("OSA-KND-04", "SPEC-CON-18", "OSA-ERR-07")
async def test_a_person_who_refuses_gives_user_denied() -> None:
    entered: list[object] = []
    approver = FakeApprover([Answer(allowed=False, by="ada", note="not today")])
    envelope = await settle(_asking(entered), '{"n": 1}', approver=approver)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.USER_DENIED
    assert envelope.failure.retryable is False
    assert "not today" in envelope.failure.message
    assert entered == []

    def refusing(_values: Mapping[str, object], _runtime: Runtime) -> object:
        raise UserDenied("the person said no")

    raised = await settle(make_tool(refusing))
    assert raised.failure is not None
    assert raised.failure.kind is FailureKind.USER_DENIED


async def test_nobody_to_ask_is_a_denial_by_policy_with_one_fixed_text() -> None:
    entered: list[object] = []
    envelope = await settle(_asking(entered), '{"n": 1}')
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.REJECTED
    assert envelope.failure.message == NOBODY_TO_ASK
    assert entered == []


async def test_a_person_who_agrees_lets_exactly_that_call_run() -> None:
    entered: list[object] = []
    approver = FakeApprover([Answer(allowed=True, by="ada")])
    envelope = await settle(_asking(entered), '{"n": "7"}', approver=approver)
    assert envelope.ok
    assert entered == [7]
    (ask,) = approver.asked
    assert ask.prepared.arguments == {"n": 7}


async def test_nobody_is_asked_about_a_call_that_cannot_run() -> None:
    approver = FakeApprover([Answer(allowed=True, by="ada")])
    envelope = await settle(_asking([]), '{"m": 1}', approver=approver)
    assert not envelope.ok
    assert approver.asked == []


@pytest.mark.req("SPEC-CON-19", "OSA-KND-05")
async def test_running_over_the_budget_is_a_timeout() -> None:
    async def slow(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.sleep(60)
        return None

    tool = make_tool(slow, style="async", limits=Limits(wall_seconds=0.02))
    envelope = await settle(tool)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TIMEOUT
    assert envelope.failure.retryable is True
    assert envelope.failure.message == "Tool 'probe' exceeded the 0.02s execution budget."


@pytest.mark.req("OSA-ERR-15")
async def test_a_cancelled_call_says_so() -> None:
    abort = Abort()
    abort.set()
    envelope = await settle(make_tool(), abort=abort)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.EXECUTION_ERROR
    assert envelope.failure.retryable is False
    assert envelope.failure.message == "Tool 'probe' was cancelled."


async def test_the_duration_covers_the_whole_way() -> None:
    clock = FakeClock()

    def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        clock.advance(0.25)
        return None

    envelope = await settle(make_tool(body), clock=clock)
    assert envelope.metadata.duration_ms == 250


@pytest.mark.req("SPEC-ENV-04")
async def test_every_typed_answer_has_an_integer_duration() -> None:
    for arguments in ("{}", "{", None):
        wire = msgspec.json.decode(typed.render(await settle(make_tool(), arguments)))
        assert type(wire["metadata"]["duration_ms"]) is int
    bare = msgspec.json.decode(typed.render(await settle(make_tool())))
    assert bare["metadata"]["duration_ms"] >= 0


async def test_repairs_are_named_in_the_answer() -> None:
    envelope = await settle(make_tool(schema=CLOSED), '{"n": "3"}')
    assert [repair.repair for repair in envelope.metadata.repairs] == ["integer_from_text"]
    wire = msgspec.json.decode(ok.render(envelope))
    assert wire["metadata"]["repairs"] == [{"field": "n", "repair": "integer_from_text"}]


async def test_the_body_is_handed_its_runtime() -> None:
    progress = FakeProgress()

    def body(_values: Mapping[str, object], runtime: Runtime) -> object:
        runtime.progress(Progress(message="here"))
        return {"call": runtime.call_id, "session": runtime.session.id}

    envelope = await settle(make_tool(body), progress=progress)
    assert envelope.result == {"call": "cal_test", "session": "ses_test"}
    assert progress.heard == [Progress(message="here")]


async def test_a_secret_in_a_refusal_is_taken_out() -> None:
    envelope = await settle(
        make_tool(schema=CLOSED), '{"n": "hunter2hunter2"}', redactor=Redactor(["hunter2hunter2"])
    )
    text = ok.render(envelope)
    assert "hunter2" not in text
    assert REDACTED in text


async def test_a_secret_in_a_name_a_key_or_a_sign_of_life_is_taken_out() -> None:
    secret = "hunter2hunter2"
    redactor = Redactor([secret])
    pipeline = make_pipeline(make_tool(schema=CLOSED), redactor=redactor)
    for name, arguments in (
        (secret, "{}"),
        ("probe", f'{{"n": 1, "{secret}": 1}}'),
        ("probe", secret),
    ):
        text = ok.render(await pipeline.settle(make_call(name, arguments), Abort()))
        assert secret not in text
        assert REDACTED in text
    progress = FakeProgress()

    def body(_values: Mapping[str, object], runtime: Runtime) -> object:
        runtime.progress(Progress(message=f"using {secret}", partial={"key": secret}))
        runtime.progress(Progress(done=1))
        return None

    await settle(make_tool(body), redactor=redactor, progress=progress)
    assert progress.heard == [
        Progress(message=f"using {REDACTED}", partial={"key": REDACTED}),
        Progress(done=1),
    ]


async def test_a_refusal_is_bounded_whatever_the_model_wrote() -> None:
    pipeline = make_pipeline(make_tool(schema=CLOSED))
    endless = "k" * 1_000_000
    for name, arguments in (("probe", f'{{"{endless}": 1}}'), (endless, "{}")):
        envelope = await pipeline.settle(make_call(name, arguments), Abort())
        assert not envelope.ok
        assert len(ok.render(envelope)) < 20_000


async def test_bytes_come_back_by_reference(tmp_path: Path) -> None:
    tool = make_tool(lambda _values, _runtime: b"\x00\x01\x02")
    envelope = await settle(tool, sidecars=SidecarFiles(tmp_path))
    result = envelope.result
    assert isinstance(result, dict)
    path = result["path"]
    assert isinstance(path, str)
    assert Path(path).read_bytes() == b"\x00\x01\x02"
    assert (result["kind"], result["byte_count"]) == ("binary", 3)


async def test_bytes_that_cannot_be_stored_are_a_failure_and_not_a_lie(tmp_path: Path) -> None:
    tool = make_tool(lambda _values, _runtime: b"x" * 100)
    for store in (SidecarFiles(tmp_path, call_quota=10), SidecarFiles(tmp_path, session_quota=0)):
        envelope = await settle(tool, sidecars=store)
        assert envelope.failure is not None
        assert envelope.failure.kind is FailureKind.UNAVAILABLE


async def test_calls_of_one_pipeline_may_overlap() -> None:
    running: list[int] = []
    most: list[int] = []

    async def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        running.append(1)
        most.append(len(running))
        await anyio.sleep(0.01)
        running.pop()
        return values["n"]

    tool = make_tool(body, style="async", schema=CLOSED)
    pipeline = make_pipeline(tool)
    results: dict[int, object] = {}

    async def one(number: int) -> None:
        envelope = await pipeline.settle(make_call(arguments={"n": number}), Abort())
        results[number] = envelope.result

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(one, number)
    assert results == {number: number for number in range(20)}
    assert max(most) > 1
