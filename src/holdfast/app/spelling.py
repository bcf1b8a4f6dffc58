"""What somebody probably meant: the nearest known name, for messages a person reads."""

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like the word; None when none is."""
    by_folded = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[found[0]] if found else None


def advice(word: str, known: Iterable[str]) -> str:
    """Say which name was meant, or which ones there are."""
    names = sorted(known)
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(names)}" if names else "none is known"
