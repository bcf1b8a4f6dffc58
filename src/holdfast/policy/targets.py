"""What the target of a rule is by its permission, and which patterns can fit none of them."""

from holdfast.contract.rules import TargetKind
from holdfast.policy.host_patterns import HostPatternProblem, HostPatterns

KINDS: dict[str, TargetKind] = {
    **dict.fromkeys(("read", "write", "edit", "glob", "grep", "fs.read", "fs.write"), "path"),
    **dict.fromkeys(("bash", "shell.run"), "command"),
    **dict.fromkeys(("web_fetch", "web_search", "net.fetch"), "host"),
    **dict.fromkeys(("task", "skill", "todo", "question", "tool_search"), "name"),
}


def never_fits(permission: str, pattern: str) -> str | None:
    """Why a pattern fits no call, whatever its author thinks: such a deny would protect nothing."""
    kind = KINDS.get(permission)
    if kind == "path" and pattern.startswith("~"):
        return f"the pattern {pattern!r}: ~ is an ordinary name here; write the path in full"
    if kind == "path" and ".." in pattern.split("/"):
        return f"the pattern {pattern!r} climbs out with '..'; write the path in full"
    if kind == "host" and pattern:
        try:
            HostPatterns([pattern])
        except HostPatternProblem as problem:
            return f"the {problem}; write for example *.example.com or api.example.com:443"
    return None
