"""What a tool or a server may reach, in a few words."""

from holdfast.contract.requirements import RequirementSet


def in_words(requires: RequirementSet, otherwise: str = "nothing") -> str:
    """All that is required; ``otherwise``: what to say where that is nothing."""
    parts = [f"read {pattern}" for pattern in requires.fs.read]
    parts += [f"write {pattern}" for pattern in requires.fs.write]
    parts += [f"host {pattern}" for pattern in requires.net.hosts]
    parts += [f"run {command.cmd}" for command in requires.shell]
    return ", ".join((*parts, *requires.capabilities)) or otherwise
