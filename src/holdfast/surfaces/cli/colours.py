"""Whether somebody wants no colours, wherever they could be shown."""

from collections.abc import Mapping


def unwanted(environment: Mapping[str, str]) -> str | None:
    """What says that colours are not wanted; None: nothing does."""
    if environment.get("NO_COLOR"):
        return "NO_COLOR is set"
    if environment.get("CLICOLOR") == "0":
        return "CLICOLOR is 0"
    return None
