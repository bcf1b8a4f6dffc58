"""bash itself as the judge: whatever it runs or writes was foretold, or there was a doubt.

Only stand-ins can be found by the texts that run here, and each run has a folder of its own.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from shell_bash import run, stand_ins, surprises
from shell_dice import Dice
from shell_texts import texts

from holdfast.policy.shell.analysis import analyse

pytestmark = pytest.mark.system("bash")

UNDERSTOOD_OF_EACH_SEED = 100


@pytest.fixture(scope="module")
def programs() -> Iterator[Path]:
    with stand_ins() as folder:
        yield folder


@settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(texts)
@example("beta - 1>o1")
@example("beta \\ - 1>o1")
@example("alpha x - <<'E' y\nx\nE\nbeta - 2>o1 - 1>o2")
@example("( beta \\  )")
@example("gamma {f}>o1")
@example(">&2\\`beta\\`x")
@example(">&'$(beta)'")
@example("alpha a#b; beta")
@example("gamma a$ == 2>&1")
@example("eval alpha -- x")
@example("time [[ 'a[$(beta)]' -eq 1 ]]")
@example("bash +c beta")
@example("sh -c 'gamma 10>o1'")
@example("beta \\ -x > o1")
@example("alpha -2>&1-")
@example("alpha -<<-E\nx\nE\n")
@example("cat <<'E'\"x\"\nEx\nbeta\nE\n")
@example("cat <<'E'\nE \nalpha 'x\nE\nbeta x #'\n")
@example("alpha \"$(cat <<'E'\nit's $(beta) `beta` )\n\nE\n)\"")
@example("wc * a{b,c} $?")
@example("echo $$$(beta) $#{beta,x}")
@example("LC_ALL=C alpha {,x}{,y} {a,b}c")
def test_everything_bash_runs_or_writes_was_foretold_or_in_doubt(programs: Path, text: str) -> None:
    found = analyse(text)
    if not found.doubts:
        assert surprises(found, run(programs, text)) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_seeded_share_of_random_texts_holds_no_surprise(programs: Path, seed: int) -> None:
    dice = Dice(seed)
    understood = 0
    while understood < UNDERSTOOD_OF_EACH_SEED:
        text = dice.text()
        found = analyse(text)
        if not found.doubts:
            understood += 1
            assert surprises(found, run(programs, text)) == [], text


def test_a_stand_in_says_what_it_was_given_and_a_missing_command_is_noticed(programs: Path) -> None:
    ran = run(programs, "alpha 'a b' $? * > o1; ./nothing; bash -c 'beta é'")
    assert sorted(ran.commands) == [
        ("alpha", "a b", "0", "-x", "a1b", "sub", "x1", "x2"),
        ("beta", "é"),
    ]
    assert (ran.made, ran.parsed) == ({"o1"}, True)
    assert surprises(analyse("alpha 'a b' $? *; beta"), ran) == [
        "started ('beta', 'é')",
        "made 'o1'",
    ]
    assert surprises(analyse("if"), run(programs, "if")) == ["cannot be parsed"]
