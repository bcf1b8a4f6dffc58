"""Who decided is read out of the words that policy has for it, and of the answers beside them."""

from pathlib import Path

import pytest

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    Payload,
    SessionCreated,
)
from holdfast.contract.rules import Rule, Use
from holdfast.policy import words
from holdfast.policy.rules import Weighed
from holdfast.record.codec import Chain
from holdfast.record.decisions import Decision, decisions
from holdfast.record.sqlite.opening import SqliteReader, open_sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio

RULE = Rule(permission="bash", pattern="rm *", action="deny", scope="project", source="policy.toml")
USE = Use(capability="shell", target="rm -r x", kind="command")
ASKED = CallAsked(call_id="cal_1", tool="bash", arguments='{"command":"ls"}')


async def decided(root: Path, *payloads: Payload) -> list[Decision]:
    clock = SystemClock()
    store = open_sqlite(root / "h.db", Chain(b"k" * 32), clock, TimeIds(clock))
    await store.journal.create("ses_1", [SessionCreated(), ASKED, *payloads])
    await store.journal.close()
    reader = SqliteReader(root / "h.db")
    found = list(decisions(reader))
    reader.close()
    return found


@pytest.mark.parametrize(
    ("grounds", "by"),
    [
        (words.grounds((RULE,), (None,)), words.cited(RULE)),
        (words.grounds((None,), ("the built-in tools",)), "the built-in tools"),
        (words.grounds((None,), (None,)), "policy"),
        ("approved by ada", "ada"),
        ("something new", "policy"),
    ],
)
async def test_who_allowed_a_call(tmp_path: Path, grounds: str, by: str) -> None:
    intended = CallIntended(call_id="cal_1", tool="bash", arguments_hash="ab", grounds=grounds)
    (one,) = await decided(tmp_path, intended)
    assert (one.decision, one.by, one.reason) == ("allowed", by, grounds)
    assert (one.tool, one.arguments_hash, one.arguments) == ("bash", "ab", ASKED.arguments)


@pytest.mark.parametrize(
    ("reason", "by"),
    [
        (words.denied("bash", Weighed(action="deny", use=USE, rule=RULE)), words.cited(RULE)),
        (words.refused("bash", "The host (a) denies it."), "policy"),
        (words.NOBODY_TO_ASK, "policy"),
    ],
)
async def test_what_denied_a_call(tmp_path: Path, reason: str, by: str) -> None:
    refused = CallRefused(
        call_id="cal_1", tool="bash", arguments_hash="ab", kind="rejected", reason=reason
    )
    (one,) = await decided(tmp_path, refused)
    assert (one.decision, one.by, one.reason) == ("denied", by, reason)


@pytest.mark.parametrize(
    ("by", "note", "told"),
    [("ada", None, ("ada", "why")), ("ada", "no", ("ada", "no")), (None, None, (None, "why"))],
)
async def test_who_rejected_a_call(
    tmp_path: Path, by: str | None, note: str | None, told: tuple[str | None, str]
) -> None:
    answer = ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=False, by=by, note=note)
    answered, denied = await decided(
        tmp_path,
        ApprovalAsked(
            approval_id="apr_1", call_id="cal_1", tool="bash", arguments_hash="ab", reason="why"
        ),
        answer,
        CallRefused(
            call_id="cal_1", tool="bash", arguments_hash="ab", kind="user_denied", reason="said no"
        ),
    )
    who = told[0] or "nobody was there"
    assert (answered.by, answered.reason, denied.by, denied.reason) == (
        *(who, told[1], who, "said no"),
    )
    assert (answered.tool, answered.arguments_hash) == ("bash", "ab")
    assert answered.arguments == ASKED.arguments
