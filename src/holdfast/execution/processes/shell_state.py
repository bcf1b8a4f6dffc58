"""What goes on from command to command: the directory, and how the exported variables differ."""

from collections.abc import Mapping
from typing import NamedTuple

_BASHS_OWN = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "POSIXLY_CORRECT"})


class ShellState(NamedTuple):
    """The last that is known of a shell, for the next one to begin with."""

    cwd: str
    changed: Mapping[str, str] = {}
    """Exported with another value than the base environment has, or beside it."""
    removed: frozenset[str] = frozenset()
    """In the base environment, and not exported any more."""

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """What a new shell begins with."""
        kept = {name: value for name, value in base.items() if name not in self.removed}
        return kept | {**self.changed}

    def env_keys(self) -> tuple[str, ...]:
        """The names that differ from the base environment."""
        return tuple(sorted({*self.changed, *self.removed})) if self.changed or self.removed else ()


def state_of(cwd: str, exported: Mapping[str, str], base: Mapping[str, str]) -> ShellState:
    """The difference between what a shell exports and the base environment."""
    changed = {
        name: value
        for name, value in exported.items()
        if name not in _BASHS_OWN and base.get(name) != value
    }
    return ShellState(cwd, changed, frozenset(base.keys() - exported.keys() - _BASHS_OWN))
