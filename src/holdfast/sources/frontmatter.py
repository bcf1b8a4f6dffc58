"""What stands between two lines of dashes at the top of a Markdown file: the part of YAML it needs.

Keys at the beginning of a line with a text: plain, quoted, or a block of indented lines. Values of
any other kind are passed over, as nobody asks for them. It reads text and knows no files. A text is
a stranger's: the work grows as its length does, and what stands between the dashes is bounded.
"""

from collections.abc import Iterator

import msgspec

from holdfast.contract.late_pattern import late_pattern

LONGEST_FRONTMATTER = 16 * 1024
"""In characters, its lines of dashes not counted."""
_FENCE = "---"
_KEY = late_pattern(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_BLOCK = late_pattern(r"([|>])[+-]?[0-9]?[+-]?(?:[ \t]+#.*)?$")
_COMMENT = late_pattern(r"(?<=[ \t])#.*")
_NO_TEXT = ("[", "{", "&", "*", "!", "%", "@", "`")
"""What a value begins with that is no text."""
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


class Malformed(ValueError):
    """It is no frontmatter, or none of this kind."""


class Fronted(msgspec.Struct, frozen=True):
    """A file taken apart."""

    fields: dict[str, str]
    body: str


def parted(text: str, longest: int = LONGEST_FRONTMATTER) -> Fronted:
    """The fields and the text below them; Malformed says what is wrong."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        raise Malformed("it does not begin with a line of three dashes")
    size = 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            return Fronted(
                dict(_fields(lines[1:number])), "\n".join(lines[number + 1 :]).strip("\n")
            )
        size += len(line) + 1
        if size > longest:
            raise Malformed(
                f"its frontmatter has more than {longest:,} characters, or no end, a second line of"
                " three dashes"
            )
    raise Malformed("its frontmatter has no end, a second line of three dashes")


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    at = 0
    seen: set[str] = set()
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _KEY.match(line)
        if found is None:
            raise Malformed(f"line {at + 1} is no `key: value`")
        key, value = found[1], (found[2] or "").strip()
        if key in seen:
            raise Malformed(f"line {at + 1}: {key} stands there twice")
        seen.add(key)
        end = _end_of_below(lines, at)
        text = _text(value, lines[at:end], f"line {at + 1}")
        at = end
        if text is not None:
            yield key, text


def _end_of_below(lines: list[str], at: int) -> int:
    """Where the lines end that belong to the key above: indented, empty, or items of its list."""
    while at < len(lines):
        line = lines[at]
        if line.strip() and not line.startswith((" ", "\t", "- ", "#")):
            break
        at += 1
    return at


def _text(value: str, below: list[str], where: str) -> str | None:
    """A value's text; None: it is no text, and nobody asks for it."""
    block = _BLOCK.match(value)
    if block is not None:
        return _joined(below, "\n" if block[1] == "|" else " ")
    if value.startswith(("'", '"')):
        return _quoted(" ".join([value, *(line.strip() for line in below if line.strip())]), where)
    if value.startswith(_NO_TEXT) or (not value and below):
        return None
    plain = [_COMMENT.sub("", line).strip() for line in (value, *below)]
    return " ".join(line for line in plain if line and not line.startswith("#"))


def _joined(below: list[str], mark: str) -> str:
    return mark.join(line.strip() for line in below).strip()


def _quoted(value: str, where: str) -> str:
    mark, rest = value[0], value[1:]
    out: list[str] = []
    at = 0
    while at < len(rest):
        sign = rest[at]
        if mark == "'" and rest.startswith("''", at):
            out.append("'")
            at += 2
        elif mark == '"' and sign == "\\":
            escaped = rest[at + 1 : at + 2]
            if escaped not in _ESCAPES:
                raise Malformed(f"{where}: \\{escaped} is not known here; write the sign itself")
            out.append(_ESCAPES[escaped])
            at += 2
        elif sign == mark:
            after = rest[at + 1 :].strip()
            if after and not after.startswith("#"):
                raise Malformed(f"{where}: something stands behind the closing quote")
            return "".join(out)
        else:
            out.append(sign)
            at += 1
    raise Malformed(f"{where}: a quote is not closed")
