"""What is told of a run, as tests of the whole screen tell it."""

from datetime import UTC, datetime
from typing import Any

from support import make_call, make_tool

from holdfast.contract.call import Ask, Prepared
from holdfast.contract.events import Event, Payload
from holdfast.contract.person import Choice, PersonQuestion
from holdfast.surfaces.cli.asked_about import Asked
from holdfast.surfaces.cli.call_cards import Card, CardLine
from holdfast.surfaces.cli.full_screen.sheets import Pause

PEACE = Pause(0.0, -1.0)
"""Nobody types anything else."""
LINES = [CardLine(f"+line {at}", "good") for at in range(60)]
ASKED = Asked(card=Card("write", {"path": "a.txt"}), reason="R", who="coder asks", lines=LINES)
RED = PersonQuestion(question="Which?", header="H", options=(Choice("Red", "warm"), Choice("Blue")))


def event_of(payload: Payload, session_id: str = "ses_1") -> Event:
    """An event of a session."""
    return Event(
        session_id=session_id,
        sequence=1,
        id="evt_1",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def ask_of(**more: Any) -> Ask:
    """A question about a call."""
    tool = make_tool(lambda _arguments, _runtime: None)
    prepared = Prepared(call=make_call(tool.name, {}), tool=tool, values={}, checked={})
    return Ask(prepared=prepared, reason="R", **more)
