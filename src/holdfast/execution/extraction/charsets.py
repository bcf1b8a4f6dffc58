"""The bytes of a text from the web as text, whatever it says it is encoded in.

Pure. Only encodings of texts are known here: a codec that unpacks or interprets is none of them.
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The marks of UTF-32 begin like those of UTF-16, so they come first."""

_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "big5hkscs", "euc_jp": "euc_jp", "iso2022_jp": "iso2022_jp",
}  # fmt: skip
"""What is meant by a name on the web, where that is more than the name says."""

_SINGLE_BYTE = frozenset(
    {
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *(f"cp{page}" for page in range(1250, 1259)),
        *("cp866", "cp874", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic"),
    }
)
_SEVERAL_BYTES = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
        *("gb18030", "cp932", "cp949", "big5hkscs", "euc_jp", "iso2022_jp"),
    }
)
KNOWN = _SINGLE_BYTE | _SEVERAL_BYTES

_USUAL = "cp1252"
_WITHIN = 4096
_DECLARED = re.compile(
    rb"<(?:meta\b[^>]{0,500}?\bcharset|\?xml\b[^>]{0,200}?\bencoding)"
    rb"\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})",
    re.IGNORECASE,
)


def decoded(content: bytes, declared: str | None, *, marked_up: bool = False) -> str:
    """The text: as its mark says, as its sender says, as it says itself, or as it looks."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    named = _known(declared) or (_known(_said_inside(content)) if marked_up else None)
    if named is None or named in _SINGLE_BYTE:
        # Any bytes are a text of a single-byte encoding, and hardly any by chance one of UTF-8.
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            return content.decode(named or _USUAL, "replace")
    try:
        return content.decode(named)
    except UnicodeDecodeError:
        return _best(content, named)


def _best(content: bytes, named: str) -> str:
    """It is not what it says: UTF-8 if it is that, or what it says with gaps."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        gaps = content.decode(named, "replace")
    other = content.decode(_USUAL, "replace")
    return other if gaps.count("\ufffd") > other.count("\ufffd") + len(other) // 50 else gaps


def _said_inside(content: bytes) -> str | None:
    found = _DECLARED.search(content[:_WITHIN])
    if found is None:
        return None
    name = found[1].decode("ascii")
    # Whoever could read this did not read UTF-16.
    return "utf-8" if name.lower().startswith("utf-16") else name


def _known(name: str | None) -> str | None:
    """The codec of a name, if it is one of a text; `codecs` would import whatever is named."""
    if not name or len(name) > 40 or not name.isascii():
        return None
    try:
        found = codecs.lookup(name.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    found = _WIDER.get(found, found)
    return found if found in KNOWN else None
