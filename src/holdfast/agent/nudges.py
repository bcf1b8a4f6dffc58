"""What a model is told when it goes round in circles. Words only: when is for `task_state`."""

from holdfast.agent.classify import ResultClass
from holdfast.agent.one_line import one_line

_MOST_OF_A_NAME = 120

OFFERED_TOOLS = (
    "The last calls named tools that do not exist. Look at the list of tools you are offered, and"
    " use one of them by exactly its name."
)


def repeated(name: str, times: int) -> str:
    """For a call that is made again and again, unchanged."""
    return (
        f"You have called {one_line(name, _MOST_OF_A_NAME)} {times} times in a row with the same"
        " arguments. The same call again will not help: change the arguments, try another way, or"
        " say what stops you."
    )


def planning(name: str, times: int) -> str:
    """For plans that are followed by plans."""
    return (
        f"You have called {one_line(name, _MOST_OF_A_NAME)} {times} times in a row. The plan is"
        " good enough: do its next step now."
    )


def wandering(result_class: ResultClass, path: str | None, searching: str | None) -> str:
    """For listings without a file read in between."""
    where = _where(path)
    if result_class == "empty_listing":
        return (
            f"The last listing{where} is empty: nothing is there to choose from. Do not list it"
            " again; look elsewhere, or make what is missing."
        )
    if result_class == "partial_listing":
        return (
            f"The last listing{where} is partial: it was truncated. Search by name"
            f"{_with(searching)} for what you need, and do not conclude that something is absent."
        )
    return (
        f"You have listed directories several times in a row. Choose a path from result.entries of"
        f" the last listing{where} and read it, or descend into it, as it stands there."
    )


def missed(last: ResultClass | None, path: str | None, searching: str | None) -> str:
    """For a path that is not there; ``last``: what the most recent listing was."""
    where = _where(path)
    if last == "partial_listing":
        return (
            f"The path was not found, and the last listing{where} was truncated. Search by name"
            f"{_with(searching)} instead of guessing."
        )
    if last == "populated_listing":
        return (
            "The path was not found. Choose one from result.entries of the most recent listing"
            f"{where}, or list the parent directory of what you look for."
        )
    return "The path was not found. List its parent directory to see what is there."


def failed_again(times: int) -> str:
    """For a failure that cannot but come again."""
    return (
        f"This exact call has now failed {times} times in the same way, and will fail again until"
        " something is changed."
    )


def _with(searching: str | None) -> str:
    return f" with {one_line(searching, _MOST_OF_A_NAME)}" if searching else ""


def _where(path: str | None) -> str:
    return f" of {one_line(path, _MOST_OF_A_NAME)}" if path and path.strip() else ""
