"""What of the parent's environment a declared program sees."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.program_environment import program_environment

NAMES = st.sampled_from(["PATH", "HOME", "TZ", "SECRET", "LANG"])
PARENTS = st.dictionaries(NAMES, st.sampled_from(["", "x", "/bin"]))


@given(PARENTS, st.lists(NAMES))
def test_nothing_but_the_base_and_what_was_allowed(
    parent: dict[str, str], allowed: list[str]
) -> None:
    found = program_environment(parent, allowed)
    base = {name for name in ("PATH", "HOME") if parent.get(name)}
    further = {name for name in allowed if name in parent and name not in ("PATH", "HOME")}
    assert set(found.variables) == base | further
    further |= base.intersection(allowed)
    assert all(found.variables[name] == parent[name] for name in found.variables)
    assert set(found.passed) == further
    assert len(found.passed) == len(further)
