"""The real files and the fake pass the same kit, and the kit notices what is wrong."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest
from execution.files.ground import Ground, no_opener

from holdfast.contract.files import Files, Written
from holdfast.contract.paths import is_within
from holdfast.execution.files import opening
from holdfast.testing.fake_files import FakeFiles
from holdfast.testing.files_kit import CLOSED, LARGEST_READ, check_files


def _on_disk(folder: Path) -> Callable[[Mapping[str, bytes], Mapping[str, str]], Files]:
    numbers: Iterator[int] = count()

    def make(files: Mapping[str, bytes], links: Mapping[str, str]) -> Files:
        place = folder / str(next(numbers))
        place.mkdir()
        (place / "outside").write_bytes(b"outside")
        ground = Ground(place)
        ground.lay(files, links)
        return ground.files(largest_read=LARGEST_READ)

    return make


def _fake(files: Mapping[str, bytes], links: Mapping[str, str], /) -> FakeFiles:
    return FakeFiles(
        files, links, largest_read=LARGEST_READ, admits=lambda _, path: not is_within(path, CLOSED)
    )


def test_the_disk_passes_the_kit(tmp_path: Path) -> None:
    check_files(_on_disk(tmp_path))


def test_the_disk_passes_the_kit_where_paths_have_to_be_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_opener", no_opener)
    check_files(_on_disk(tmp_path))


def test_the_fake_passes_the_kit() -> None:
    check_files(_fake)


class Forgetful(FakeFiles):
    """Writes, and does not care about conditions."""

    def write(
        self,
        path: str,
        content: bytes | str,
        /,
        *,
        mode: int | None = None,
        new: bool = False,
        revision: str | None = None,
    ) -> Written:
        return super().write(path, content, mode=mode)


def test_the_kit_notices_files_that_forget_conditions() -> None:
    with pytest.raises(AssertionError, match="instead of a OperationFailed"):
        check_files(lambda files, links: Forgetful(files, links, largest_read=LARGEST_READ))


def test_the_kit_notices_files_that_admit_too_much() -> None:
    with pytest.raises(AssertionError, match="secret"):
        check_files(lambda files, links: FakeFiles(files, links, largest_read=LARGEST_READ))
