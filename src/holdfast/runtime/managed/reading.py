"""Reading the stores for a tool: what goes wrong there is said as the tool's failure."""

from collections.abc import Generator
from contextlib import contextmanager

from holdfast.contract.errors import Unavailable
from holdfast.contract.journal import JournalError


@contextmanager
def reading() -> Generator[None]:
    """Unavailable, where the journal says that it cannot."""
    try:
        yield
    except JournalError as problem:
        raise Unavailable(f"The sessions cannot be read: {problem}") from None
