"""Secrets in what a model says, as it comes: wherever the pieces were cut."""

from itertools import pairwise
from pathlib import Path

import pytest
from agents_at_work import at_work, home_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.agent.place import Live, Sign
from holdfast.app.live_redaction import LiveRedaction
from holdfast.contract.events import Event
from holdfast.contract.model import (
    CallDelta,
    Heard,
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
)
from holdfast.contract.runtime import Progress
from holdfast.envelope.redact import REDACTED, Redactor

pytestmark = pytest.mark.anyio
SECRET = "s3cr3t-öf-the-house"


def told_of(pieces: list[ModelDelta], *secrets: str) -> list[Live]:
    told: list[Live] = []
    live = LiveRedaction(Redactor(secrets), told.append)
    for piece in pieces:
        live(piece)
    live.whole()
    return told


def text_of(told: list[Live], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(one.text for one in told if isinstance(one, kind))


@given(st.text(), st.text(), st.lists(st.integers(0, 60), max_size=5))
def test_a_secret_is_not_told_however_it_is_cut(before: str, behind: str, cuts: list[int]) -> None:
    whole = f"{before}{SECRET}{behind}"
    places = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    parts = [whole[start:end] for start, end in pairwise(places)]
    shown = text_of(told_of([TextDelta(part) for part in parts], SECRET), TextDelta)
    assert SECRET not in shown
    assert REDACTED in shown


@given(st.lists(st.text(alphabet="s3cr tö", max_size=6)))
def test_what_holds_no_secret_is_told_whole(parts: list[str]) -> None:
    told = told_of([TextDelta(part) for part in parts], SECRET)
    assert text_of(told, TextDelta) == "".join(parts)


def test_words_thoughts_and_each_call_are_streams_of_their_own() -> None:
    half, rest = SECRET[:7], SECRET[7:]

    def call(index: int, arguments: str) -> CallDelta:
        return CallDelta(index=index, id=f"c{index}", name="bash", arguments=arguments)

    told = told_of(
        [
            TextDelta(half),
            ReasoningDelta(half),
            call(0, half),
            call(1, half),
            ReasoningDelta(rest),
            call(1, "!"),
            call(0, rest),
            TextDelta(rest),
        ],
        SECRET,
    )
    assert text_of(told, TextDelta) == text_of(told, ReasoningDelta) == REDACTED
    arguments = {0: "", 1: ""}
    for one in told:
        if isinstance(one, CallDelta):
            arguments[one.index] += one.arguments
    assert arguments == {0: REDACTED, 1: f"{half}!"}
    named = [one for one in told if isinstance(one, CallDelta)][:2]
    assert [(one.index, one.name, one.arguments) for one in named] == [
        (0, "bash", ""),
        (1, "bash", ""),
    ]


def test_names_of_calls_hold_no_secret_either() -> None:
    piece = CallDelta(index=0, id=SECRET, name=f"to-{SECRET}", arguments="{}")
    (told,) = told_of([piece], SECRET)
    assert told == CallDelta(index=0, id=REDACTED, name=f"to-{REDACTED}", arguments="{}")


def test_where_there_is_no_secret_everything_passes_as_it_is() -> None:
    sign = Sign(call_id="cal_1", progress=Progress(message="half"))
    told: list[Live] = []
    live = LiveRedaction(Redactor(()), told.append)
    for one in (TextDelta(""), sign):
        live(one)
    live.whole()
    assert told == [TextDelta(""), sign]


class Leaking:
    """A model that says a secret in two pieces, fails in the middle of it, and says it again."""

    name = provider = "leaking"
    window, max_output_tokens = 128_000, 8_192
    asked = 0

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        assert heard is not None
        self.asked += 1
        heard(TextDelta(f"it is {SECRET[:9]}"))
        if self.asked == 1:
            raise ModelError("malformed", "cut")
        heard(TextDelta(SECRET[9:]))
        return ModelReply(text=f"it is {SECRET}")

    async def close(self) -> None:
        """Nothing is held."""


async def test_a_session_tells_no_secret_and_all_else_before_the_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.agent.asking.FIRST_PAUSE", 0.0)
    around = replace(home_of(tmp_path), secrets=(SECRET,))
    async with at_work(tmp_path, [], equipment={"model": Leaking()}, surroundings=around) as desk:
        told = [one async for one in desk.session.run("go")]
    shown = [
        one.text if isinstance(one, TextDelta) else one.type
        for one in told
        if isinstance(one, TextDelta | Event)
    ]
    assert SECRET not in "".join(shown)
    failed, replied = shown.index("model.failed"), shown.index("model.replied")
    assert "".join(shown[shown.index("model.requested") + 1 : failed]) == f"it is {SECRET[:9]}"
    again = shown.index("model.requested", failed)
    assert "".join(shown[again + 1 : replied]) == f"it is {REDACTED}"
