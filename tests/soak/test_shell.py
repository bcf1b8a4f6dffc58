"""Random command texts against bash, seeded: nothing runs that the analysis did not foretell.

A short share runs with the tests of the shell; `make soak SEED=1 MINUTES=10` runs as long as asked.
"""

import os
import time

import pytest
from shell_bash import run, stand_ins, surprises
from shell_dice import Dice

from holdfast.policy.shell.analysis import analyse

SEED = int(os.environ.get("SEED", "1"))


@pytest.mark.timeout(0)
@pytest.mark.system("bash")
def test_a_long_run_of_random_texts_holds_no_surprise(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    dice = Dice(1_000 + SEED)
    until = time.monotonic() + 60 * float(os.environ.get("MINUTES", "10"))
    surprised: list[tuple[str, list[str]]] = []
    with stand_ins() as programs:
        while time.monotonic() < until:
            text = dice.text()
            found = analyse(text)
            if not found.doubts and (told := surprises(found, run(programs, text))):
                surprised.append((text, told))
    assert surprised == []
