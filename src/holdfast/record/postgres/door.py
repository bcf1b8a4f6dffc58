"""The door to PostgreSQL: what is behind it is loaded when it is opened, as its client is an extra.

Whoever composes imports this module alone.
"""

from importlib import import_module
from types import ModuleType

from holdfast.contract.journal import JournalUnavailable


def load(module: str) -> ModuleType:
    """A module of this package; JournalUnavailable where the client is not installed."""
    try:
        return import_module(f"holdfast.record.postgres.{module}")
    except ImportError as problem:
        raise JournalUnavailable(
            f"stores in PostgreSQL need a package more ({problem});"
            " install it with: pip install 'holdfast[postgres]'"
        ) from None
