"""Are the patterns that an agent requires patterns? Says which one is not, by its place.

What they reach is not known here: they are tried where every variable stands for something.
"""

from collections.abc import Iterator

from holdfast.app.problems import ConfigurationError
from holdfast.app.requirement_tables import anywhere
from holdfast.app.spelling import nearest
from holdfast.contract.requirements import FsRequirement, NetRequirement, RequirementSet
from holdfast.contract.variables import STANDARD_VARIABLES, variables_in
from holdfast.policy.scope import compile_scope


def check_requires(whose: str, requires: RequirementSet) -> None:
    """Look at every pattern by itself; ConfigurationError for the first that is none."""
    places = anywhere()
    for entry, pattern, alone in _each(requires):
        try:
            unknown = [one for one in variables_in(pattern) if one not in STANDARD_VARIABLES]
            if not unknown:
                compile_scope(alone, places)
        except ValueError as problem:
            raise ConfigurationError(
                f"{whose}.{entry}: {problem}; correct or remove that entry"
            ) from None
        if unknown:
            raise ConfigurationError(f"{whose}.{entry}: {_unknown(unknown[0])}")


def _each(requires: RequirementSet) -> Iterator[tuple[str, str, RequirementSet]]:
    """Every pattern: its place, its text, and a set that holds it alone."""
    for place, pattern in enumerate(requires.fs.read):
        yield f"read[{place}]", pattern, RequirementSet(fs=FsRequirement(read=(pattern,)))
    for place, pattern in enumerate(requires.fs.write):
        yield f"write[{place}]", pattern, RequirementSet(fs=FsRequirement(write=(pattern,)))
    for place, pattern in enumerate(requires.net.hosts):
        yield f"hosts[{place}]", pattern, RequirementSet(net=NetRequirement((pattern,)))


def _unknown(name: str) -> str:
    near = nearest(name, STANDARD_VARIABLES)
    known = ", ".join(f"{{{one}}}" for one in STANDARD_VARIABLES)
    hint = f"known: {known}" if near is None else f"did you mean {{{near}}}?"
    return f"unknown variable {{{name}}}; {hint}"
