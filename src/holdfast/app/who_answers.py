"""Who answers what calls ask a person: somebody here, somebody elsewhere, or nobody."""

from anyio import sleep_forever

from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError
from holdfast.contract.call import Ask
from holdfast.contract.person import POSTPONED, Asker, Inquiry, Postponed, Replies
from holdfast.contract.ports import Answer, Approver
from holdfast.runtime.session_log import SessionLog

_NOBODY_ELSEWHERE = (
    "Holdfast(person='elsewhere') waits for replies in the journal, and store.kind is none; set"
    " store.kind = 'sqlite', or hand in a person= that asks"
)


def approver_of(options: Options) -> Approver:
    """Who is asked whether a call may run."""
    approver = options.get("approver")
    return _later if approver == "elsewhere" else approver or _nobody


def asker_of(options: Options, log: SessionLog | None) -> Asker | None:
    """Who puts inquiries to a person; None: nobody does. ConfigurationError."""
    person = options.get("person")
    if person != "elsewhere":
        return person
    if log is None:
        raise ConfigurationError(_NOBODY_ELSEWHERE)
    # Where nobody waits for approvals, nobody waits for replies either.
    return _reply_later if options.get("approver") == "elsewhere" else _replied_elsewhere


async def answered_elsewhere(_ask: Ask) -> Answer | None:
    """Whoever waits for the call waits for the answer, too: it is looked for in the journal."""
    await sleep_forever()


async def _replied_elsewhere(_inquiry: Inquiry) -> Replies | None:
    await sleep_forever()


async def _reply_later(_inquiry: Inquiry) -> Postponed:
    return POSTPONED


async def _later(_ask: Ask) -> Postponed:
    return POSTPONED


async def _nobody(_ask: Ask) -> Answer | None:
    return None
