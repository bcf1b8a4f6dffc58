"""What may be handed to Holdfast, and what may not."""

from typing import Any, cast

import pytest

from holdfast import Holdfast, blocking


@pytest.mark.parametrize("made", [Holdfast, blocking.Holdfast])
@pytest.mark.parametrize(
    ("option", "hint"), [("aprover", "did you mean approver="), ("zzz", "known: approver, clock")]
)
def test_an_option_that_does_not_exist_is_refused(made: type, option: str, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        cast("Any", made)(**{option: None})
