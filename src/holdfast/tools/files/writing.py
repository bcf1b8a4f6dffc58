"""What every tool that writes text files has in common: one bound, and one key by path."""

from collections.abc import Mapping

from holdfast.contract.errors import InvalidArguments


def path_key(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Two changes of one path never overlap."""
    return ("file", str(arguments["path"]))


def utf8_size(text: str) -> int:
    """Bytes as UTF-8; what cannot be encoded is refused where it is written."""
    return len(text.encode("utf-8", "surrogatepass"))


def refuse_too_large(size: int, bound: int, what: str, *, field: str) -> None:
    """InvalidArguments where a text is above the bound."""
    if size > bound:
        raise InvalidArguments(
            f"{what} has {size:,} bytes; at most {bound:,} are taken, so that every file that is"
            " written can be edited, too. Split it into several files.",
            field=field,
            expected=f"at most {bound:,} bytes of UTF-8",
            extras={"reason": "too_large"},
        )
