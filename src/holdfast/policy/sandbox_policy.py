"""From what an agent may do to what its processes are confined to.

A kernel knows directories, not patterns: each pattern is rounded out to the directory in front of
its first wildcard, so a process may see more than a file tool may, never less. Layers are
intersected, of two nested directories the deeper one stays, and nothing depends on any order.
"""

from collections.abc import Iterable, Sequence
from functools import reduce

from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import KEPT_FROM_COMMANDS, SandboxLimits, SandboxPolicy
from holdfast.policy.host_patterns import common_hosts
from holdfast.policy.paths import PathPatterns, literal_root
from holdfast.policy.scope import EffectiveScope, Scope

_NO_LIMITS = SandboxLimits()


def sandbox_policy(scope: EffectiveScope, limits: SandboxLimits = _NO_LIMITS) -> SandboxPolicy:
    """Compile what all layers have in common."""
    layers = scope.layers
    kept = _kept(layers)
    writable = [
        root
        for root in _common([layer.write for layer in layers])
        if not any(is_within(root, path) for path in kept)
    ]
    hosts = common_hosts(layer.hosts for layer in layers)
    return SandboxPolicy(
        readable=_common([layer.read for layer in layers]),
        writable=tuple(writable),
        protected=outermost(
            path for path in kept if any(is_within(path, root) for root in writable)
        ),
        network="hosts" if hosts else "none",
        hosts=hosts,
        limits=limits,
    )


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that lie below no other of them."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not any(is_within(path, above) for above in kept):
            kept.append(path)
    return tuple(sorted(kept))


def _common(layers: Sequence[PathPatterns]) -> tuple[str, ...]:
    return reduce(_intersection, (outermost(_roots(layer)) for layer in layers))


def _roots(patterns: PathPatterns) -> set[str]:
    return {literal_root(pattern) for pattern in patterns.canonical}


def _intersection(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    deeper = {path for path in one if any(is_within(path, root) for root in other)}
    return outermost(deeper | {path for path in other if any(is_within(path, r) for r in one)})


def _kept(layers: Sequence[Scope]) -> set[str]:
    """Every protected place there could be, but for those that all layers name in full."""
    roots = {root for layer in layers for root in _roots(layer.write)}
    roots |= {place.physical for layer in layers for place in layer.places.each()}
    everywhere = {f"{root.rstrip('/')}/{name}" for root in roots for name in KEPT_FROM_COMMANDS}
    return {path for path in everywhere if not all(layer.write.names(path) for layer in layers)}
