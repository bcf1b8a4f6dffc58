"""The file of vectors: what it keeps, for whom, and what becomes of one that is none."""

import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.vectors import VectorsUnavailable
from holdfast.record.vectors import comparing, door, vector_file
from holdfast.record.vectors.door import Bounds, Entry, Place, Taken, VectorFile, open_vectors

ONLY = Bounds(agents=("a",))


def _taken(name: str, *vectors: Sequence[float], agent: str | None = "a", before: int = 0) -> Taken:
    entries = [Entry(f"{name}_{before + at}", one) for at, one in enumerate(vectors, 1)]
    end = before + len(vectors)
    return Taken(
        session_id=name,
        agent=agent,
        before=Place(before, f"{name}_{before}") if before else Place(),
        now=Place(end, f"{name}_{end}"),
        entries=tuple(entries),
    )


def _found(file: VectorFile, vector: Sequence[float], bounds: Bounds = ONLY) -> list[str]:
    return [one.event_id for one in file.nearest(vector, bounds)]


@pytest.fixture
def file(tmp_path: Path) -> VectorFile:
    return open_vectors(tmp_path / "home" / "v.sqlite3", "words")


def test_what_is_closest_comes_first_and_in_bounds(file: VectorFile) -> None:
    assert _found(file, [1, 0]) == []
    assert file.keep(_taken("one", [1, 0], [0, 1], [-1, 0]))
    assert file.keep(_taken("two", [3, 1]))
    assert file.keep(_taken("theirs", [1, 0], agent="b"))
    assert file.keep(_taken("nobodys", [1, 0], agent=None))
    near = file.nearest([1, 0], ONLY)
    assert [one.event_id for one in near][:2] == ["one_1", "two_1"]
    assert near[0].similarity == pytest.approx(1.0, abs=1e-3)
    assert near[1].similarity == pytest.approx(3 / sqrt(10), abs=1e-2)
    assert near[-1].similarity == 0.0
    assert _found(file, [1, 0], Bounds(agents=("a",), least=0.5)) == ["one_1", "two_1"]
    assert _found(file, [1, 0], Bounds(agents=("a",), limit=1)) == ["one_1"]
    assert _found(file, [1, 0], Bounds(agents=("a",), limit=0)) == []
    assert _found(file, [1, 0], Bounds(agents=("a",), sessions=("two",))) == ["two_1"]
    assert "one_1" not in _found(file, [1, 0], Bounds(agents=("a",), without="one"))
    assert _found(file, [1, 0], Bounds(agents=(None,))) == ["nobodys_1"]
    assert _found(file, [1, 0], Bounds(agents=())) == []


def test_a_stretch_is_taken_up_once(file: VectorFile) -> None:
    assert file.keep(_taken("one", [1, 0]))
    assert not file.keep(_taken("one", [1, 0]))
    assert file.keep(_taken("one", [0, 1], before=1))
    assert file.reached(("a",)) == {"one": Place(2, "one_2")}
    assert file.reached((None, "b")) == {}
    file.forget(["one"])
    assert file.reached(("a",)) == {}
    assert _found(file, [1, 0]) == []


def test_a_vector_that_points_nowhere_is_left_out(file: VectorFile) -> None:
    nowhere = [[0, 0], [float("nan"), 1], [float("inf"), 1]]
    assert file.keep(_taken("one", *nowhere, [1, 1]))
    assert _found(file, [1, 1]) == ["one_4"]
    assert _found(file, [0, 0]) == []
    assert file.reached(("a",)) == {"one": Place(4, "one_4")}


def test_vectors_of_another_length_are_refused_with_what_to_do(file: VectorFile) -> None:
    assert file.keep(_taken("one", [1, 0]))
    for wrong in (
        lambda: file.keep(_taken("two", [1, 0, 0])),
        lambda: file.nearest([1, 0, 0], ONLY),
        lambda: file.keep(_taken("two", [1, 0], [1, 0, 0])),
    ):
        with pytest.raises(VectorsUnavailable, match=r"of 3 numbers.* have 2; remove the file"):
            wrong()
    assert _found(file, [1, 0]) == ["one_1"]


def test_it_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "home" / "v.sqlite3"
    open_vectors(path, "words").keep(_taken("one", [1, 0]))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    with pytest.raises(VectorsUnavailable, match="is a link"):
        open_vectors(path, "words").reached(("a",))


@pytest.mark.parametrize("what", ["damaged", "another embedder", "another form", "something else"])
def test_what_is_no_index_of_today_is_made_anew(tmp_path: Path, what: str) -> None:
    path = tmp_path / "v.sqlite3"
    open_vectors(path, "words").keep(_taken("one", [1, 0]))
    if what == "damaged":
        path.write_bytes(b"not a database" * 1000)
    elif what == "another embedder":
        open_vectors(path, "others").keep(_taken("two", [1, 0, 0]))
    elif what == "another form":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
    else:
        path.unlink()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE other (a)")
    file = open_vectors(path, "words")
    assert file.reached(("a",)) == {}
    assert file.keep(_taken("one", [0, 1]))
    assert _found(file, [0, 1]) == ["one_1"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite3").mkdir()
    with pytest.raises(VectorsUnavailable, match=r"v\.sqlite3"):
        open_vectors(tmp_path / "v.sqlite3", "words").reached(("a",))
    path = tmp_path / "locked.sqlite3"
    file = open_vectors(path, "words")
    file.keep(_taken("one", [1, 0]))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(VectorsUnavailable, match="locked"):
            file.keep(_taken("two", [1, 0]))
    assert file.keep(_taken("two", [1, 0]))


def test_only_the_newest_are_compared(file: VectorFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_file, "MOST_COMPARED", 3)
    monkeypatch.setattr(vector_file, "_AT_ONCE", 2)
    assert file.keep(_taken("one", *[[1, 0]] * 5))
    assert set(_found(file, [1, 0])) == {"one_3", "one_4", "one_5"}


def test_without_the_extra_it_says_which_command_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> object:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(door, "import_module", absent)
    with pytest.raises(VectorsUnavailable, match=r"pip install 'holdfast\[vectors\]'"):
        open_vectors(tmp_path / "v", "words")
    assert not (tmp_path / "v").exists()


NUMBERS = st.lists(st.floats(-100, 100, width=16), min_size=4, max_size=4).filter(
    lambda one: sum(part * part for part in one) > 0.01
)


@given(NUMBERS, st.lists(NUMBERS, min_size=1, max_size=20), st.integers(1, 25))
def test_the_library_finds_what_counting_by_hand_finds(
    asked: list[float], among: list[list[float]], limit: int
) -> None:
    packed = [vector_file.packed(one) for one in among]
    rows = [one for one in packed if one is not None]
    mine = vector_file.packed(asked)
    assert mine is not None
    found = comparing.closest(mine, rows, limit)
    assert len(found) == min(limit, len(rows))
    by_hand = sorted((_cosine(asked, one) for one in among), reverse=True)
    for (near, which), wanted in zip(found, by_hand, strict=False):
        assert near == pytest.approx(max(0.0, wanted), abs=0.01)
        assert near == pytest.approx(max(0.0, _cosine(asked, among[which])), abs=0.01)
    assert comparing.closest(mine, [], limit) == []


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = sqrt(sum(a * a for a in one)) * sqrt(sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths
