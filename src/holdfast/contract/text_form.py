"""The text form of a result: for a tool whose answer is essentially one string to read."""

import msgspec


class TextForm(msgspec.Struct, frozen=True):
    """One text, and nothing beside it."""

    text: str
