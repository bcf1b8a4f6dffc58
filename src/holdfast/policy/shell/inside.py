"""What one command holds for the shell to run besides itself. A value, filled by its readers."""

from collections.abc import Sequence

import msgspec

from holdfast.policy.shell.values import Word, shown


class Inside(msgspec.Struct):
    """Inner commands, shell texts for ``bash`` or a plainer shell, and what was not followed."""

    commands: list[Sequence[Word]] = []
    texts: list[str] = []
    doubts: list[str] = []
    plain_shell: bool = False
    assigns: bool = False


def program_name(word: Word) -> str:
    """The name a program is known by: no folder, lower case, for file systems that see no case."""
    return word.literal.rpartition("/")[2].lower()


def shell_text(found: Inside, word: Word) -> None:
    """Add a word that is shell text. One that is not literal is a doubt, and still looked at."""
    if word.doubt is None:
        found.texts.append(word.literal)
        return
    found.doubts.append(f"the shell text {shown(word.source)} is not literal")
    if len(word.source) > 1 and word.source[0] == word.source[-1] == '"':
        found.texts.append(word.source[1:-1].replace('\\"', '"'))


def doubted(*doubts: str) -> Inside:
    """Nothing that can be followed, only doubts."""
    return Inside(doubts=list(doubts))
