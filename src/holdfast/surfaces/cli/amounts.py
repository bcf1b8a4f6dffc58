"""Times, sizes and numbers of things as people write and read them: `30d`, `2GB`, `1 event`."""

import re

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LETTERS = tuple(enumerate("kmgt", 1))
_BYTES = {
    "": 1,
    "b": 1,
    **{f"{letter}{end}": 1000**power for power, letter in _LETTERS for end in ("", "b")},
    **{f"{letter}ib": 1024**power for power, letter in _LETTERS},
}
_AMOUNT = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?P<unit>[a-z]*)", re.IGNORECASE)


def seconds_in(written: str) -> float:
    """How long that is; ValueError says what to write."""
    return _amount(written, _SECONDS, "a time; write a number and s, m, h, d or w, such as 30d")


def bytes_in(written: str) -> int:
    """How much that is; ValueError says what to write."""
    return int(_amount(written, _BYTES, "a size; write for example 500MB, 2GB or 1.5GiB"))


def size_shown(size: int) -> str:
    """A number of bytes, short."""
    shown = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if shown < 1000:
            return counted(size, "byte") if unit == "bytes" else f"{shown:.1f} {unit}"
        shown /= 1000
    return f"{shown:.1f} TB"


def counted(number: int, what: str, *, zero: str = "0") -> str:
    """So many of something: `1 event`, `1,200 events`."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{f'{number:,}' if number else zero} {what if number == 1 else many}"


def _amount(written: str, units: dict[str, int], wanted: str) -> float:
    found = _AMOUNT.fullmatch(written.strip())
    if found is None or found["unit"].lower() not in units:
        raise ValueError(f"{written!r} is not {wanted}")
    return float(found["number"]) * units[found["unit"].lower()]
