"""Whether a layer holds all of what a tool declares: pattern against pattern, no when in doubt.

For calls whose arguments name nothing: they may reach whatever the tool declares.
"""

from holdfast.contract.gates import Access
from holdfast.contract.rules import Use
from holdfast.contract.variables import expand
from holdfast.policy.globs import escaped
from holdfast.policy.host_patterns import HostPatterns
from holdfast.policy.paths import PathPatterns, literal_root
from holdfast.policy.scope import EffectiveScope, Scope
from holdfast.policy.shell.admission import ANY_PROGRAM

_EVERYTHING_BELOW = "/**"


def holds(layer: Scope, use: Use) -> bool:
    """Whether everything the declared pattern stands for is within the layer."""
    match use.capability:
        case "fs.read":
            return _holds_paths(layer, "read", use.target)
        case "fs.write":
            return _holds_paths(layer, "write", use.target)
        case "net.fetch":
            # A variable stands for directories: such a host is none, and nothing of it is reached.
            return all(map(layer.hosts.covers, HostPatterns(expand(use.target, {})).atoms))
        case "shell.run":
            commands = [entry for entry in layer.requirements.shell if entry.args is None]
            return any(entry.cmd in {ANY_PROGRAM, use.target} for entry in commands)
        case name:
            return layer.declares(name or "")


def reads_all_below(scope: EffectiveScope, directory: str) -> bool:
    """Whether everything below a physical directory may be read; no when in doubt."""
    everything = escaped(directory) + _EVERYTHING_BELOW
    return all(_holds_paths(layer, "read", everything) for layer in scope.layers)


def _holds_paths(layer: Scope, access: Access, pattern: str) -> bool:
    allowed = layer.paths(access).canonical
    asked = PathPatterns([pattern], layer.places).canonical
    return all(any(_includes(wide, narrow) for wide in allowed) for narrow in asked)


def _includes(wide: str, narrow: str) -> bool:
    if wide == narrow:
        return True
    below = wide.removesuffix(_EVERYTHING_BELOW) + "/"
    plain = wide.endswith(_EVERYTHING_BELOW) and literal_root(wide) + "/" == below
    return plain and f"{literal_root(narrow)}/".startswith(below)
