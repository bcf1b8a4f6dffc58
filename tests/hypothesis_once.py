"""The tables of Unicode that hypothesis makes once for a folder, before tests need them.

Otherwise several workers would all make them at the same time, measured, and inside of the time of
whichever test comes first.

    python tests/hypothesis_once.py
"""

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(database=None, max_examples=1)
@given(st.text())
def look_once(_text: str) -> None:
    """All that is wanted is that it draws one."""


if __name__ == "__main__":
    look_once()
