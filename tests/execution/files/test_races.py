"""Links swapped into a path while it is used: nothing outside is ever seen or changed."""

from collections import Counter
from pathlib import Path

import pytest
from execution.files import race
from execution.files.ground import no_opener

from holdfast.execution.files import opening

SLOW = {"write", "new", "edit", "remove", "make"}


def _short(name: str, counted: Counter[str]) -> bool:
    return counted["done"] < (8 if name in SLOW else 60)


def _nobody_escaped(counted: dict[str, Counter[str]]) -> None:
    assert counted.pop("attacker")["swaps"] >= 500
    assert {name: endings["escaped"] for name, endings in counted.items()} == dict.fromkeys(
        race.USES, 0
    )
    assert min(endings["done"] for endings in counted.values()) >= 8


@pytest.mark.parametrize("seed", [1, 2])
def test_no_link_wins_a_race(tmp_path: Path, seed: int) -> None:
    _nobody_escaped(race.fight(tmp_path, seed, _short))


def test_no_link_wins_where_paths_have_to_be_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_opener", no_opener)
    _nobody_escaped(race.fight(tmp_path, 3, _short))


def test_the_attacker_would_win_against_looking_first_and_opening_then(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    with race.attacked(root, 4):
        tries = 200_000
        escaped = (race.OUTSIDE[:7] in race.naive_read(root / "ws") for _ in range(tries))
        assert any(escaped)
