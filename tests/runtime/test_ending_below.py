"""Sessions that nobody waits for any more: what a call is told depends on how far it came."""

from collections.abc import AsyncGenerator

import pytest

from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallSettled,
    SessionClosed,
    SessionCreated,
)
from holdfast.runtime.recovery import ABORTED
from holdfast.runtime.waiting_below import end_below
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

CHILD = "ses_child"


@pytest.fixture
async def journal() -> AsyncGenerator[FakeJournal]:
    journal = FakeJournal(FakeClock())
    yield journal
    await journal.close()


async def test_a_call_that_had_begun_is_not_said_to_have_never_been_made(
    journal: FakeJournal,
) -> None:
    asked = [CallAsked(call_id=name, tool="deploy", arguments="{}") for name in ("new", "begun")]
    begun = CallIntended(call_id="begun", tool="deploy", arguments_hash="", grounds="")
    question = ApprovalAsked(
        approval_id="apr_1", call_id="new", tool="deploy", arguments_hash="", reason=""
    )
    await journal.create(CHILD, [SessionCreated(agent_id="coder")])
    await journal.append(CHILD, [*asked, begun, question])
    await end_below(journal, CHILD)
    payloads = [one.payload for one in await journal.events(CHILD)]
    ends = {one.call_id: bytes(one.envelope) for one in payloads if isinstance(one, CallSettled)}
    assert ABORTED.encode() in ends["begun"]
    assert b'"kind":"execution_error"' in ends["begun"]
    assert b"was not made" in ends["new"]
    assert ABORTED.encode() not in ends["new"]
    assert isinstance(payloads[-1], SessionClosed)
    before = len(payloads)
    await end_below(journal, CHILD)
    assert len(await journal.events(CHILD)) == before
    assert (await journal.session(CHILD)).state.calls == {}
