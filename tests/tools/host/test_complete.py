"""`complete`: a summary that says something, or none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened, result

from holdfast.contract.failure import FailureKind
from holdfast.tools.host.complete import is_placeholder

pytestmark = pytest.mark.anyio
GOOD = "Fixed the parser for empty rows."


@pytest.mark.req("OSA-DRV-09")
@pytest.mark.parametrize(
    ("summary", "word"),
    [
        ("Fixed it.", "9 characters"),
        (f"   {GOOD[:29]}{' ' * 40}", "29 characters"),
        ("Task completed successfully. Everything is done now.", "placeholder"),
        ("TODO: write the summary here later, please.", "placeholder"),
        ("Lorem ipsum dolor sit amet, lorem ipsum.", "placeholder"),
        ("<insert your final summary of the work here>", "placeholder"),
        ("." * 40, "placeholder"),
        ("parser parser parser parser parser parser", "placeholder"),
    ],
)
async def test_what_says_nothing_is_refused(workspace: Path, summary: str, word: str) -> None:
    async with opened(workspace, "host") as hf:
        refused = await failure(hf, "complete", summary=summary)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "summary")
        assert word in refused.message


async def test_the_summary_is_the_answer(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        assert await result(hf, "complete", summary=f"\n{GOOD} ") == {"text": GOOD}
        assert len(GOOD[:30]) == 30
        assert await result(hf, "complete", summary=GOOD[:30]) == {"text": GOOD[:30]}


FILLER = ("done", "task", "is", "the", "summary", "TODO")


@given(st.lists(st.sampled_from(FILLER), max_size=12))
def test_filler_stays_filler_in_any_order(words: list[str]) -> None:
    assert is_placeholder(" ".join(words))
    assert not is_placeholder(" ".join([*words, "Rewrote the tokenizer"]))
