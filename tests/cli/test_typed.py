"""Lines that a person types, where nobody types any."""

import io
import os
import threading
from typing import TextIO

import anyio
import pytest

from holdfast.surfaces.cli.typed import Typing


def _typed(said: bytes) -> TextIO:
    ours, theirs = os.pipe()
    os.write(theirs, said)
    os.close(theirs)
    return os.fdopen(ours, encoding="utf-8")


@pytest.mark.parametrize(("said", "line"), [(b"yes\n", "yes\n"), (b"", None)])
@pytest.mark.parametrize("main", [True, False])
def test_the_end_of_what_is_typed_is_no_answer(said: bytes, line: str | None, main: bool) -> None:
    heard: list[str | None] = []
    shown = io.StringIO()
    with _typed(said) as answers:

        async def ask() -> None:
            heard.append(await Typing(answers, shown).line("> "))

        if main:
            anyio.run(ask)
        else:
            thread = threading.Thread(target=anyio.run, args=(ask,))
            thread.start()
            thread.join()
    assert heard == [line]
    assert shown.getvalue() == ("> " if line else "> \n")
