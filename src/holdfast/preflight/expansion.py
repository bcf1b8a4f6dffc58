"""How many checks a schema stands for once its references are followed.

A few dozen definitions that each name the next one twice stand for billions of checks. Counting is
cheap however much it is: each definition is counted once, and nothing here recurses.
"""

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.preflight.schema import SchemaProblem, pointed

_DEFINITIONS = frozenset({"$defs", "definitions"})


def refuse_expansion_beyond(root: JsonObject, limit: int) -> None:
    """Refuse a schema whose references multiply into more checks than can be afforded."""
    if expansion_of(root) > limit:
        raise SchemaProblem(f"its references stand for more than {limit:,} checks of one value")


def expansion_of(root: JsonObject) -> int:
    """Count the checks. A recursive reference counts once: the arguments' depth bounds it."""
    nodes, references = _counted(root)
    sizes: dict[str, int] = {}
    begun: set[str] = set()
    waiting = list(references)
    while waiting:
        reference = waiting[-1]
        below, further = _counted(pointed(root, reference))
        unknown = [name for name in further if name not in sizes and name not in begun]
        if reference not in sizes and unknown:
            begun.add(reference)
            waiting.extend(set(unknown))
            continue
        sizes.setdefault(reference, below + sum(sizes.get(name, 1) for name in further))
        waiting.pop()
    return nodes + sum(sizes[name] for name in references)


def _counted(node: JsonValue) -> tuple[int, list[str]]:
    """The schemas written out in this one, and every reference they make."""
    nodes, references = 0, list[str]()
    stack: list[JsonValue] = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, list):
            stack.extend(here)
        elif isinstance(here, dict):
            nodes += 1
            reference = here.get("$ref")
            if isinstance(reference, str):
                references.append(reference)
            stack.extend(value for key, value in here.items() if key not in _DEFINITIONS)
    return nodes, references
