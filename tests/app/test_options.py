"""What may be handed to Holdfast, and what may not."""

from pathlib import Path
from typing import Any, cast

import pytest

from holdfast import Holdfast, blocking
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings


@pytest.mark.parametrize("made", [Holdfast, blocking.Holdfast])
@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("aprover", "did you mean approver="),
        ("profil", "did you mean profile="),
        ("zzz", "known: agent, agents, application, approver, clock"),
    ],
)
def test_an_option_that_does_not_exist_is_refused(made: type, option: str, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        cast("Any", made)(**{option: None})


def test_a_workspace_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no directory; make it, or name another"):
        Holdfast(workspace=tmp_path / "nowhere", settings=Settings())
