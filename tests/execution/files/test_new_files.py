"""Files that must not be there yet."""

import pytest
from execution.files.ground import Ground

from holdfast.contract.errors import OperationFailed
from holdfast.execution.files.changes import State
from holdfast.execution.files.opening import Spot
from holdfast.execution.files.recorder import Recorder


def test_a_new_file_that_appears_while_it_is_looked_at_is_left_alone(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = Recorder.before

    def meanwhile(recorder: Recorder, spot: Spot) -> State:
        (ground.workspace / "t").write_text("theirs", "utf-8")
        return looked(recorder, spot)

    monkeypatch.setattr(Recorder, "before", meanwhile)
    with pytest.raises(OperationFailed) as refused:
        ground.files().write("t", "ours", new=True)
    assert refused.value.extras == {"reason": "exists"}
    assert (ground.workspace / "t").read_text("utf-8") == "theirs"
