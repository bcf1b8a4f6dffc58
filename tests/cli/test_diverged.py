"""A divergence as it is shown: what stands where, what stands nowhere, and no secret."""

import io

import msgspec

from holdfast.app.diverged import without_secrets
from holdfast.contract.json_value import JsonValue
from holdfast.envelope.redact import REDACTED, Redactor
from holdfast.record.divergence import Divergence
from holdfast.surfaces.cli.diverged import show_divergence
from holdfast.surfaces.cli.screen import Screen

SECRET = "hunter22"
KNOWING = Redactor([SECRET])


def _found(
    before: JsonValue | msgspec.UnsetType = msgspec.UNSET,
    after: JsonValue | msgspec.UnsetType = msgspec.UNSET,
) -> Divergence:
    return Divergence(
        sequence=3, event_id="evt_3", kind="call.asked", field="$.a", before=before, after=after
    )


def _shown(found: Divergence) -> str:
    out = io.StringIO()
    show_divergence(found, "Event 3 is another one", Screen(out, io.StringIO()))
    return out.getvalue()


def _hidden(found: Divergence) -> Divergence:
    hidden = without_secrets(found, KNOWING)
    assert hidden is not None
    assert SECRET not in str(hidden)
    return hidden


def test_what_stands_on_one_side_alone_is_nothing_on_the_other() -> None:
    shown = _shown(_found(before={"b": 1}))
    assert shown.startswith("Event 3 is another one\n")
    assert "evt_3" in shown
    assert '"b": 1' in shown
    assert shown.count("(nothing)") == 1
    assert _shown(_found(after="new")).count("(nothing)") == 1


def test_an_empty_text_is_shown_as_one() -> None:
    assert '""' in _shown(_found(before="", after="new"))


def test_without_secrets_it_stays_as_it_is() -> None:
    found = _found(before="a", after="b")
    assert without_secrets(found, Redactor()) is found
    assert without_secrets(None, KNOWING) is None
    assert _hidden(found) == found


def test_what_is_not_there_is_not_made_up() -> None:
    gone = _hidden(_found(before=f"it is {SECRET}"))
    assert (gone.before, gone.after) == (f"it is {REDACTED}", msgspec.UNSET)
    come = _hidden(_found(after=[SECRET]))
    assert (come.before, come.after) == (msgspec.UNSET, [REDACTED])


def test_two_that_differ_in_a_secret_alone_are_told_to_be_that() -> None:
    whole = _hidden(_found(before=SECRET, after=REDACTED))
    assert whole.before == "(something that is known to be secret now)"
    assert whole.after == REDACTED
    part = _hidden(_found(before=f"a {SECRET}", after=f"a {REDACTED}"))
    assert part.before == f"(something that is known to be secret now): a {REDACTED}"
    assert part.after == f"a {REDACTED}"
