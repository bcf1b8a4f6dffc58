"""The states of calls in words for people. Programs get them as they are stored."""

_WORDS = {
    "input-streaming": "being written",
    "input-available": "unfinished",
    "approval-requested": "waiting for approval",
    "approval-responded": "unfinished",
    "output-available": "done",
    "output-error": "failed",
    "output-denied": "refused",
}


def state_shown(state: str | None) -> str:
    """How far a call came; a state that nobody foresaw is shown as it is."""
    return _WORDS.get(state or "", state or "unfinished")


def has_ended(state: str | None) -> bool:
    """Whether it was answered."""
    return (state or "").startswith("output-")
