"""The checks of `holdfast doctor` about confinement: what there is, and what is missing."""

import platform
from collections.abc import Iterator

import anyio

from holdfast.app.sandbox_survey import SandboxSurvey, SurveyedTier, survey
from holdfast.contract.shell import Confinement
from holdfast.surfaces.cli.looks import Finding

_INSTALL = "install the package bubblewrap"


def check_sandbox(
    wanted: Confinement | None = None, found: SandboxSurvey | None = None
) -> Iterator[Finding]:
    """Which confinement commands get here; ``wanted``: the one that the configuration names."""
    if wanted == "unconfined":
        step = "remove sandbox.confinement from your configuration"
        yield Finding("WARN", "sandbox", "commands run unconfined: the configuration says so", step)
        return
    if platform.system() != "Linux" and found is None:
        return
    seen = anyio.run(survey) if found is None else found
    chosen = seen.named(wanted)
    if wanted is not None and (chosen is None or chosen.missing is not None):
        why = "" if chosen is None else f": {chosen.missing}"
        step = "remove sandbox.confinement, or name another kind"
        yield Finding("FAIL", "sandbox", f"{wanted}, which is configured, is not here{why}", step)
        return
    if chosen is None:
        reasons = "; ".join(f"{tier.name}: {tier.missing}" for tier in seen.tiers)
        step = f"{_INSTALL}, or use a kernel with Landlock"
        yield Finding("FAIL", "sandbox", f"no command can be confined ({reasons})", step)
        return
    yield Finding("OK", "sandbox", f"{chosen.name}: {_what_it_gives(chosen)}")
    for tier in seen.tiers[: seen.tiers.index(chosen)] if wanted is None else ():
        # Of two kinds that give the same, one is enough.
        step = "" if chosen.separate else _INSTALL
        yield Finding("WARN" if step else "OK", f"sandbox {tier.name}", f"{tier.missing}", step)
    yield _landlock(seen)
    yield _limits(seen)


def _what_it_gives(tier: SurveyedTier) -> str:
    if tier.separate:
        return "own files, processes, network and shared memory; hosts by name through a proxy"
    return (
        "files, network and signals are confined; no hosts for commands, modes and times of files"
        " outside can be changed, /dev/shm is shared, commands that may write are asked about"
    )


def _landlock(seen: SandboxSurvey) -> Finding:
    if not seen.landlock:
        return Finding("WARN", "landlock", "not in this kernel", "use Linux 5.13 or newer with it")
    scoped = "signals stay inside" if seen.scoped else "signals are kept inside by other means"
    return Finding("OK", "landlock", f"version {seen.landlock}; {scoped}")


def _limits(seen: SandboxSurvey) -> Finding:
    held = [name for name in ("processes", "memory") if name in seen.shared_limits]
    if held:
        rest = {"processes": "; processes per user", "memory": "; memory per process"}
        beside = "".join(text for name, text in rest.items() if name not in held)
        as_a_whole = f"{' and '.join(held)} of a sandbox as a whole{beside}"
        return Finding("OK", "sandbox limits", as_a_whole)
    return Finding(
        "WARN",
        "sandbox limits",
        "no control group can be made: memory is limited per process, processes per user",
        "run under systemd with delegation (systemd-run --user --scope -p Delegate=yes)",
    )
