"""A program that has itself killed while it changes files or takes changes back, at every step.

Each time a child is ended by SIGKILL right before or right after one of its system calls; its
parent then takes back whatever there is and looks whether all is as in the beginning.

    python crash.py FOLDER SEED what FIRST STEP     what: change, undo
"""

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from execution.files.ground import Ground, some_changes, tree_of

from holdfast.execution.files import placing
from holdfast.execution.files.placing import ASIDE

_STEPS = ("open", "write", "fsync", "rename", "unlink", "mkdir", "rmdir", "symlink", "fchmod")


class Countdown:
    """Ends the process at its n-th step."""

    def __init__(self, last: int) -> None:
        self._left = last

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            self.step()
            answer = real(*given, **named)
            self.step()
            return answer

        return call

    def begin(self) -> None:
        for name in _STEPS:
            setattr(os, name, self.around(getattr(os, name)))
        known = placing.__dict__
        known["system_call"] = self.around(known["system_call"])


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Whether it was killed before it was done."""
    child = os.fork()
    if child == 0:
        Countdown(step).begin()
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "it failed of itself"
        return False
    assert os.WTERMSIG(status) == signal.SIGKILL
    return True


def one_life(folder: Path, seed: int, what: str, step: int) -> bool:
    """Whether it was killed at that step. Raises AssertionError where undo was not right."""
    folder.mkdir()
    ground = Ground(folder)
    ground.lay({"a": b"first", "d/x": b"x"}, {"link": "a"})
    before = tree_of(ground.workspace)
    dice = random.Random(seed)
    if what == "undo":
        some_changes(ground, dice, 4)
        killed = killed_at(step, lambda: Ground(folder).undo().restore(None))
    else:
        killed = killed_at(step, lambda: some_changes(ground, dice, 4))
    restored = Ground(folder).undo().restore(None)
    problems = [one for one in restored if one.outcome == "conflict"]
    assert not problems, f"seed {seed}, step {step}: {problems}"
    after = tree_of(ground.workspace)
    assert after == before, f"seed {seed}, step {step}: {before} became {after}"
    left = list(folder.rglob(f"{ASIDE}*"))
    assert not left, f"seed {seed}, step {step}: {left} were left"
    shutil.rmtree(folder)
    return killed


def main() -> None:
    folder, seed, what, first, stride = sys.argv[1:]
    step, kills = int(first), 0
    while one_life(Path(folder) / f"{seed}-{step}", int(seed), what, step):
        step += int(stride)
        kills += 1
    sys.stdout.write(f"{kills}\n")


if __name__ == "__main__":
    main()
