"""The person behind a session: asked by whoever the host has for it, or answered in the journal.

A lasting inquiry is written down before anybody is asked, and its reply before it counts. Of
several replies the first counts, wherever it was given. When the session is closed meanwhile, the
inquiry stays open: its call has no end then.
"""

from collections.abc import Sequence

import msgspec
from anyio import CancelScope, Event, create_task_group, get_cancelled_exc_class, move_on_after

from holdfast.contract.call import Ending, Interrupted, Raised, Returned
from holdfast.contract.errors import Cancelled, OperationFailed, PolicyDenied, Unavailable
from holdfast.contract.events import InquiryAnswered, InquiryAsked
from holdfast.contract.journal import EventQuery, JournalError, NotFitting
from holdfast.contract.json_value import encode_json
from holdfast.contract.person import (
    Asker,
    Inquiry,
    PersonQuestion,
    Postponed,
    Replies,
    misfit,
    skipped,
)
from holdfast.contract.ports import Clock
from holdfast.contract.runtime import Runtime
from holdfast.envelope.redact import Redactor
from holdfast.execution.run import driven
from holdfast.policy.words import NO_ANSWERS
from holdfast.runtime.abort import Abort
from holdfast.runtime.session_log import SessionLog

LOOK_SECONDS = 0.5
"""How often it is looked whether another process wrote a reply down."""
NOBODY = "nobody named"
"""Who replied, where the asker does not say."""
_STOPPED = "the call was stopped while a person was asked"
_POSTPONED = "nobody is here to be asked now; the question stays open"
_CLOSED = "the session was closed while a person was asked; the question stays open"


class People:
    """Whom the calls of one session ask. Used on one event loop."""

    def __init__(
        self, asker: Asker | None, log: SessionLog | None, redactor: Redactor, clock: Clock
    ) -> None:
        """``asker``: who puts inquiries to a person; None: nobody is there."""
        self._asker = asker
        self._log = log
        self._redactor = redactor
        self._clock = clock
        self._closing = Event()
        self._waiting: dict[str, Event] = {}
        self._given: dict[str, Replies] = {}
        self._standing: set[str] = set()
        self._left_open: set[str] = set()

    def of(self, call: Runtime) -> "CallPerson":
        """The person as one call meets them."""
        return CallPerson(self, call)

    def begun_anew(self, call_id: str, replies: Replies | None) -> None:
        """A call of before is begun anew: this was replied to it. None: what it asks is in the
        journal already, and nobody has replied."""
        self._left_open.discard(call_id)
        if replies is None:
            self._standing.add(call_id)
        else:
            self._given[call_id] = replies

    def heard(self, call_id: str | None) -> None:
        """A reply was written down: whoever waits for it need not wait any longer.

        None: whoever waits for any looks.
        """
        for waits_for, waiting in self._waiting.items():
            if call_id in (None, waits_for):
                waiting.set()

    def open(self) -> None:
        """Ask, from here on."""
        self._closing = Event()
        self._left_open.clear()

    def close(self) -> None:
        """Whoever waits for a lasting reply waits no longer; what they asked stays open."""
        self._closing.set()

    def stays_open(self, call_id: str) -> bool:
        """Whether the call still waits for a person, although nobody waits for the call."""
        return call_id in self._left_open

    @property
    def any_left_open(self) -> bool:
        """Whether an inquiry has outlived this."""
        return bool(self._left_open)

    async def ask(
        self, call: Runtime, questions: tuple[PersonQuestion, ...], *, lasting: bool
    ) -> Replies:
        """What the person says."""
        before = self._given.pop(call.call_id, None)
        if before is not None:
            return before
        if self._asker is None:
            raise PolicyDenied(NO_ANSWERS)
        inquiry = Inquiry(
            session_id=call.session.id,
            call_id=call.call_id,
            tool=call.tool,
            questions=questions,
            asked_at=self._clock.now(),
            model_call_id=call.model_call_id,
        )
        if not lasting or self._log is None:
            given = await self._asker(inquiry)
            # It could not be left open: nobody would know of it later.
            return _checked(inquiry, None if isinstance(given, Postponed) else given)
        return await self._lasting(inquiry, self._asker, self._log)

    async def _lasting(self, inquiry: Inquiry, asker: Asker, log: SessionLog) -> Replies:
        written = await self._written_down(inquiry, log)
        self._waiting[inquiry.call_id] = Event()
        try:
            found = await self._first(inquiry, asker, log, written)
        except get_cancelled_exc_class():
            if self._closing.is_set():
                self._left_open.add(inquiry.call_id)
            raise
        finally:
            del self._waiting[inquiry.call_id]
        if found is None or isinstance(found, Postponed):
            if found is None and not self._closing.is_set():
                raise Cancelled(_STOPPED)
            self._left_open.add(inquiry.call_id)
            raise Cancelled(_CLOSED if found is None else _POSTPONED)
        if isinstance(found, InquiryAnswered):
            return _replies(found)
        return await self._kept(found, inquiry.call_id, log, written)

    async def _written_down(self, inquiry: Inquiry, log: SessionLog) -> str | None:
        """The event that asks; None: it was written before."""
        if inquiry.call_id in self._standing:
            self._standing.discard(inquiry.call_id)
            return None
        asked = InquiryAsked(call_id=inquiry.call_id, questions=self._clean(inquiry.questions))
        try:
            (written,) = await log.append([asked])
        except JournalError as problem:
            raise Unavailable(
                f"Nobody was asked: the question cannot be written down ({problem})."
            ) from None
        return written.id

    async def _first(
        self, inquiry: Inquiry, asker: Asker, log: SessionLog, asked_id: str | None
    ) -> Replies | InquiryAnswered | Postponed | None:
        """What the asker gives, or what the journal says already; None: neither."""
        over, elsewhere = Abort(), list[InquiryAnswered]()
        ending: Ending = Interrupted()

        async def look() -> None:
            elsewhere.append(await self._written(inquiry.call_id, log, asked_id))
            over.set()

        async def close() -> None:
            await self._closing.wait()
            over.set()

        async with create_task_group() as group:
            group.start_soon(look)
            group.start_soon(close)
            ending = await driven(_asked(asker, inquiry), None, over)
            group.cancel_scope.cancel()
        match ending:
            case Returned(Replies() | Postponed() as replies):
                return replies
            case Raised(PolicyDenied() as refusal):
                raise refusal  # whoever asks found that nobody is there
            case Raised(problem):
                raise OperationFailed(
                    f"The person could not be asked: {type(problem).__name__}: {problem}"
                ) from problem
            case _:
                return elsewhere[0] if elsewhere else None

    async def _written(
        self, call_id: str, log: SessionLog, asked_id: str | None
    ) -> InquiryAnswered:
        """The reply in the journal, once there is one."""
        while True:
            with move_on_after(LOOK_SECONDS):
                await self._waiting[call_id].wait()
            self._waiting[call_id] = Event()
            try:
                found = await _first_reply(log, call_id, asked_id)
            except JournalError:
                found = None  # the asker may still reply
            if found is not None:
                return found

    async def _kept(
        self, replies: Replies, call_id: str, log: SessionLog, asked_id: str | None
    ) -> Replies:
        """It counts once it is written down, unless another one was before."""
        told = InquiryAnswered(
            call_id=call_id,
            answers=tuple(tuple(map(self._text, one)) for one in replies.answers),
            skipped=replies.skipped,
            by=self._text(replies.by),
        )
        try:
            with CancelScope(shield=True):
                await log.append([told])
        except NotFitting:
            first = await _first_reply(log, call_id, asked_id)
            if first is None:
                raise OperationFailed("The reply does not fit the question any more.") from None
            return _replies(first)
        except JournalError as problem:
            raise Unavailable(f"The reply cannot be written down ({problem}).") from None
        return replies

    def _clean(self, questions: tuple[PersonQuestion, ...]) -> tuple[PersonQuestion, ...]:
        if not self._redactor.active:
            return questions
        text = self._redactor.json(encode_json(questions))
        return msgspec.json.decode(text, type=tuple[PersonQuestion, ...])

    def _text(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor.active else text


class CallPerson:
    """The person as one call meets them."""

    def __init__(self, people: People, call: Runtime) -> None:
        self._people = people
        self._call = call

    async def ask(
        self, questions: Sequence[PersonQuestion], /, *, lasting: bool = False
    ) -> Replies:
        """Ask, and wait. PolicyDenied where nobody is there."""
        return await self._people.ask(self._call, tuple(questions), lasting=lasting)


async def _first_reply(
    log: SessionLog, call_id: str, asked_id: str | None
) -> InquiryAnswered | None:
    journal = await log.journal()
    query = EventQuery(after=asked_id, types=("inquiry.answered",))
    found = await journal.find(log.session_id, query)
    answers = (one.payload for one in found if isinstance(one.payload, InquiryAnswered))
    return next((one for one in answers if one.call_id == call_id), None)


def _replies(said: InquiryAnswered) -> Replies:
    return Replies(answers=said.answers, skipped=said.skipped, by=said.by)


async def _asked(asker: Asker, inquiry: Inquiry) -> object:
    given = await asker(inquiry)
    return given if isinstance(given, Postponed) else _checked(inquiry, given)


def _checked(inquiry: Inquiry, given: object) -> Replies:
    if given is None:
        return skipped(len(inquiry.questions), NOBODY)
    if not isinstance(given, Replies):
        raise TypeError(f"the asker gave a {type(given).__name__}, and not Replies or None")
    several = [one.multi_select for one in inquiry.questions]
    problem = misfit(several, given.answers, was_skipped=given.skipped)
    if problem is not None:
        raise ValueError(f"the asker's reply does not fit: {problem}")
    return given
