"""What others do to a file while it is changed: noticed, and never lost."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from execution.files.ground import Ground

from holdfast.contract.errors import OperationFailed
from holdfast.execution.files import mutations, placing


@pytest.mark.req("SPEC-EDIT-15")
def test_a_file_changed_meanwhile_is_stale_and_not_overwritten(ground: Ground) -> None:
    ground.lay({"t": b"one"}, {})
    files = ground.files()
    path = ground.workspace / "t"

    def meanwhile(text: str) -> str:
        path.write_bytes(b"two")  # somebody who knows nothing of our locks
        return text + " more"

    with pytest.raises(OperationFailed, match="t was changed meanwhile") as raised:
        files.edit("t", meanwhile)
    assert raised.value.extras == {"reason": "stale"}
    assert path.read_bytes() == b"two"

    read = files.read_text("t")
    path.write_bytes(b"ten")
    with pytest.raises(OperationFailed) as raised:
        files.write("t", b"mine", revision=read.revision)
    assert raised.value.extras == {"reason": "stale"}
    assert path.read_bytes() == b"ten"

    def gone(text: str) -> str:
        path.unlink()
        return text + " more"

    with pytest.raises(OperationFailed) as raised:
        files.edit("t", gone)
    assert raised.value.extras == {"reason": "stale"}
    assert not path.exists()

    def linked(text: str) -> str:
        path.unlink()
        path.symlink_to(ground.root / "elsewhere")
        return text + " more"

    path.write_bytes(b"one")
    with pytest.raises(OperationFailed) as raised:
        files.edit("t", linked)
    assert raised.value.extras == {"reason": "stale"}
    assert not (ground.root / "elsewhere").exists()
    assert ground.changes.load() == ()


@pytest.mark.req("SPEC-EDIT-15")
def test_a_change_in_the_last_moment_is_noticed(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"one"}, {})
    path = ground.workspace / "t"
    contents = iter([b"two", b"six"])

    @contextmanager
    def and_then(*given: object) -> Generator[None]:
        with real(*given):  # pyright: ignore[reportArgumentType] - handed on as it came
            path.write_bytes(next(contents, path.read_bytes()))
            yield

    real = placing.written_aside
    monkeypatch.setattr(mutations, "written_aside", and_then)
    files = ground.files()
    with pytest.raises(OperationFailed) as raised:
        files.edit("t", lambda text: text + " more")
    assert raised.value.extras == {"reason": "stale"}
    assert path.read_bytes() == b"two"
    # Without a condition the last writer wins, and undo brings back what was really there.
    files.write("t", b"mine")
    assert path.read_bytes() == b"mine"
    ground.undo().restore()
    assert path.read_bytes() == b"six"


def test_a_file_that_never_comes_to_rest_is_left_alone(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"0"}, {})
    path = ground.workspace / "t"

    @contextmanager
    def and_then(*given: object) -> Generator[None]:
        with real(*given):  # pyright: ignore[reportArgumentType] - handed on as it came
            path.write_bytes(b"0" + path.read_bytes())
            yield

    real = placing.written_aside
    monkeypatch.setattr(mutations, "written_aside", and_then)
    with pytest.raises(OperationFailed, match="was changed meanwhile"):
        ground.files().write("t", b"mine")
    assert set(path.read_bytes()) == {ord("0")}
    assert ground.changes.load() == ()


def test_a_file_that_appears_in_the_last_moment_is_replaced_and_kept(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ground.workspace / "t"

    @contextmanager
    def and_then(*given: object) -> Generator[None]:
        with real(*given):  # pyright: ignore[reportArgumentType] - handed on as it came
            if not path.exists():
                path.write_bytes(b"theirs")
            yield

    real = placing.written_aside
    monkeypatch.setattr(mutations, "written_aside", and_then)
    assert ground.files().write("t", b"mine").created is False
    ground.undo().restore()
    assert path.read_bytes() == b"theirs"
