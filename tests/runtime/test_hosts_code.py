"""What the host hands in may fail; a call is answered all the same, and the host hears of it."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, cast

import anyio
import msgspec
import pytest
from support import make_tool, settle

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer, Approver
from holdfast.contract.runtime import Progress
from holdfast.execution.drive import CancelledError
from holdfast.policy.words import NOBODY_TO_ASK

ASKING = msgspec.structs.replace(make_tool(), permission_policy="always_ask")


async def _raises(_ask: Ask) -> None:
    raise OSError("the line is down")


async def _says_yes(_ask: Ask) -> Any:
    return True


def _not_async(_ask: Ask) -> Any:
    return None


async def _says_a_word(_ask: Ask) -> Answer:
    return Answer(allowed=cast("bool", "no"), by="a form")


class _Unspeakable:
    def __repr__(self) -> str:
        raise OSError("no words")

    __str__ = __repr__


async def _gives_what_has_no_words(_ask: Ask) -> Any:
    return _Unspeakable()


async def _signs_with_what_has_no_words(_ask: Ask) -> Answer:
    return Answer(allowed=True, by=cast("str", _Unspeakable()))


async def _notes_what_has_no_words(_ask: Ask) -> Answer:
    return Answer(allowed=False, by="x", note=cast("str", _Unspeakable()))


async def _wants_to_end_the_program(_ask: Ask) -> Answer:
    raise SystemExit(3)


async def _wants_to_end_it_later(_ask: Ask) -> Answer:
    await anyio.lowlevel.checkpoint()
    raise SystemExit(3)


async def _cancels_itself(_ask: Ask) -> Answer:
    raise CancelledError


async def _cancels_itself_later(_ask: Ask) -> Answer:
    await anyio.lowlevel.checkpoint()
    raise CancelledError


async def _raises_what_has_no_words(_ask: Ask) -> Answer:
    raise ValueError(_Unspeakable())


@pytest.mark.parametrize(
    "approver",
    [
        *(_raises, _says_yes, _not_async, _says_a_word, _gives_what_has_no_words),
        *(_signs_with_what_has_no_words, _notes_what_has_no_words, _wants_to_end_the_program),
        *(_wants_to_end_it_later, _cancels_itself, _cancels_itself_later),
        _raises_what_has_no_words,
    ],
)
async def test_an_approver_that_gives_no_answer_approves_nothing(
    approver: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "holdfast"):
        envelope = await settle(ASKING, approver=cast("Approver", approver))
    assert envelope.failure is not None
    assert envelope.failure.message == NOBODY_TO_ASK
    assert "approver" in caplog.text


async def test_a_progress_sink_that_fails_does_not_fail_the_tool(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_progress: Progress, /) -> None:
        raise OSError("nobody listens")

    def reports(_values: object, runtime: Any) -> str:
        runtime.progress(Progress(message="half"))
        return "done"

    with caplog.at_level(logging.ERROR, "holdfast"):
        envelope = await settle(make_tool(reports), progress=broken)
    assert envelope.ok
    assert "the progress sink failed" in caplog.text


class _Broken(Mapping[str, object]):
    def __getitem__(self, key: str) -> object:
        raise KeyError(key)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        raise OSError("gone")


async def test_arguments_that_cannot_be_read_are_refused() -> None:
    envelope = await settle(make_tool(), _Broken())
    assert envelope.failure is not None
    assert envelope.failure.kind == "invalid_args"
    assert "could not be read: OSError: gone" in envelope.failure.message


class _Fails:
    def __call__(self, _prepared: object, /) -> Any:
        return self._later()

    async def _later(self) -> Any:
        raise LookupError("no verdict")

    def answered(self, _ask: object, _answer: object, /) -> Any:
        raise LookupError("no verdict")


async def test_a_judge_that_fails_permits_nothing() -> None:
    ran: list[str] = []
    tool = make_tool(lambda _values, _runtime: ran.append("ran"))
    with pytest.raises(LookupError, match="no verdict"):
        await settle(tool, judge=_Fails())
    assert ran == []
