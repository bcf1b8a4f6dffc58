"""One word of bash, read by bash's own quoting rules.

This is deliberately independent of the grammar: a slice the grammar calls a word must also be a
word here, or there is a doubt. It knows nothing of commands.
"""

import re

from holdfast.policy.shell.values import Shape, Word, shown

RESERVED = frozenset(
    [
        "!",
        "[[",
        "]]",
        "{",
        "}",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "time",
        "until",
        "while",
    ]
)
"""Words that are no program when they stand first and unquoted."""

_PLAIN = re.compile(r"[A-Za-z0-9_./:,@%+^=-]+")
_OPENS_EXPANSION = r"[A-Za-z0-9_{(\[@*#?$!-]"
_TOKEN = re.compile(
    rf"""
    (?P<plain>[A-Za-z0-9_./:,@%+^=!\]\u0080-\U0010ffff-]+)
  | (?P<single>'[^']*')
  | (?P<ansi>\$'(?:[^'\\]|\\.)*')
  | (?P<document>"\$\(cat[ ]<<'(?P<mark>[A-Za-z_][A-Za-z0-9_]*)'\n
        (?P<body>(?:(?!(?P=mark)\n)[^\n]*\n)*)(?P=mark)\n[ \t]*\)")
  | (?P<double>"(?:[^"\\$`]|\\.|\$[?\#$]|\$(?!{_OPENS_EXPANSION}))*")
  | (?P<escape>\\[^\n])
  | (?P<hash>\#)
  | (?P<tilde>~)
  | (?P<glob>[*?\[])
  | (?P<brace>[{{}}])
  | (?P<number>\$[?\#$])
  | (?P<dollar>\$(?!{_OPENS_EXPANSION}|["']))
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER_INSIDE = re.compile(r"\\.|(\$[?#$])", re.DOTALL)
_ITEM = r"[A-Za-z0-9_./:@%+^=-]*"
_BRACES = re.compile(rf"({_ITEM})\{{({_ITEM}(?:,{_ITEM})+)\}}({_ITEM})")
_DOUBLE_ESCAPE = re.compile(r'\\([$`"\\\n])')
_ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def read_word(source: str) -> Word:
    """Remove the quotes of one word, or say why its value is not known before it runs."""
    if _PLAIN.fullmatch(source):
        return Word(source, source)
    return _Reading(source).word()


def written_out(source: str) -> list[Word] | None:
    """The words that one pair of braces stands for, where all of them are plain."""
    found = _BRACES.fullmatch(source)
    if found is None:
        return None
    before, items, after = found.groups()
    whole = [f"{before}{item}{after}" for item in items.split(",")]
    # bash leaves out a word of which nothing is left.
    return [Word(word, word) for word in whole if word]


class _Reading:
    """The state of reading one word that is more than plain characters.

    ``doubt`` ends the reading. ``vague`` goes with a shape and does not: what follows may still be
    a doubt without one.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.literal = ""
        self.doubt: str | None = None
        self.expands = False
        self.open_brace = False
        self.vague: str | None = None
        self.shape: Shape | None = None

    def word(self) -> Word:
        position = 0
        while position < len(self.source) and self.doubt is None:
            token = _TOKEN.match(self.source, position)
            if token is None:
                self.doubt = _unread(self.source, position)
                break
            if token.lastgroup == "document":
                self._take_document(token["body"])
            else:
                self._take(str(token.lastgroup), token[0], position)
            position = token.end()
        if self.doubt is not None:
            shape = "braces" if written_out(self.source) is not None else None
            return Word(self.source, self.source, self.doubt, shape=shape)
        return Word(self.source, self.literal, self.vague, self.expands, self.shape)

    def _takes_shape(self, shape: Shape, why: str) -> None:
        if self.shape not in {None, shape}:
            self.doubt = f"{shown(self.source)} is only known when it runs"
        self.shape = shape
        self.vague = f"{shown(self.source)} {why}"

    def _take_document(self, body: str) -> None:
        """A quoted here-document that nothing but `cat` passes on: its lines, without the last."""
        self._takes_shape("document", "is only known when it runs")
        self.literal += body.rstrip("\n")

    def _take_number(self) -> None:
        self._takes_shape("number", "is only known when it runs")
        self.expands = True

    def _take(self, kind: str, token: str, position: int) -> None:
        match kind:
            case "single":
                self.literal += token[1:-1]
            case "double":
                if any(found[1] for found in _NUMBER_INSIDE.finditer(token)):
                    self._take_number()
                self.literal += _DOUBLE_ESCAPE.sub(_unescaped, token[1:-1])
            case "ansi":
                self._take_ansi(token[2:-1])
            case "escape":
                self.literal += token[1]
            case _:
                self._take_unquoted(kind, token, position)

    def _take_unquoted(self, kind: str, token: str, position: int) -> None:
        match kind:
            case "glob" if token != "[" or "]" in self.source[position:]:
                self._take_glob()
            case "number":
                self._take_number()
            case "tilde" if not self.literal or self.literal[-1] in "=:":
                self.expands = True
            case "hash" if position == 0:
                self.doubt = f"{shown(self.source)} starts a comment"
            case "brace" if token == "{":
                self.open_brace = True
            case "plain" if self.open_brace and ("," in token or ".." in token):
                self.doubt = f"{shown(self.source)} stands for several words"
            case _:
                pass
        self.literal += token

    def _take_glob(self) -> None:
        self.expands = True
        if "/" not in self.literal:
            self._takes_shape("names", f"stands for file names{_instead(self.source)}")

    def _take_ansi(self, body: str) -> None:
        decoded = _ansi_decoded(body)
        if decoded is None:
            self.doubt = f"{shown(self.source)} holds an escape that is not followed"
        else:
            self.literal += decoded


def _instead(source: str) -> str:
    """What to write in the place of a pattern that may become an option."""
    if not source.startswith("-"):
        return f", one of which could be an option; write {shown('./' + source)}"
    if "'" in source:
        return ", and is an option itself; quote what stands for itself"
    return f", and is an option itself; write {shown(chr(39) + source + chr(39))}"


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _ansi_decoded(body: str) -> str | None:
    pieces: list[str] = []
    position = 0
    for found in _ANSI_ESCAPE.finditer(body):
        char = _ansi_char(found)
        if char is None:
            return None
        pieces += (body[position : found.start()], char)
        position = found.end()
    return "".join((*pieces, body[position:]))


def _ansi_char(found: re.Match[str]) -> str | None:
    short, four, eight, octal, letter = found.groups()
    if letter is not None:
        return _ANSI_LETTERS.get(letter)
    code = int(octal, 8) if octal else int(short or four or eight, 16)
    # Beyond ASCII the bytes depend on the locale, and NUL ends the word early.
    return chr(code) if 0 < code < 128 else None


def _unread(source: str, position: int) -> str:
    rest = source[position:]
    if "`" in rest:
        return f"backticks in {shown(source)} run a command"
    if "$" in rest or rest.startswith(("<(", ">(")):
        return f"{shown(source)} is only known when it runs"
    return f"{shown(source)} cannot be read as one word"
