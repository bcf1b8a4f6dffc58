"""The right to write below a root: one process has it, and it ends with that."""

from pathlib import Path

import pytest

from holdfast.execution.files import write_lease
from holdfast.execution.files.write_lease import Doing, LeaseTaken, WriteLease

NOTE = Doing(target="a", content_hash="x", before_hash="y", previous_version_id="v")


def test_one_has_it_and_others_are_told_who(tmp_path: Path) -> None:
    file = tmp_path / "leases" / "one.json"
    with WriteLease(file, "ses_1") as lease:
        assert lease.left is None
        with pytest.raises(LeaseTaken, match="ses_1") as taken:
            WriteLease(file, "ses_2")
        assert taken.value.owner.session_id == "ses_1"
    with WriteLease(file, "ses_2"):
        pass
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_was_being_done_is_told_to_the_next_one_until_it_is_done(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    with WriteLease(file, "ses_1") as lease:
        lease.doing(NOTE)
    with WriteLease(file, "ses_2") as lease:
        assert lease.left == NOTE
    with WriteLease(file, "ses_3") as lease:
        assert lease.left == NOTE  # nobody has said that it is done
        lease.doing(None)
    with WriteLease(file, "ses_4") as lease:
        assert lease.left is None


@pytest.mark.parametrize("left", ["", '{"session_id": "ses', "[]", "\x00"])
def test_a_note_that_was_cut_short_says_nothing(tmp_path: Path, left: str) -> None:
    file = tmp_path / "one.json"
    file.write_text(left)
    with WriteLease(file, "ses_1") as lease:
        assert lease.left is None


def test_what_fails_on_the_way_lets_go_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(_handle: int) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(write_lease, "_lock", no)
    with pytest.raises(OSError, match="no locks here"):
        WriteLease(tmp_path / "one.json", "ses_1")
    (tmp_path / "link.json").symlink_to(tmp_path / "one.json")
    with pytest.raises(OSError, match="symbolic"):
        WriteLease(tmp_path / "link.json", "ses_1")
