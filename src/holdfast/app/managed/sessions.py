"""What stands behind the tools of `tools/managed/sessions`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.session_events import SessionEvents
from holdfast.contract.managed.sessions import ChildWork, SessionBook
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed import child_work, event_book, session_book
from holdfast.runtime.managed.summaries import Summaries


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    summaries = Summaries(basis.ground, basis.judging, basis.shell)
    book = session_book.SessionBook(basis.ground, summaries)
    events = event_book.EventBook(basis.ground)
    work = child_work.ChildWork(basis.ground, basis.parts.children, book)
    return {
        SessionBook: lambda _call: book,
        SessionEvents: lambda _call: events,
        ChildWork: lambda _call: work,
    }
