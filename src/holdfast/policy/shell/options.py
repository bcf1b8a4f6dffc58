"""Reads the options of a wrapper up to the command it runs. Knows the table's form, not a row."""

from collections.abc import Sequence

import msgspec

from holdfast.policy.shell.values import Word, shown
from holdfast.policy.shell.wrappers import Wrapper


class Scan(msgspec.Struct):
    """The words behind the options, shell texts among the options, and what was not understood."""

    rest: list[Word] = []
    texts: list[Word] = []
    doubts: list[str] = []
    asks: bool = False


def scan(words: Sequence[Word], wrapper: Wrapper) -> Scan:
    """Sort the words behind the name of a wrapper."""
    reading = _Reading(words, wrapper)
    reading.read()
    return reading.scan


class _Reading:
    def __init__(self, words: Sequence[Word], wrapper: Wrapper) -> None:
        self.name = words[0].literal
        self.words = words
        self.anywhere = wrapper.options_anywhere
        self.kinds = {
            option: kind
            for kind, options in (
                ("plain", wrapper.plain),
                ("valued", wrapper.valued),
                ("text", wrapper.text),
                ("asks", wrapper.asks),
            )
            for option in options.split()
        }
        self.risky = frozenset(wrapper.risky.split())
        self.position = 1
        self.scan = Scan()

    def read(self) -> None:
        while self.position < len(self.words):
            word = self.words[self.position]
            self.position += 1
            if word.literal == "--":
                break
            if word.doubt is None and self._is_option(word.literal):
                self._option(word.literal)
            elif self.anywhere:
                self.scan.rest.append(word)
            else:
                self.position -= 1
                break
        self.scan.rest += self.words[self.position :]

    def _is_option(self, text: str) -> bool:
        return text.startswith("-") and (text != "-" or "-" in self.kinds)

    def _option(self, text: str) -> None:
        name, equals, value = text.partition("=")
        if text in self.kinds or name.startswith("--"):
            self._take(name, value if equals else None)
            return
        for index, letter in enumerate(text[1:], 2):
            attached = text[index:] or None
            if not self._take(f"-{letter}", attached):
                break

    def _take(self, option: str, value: str | None) -> bool:
        """Account for one option; whether more letters may follow in the same word."""
        kind = self.kinds.get(option)
        if kind is None or option in self.risky:
            self.scan.doubts.append(f"{shown(f'{self.name} {option}')} is not followed here")
        match kind:
            case "plain":
                return True
            case "asks":
                self.scan.asks = True
                return True
            case "valued":
                self._value(value)
            case "text":
                self.scan.texts.append(self._value(value))
            case _:
                pass
        return False

    def _value(self, attached: str | None) -> Word:
        if attached is not None:
            return Word(attached, attached)
        self.position += 1
        taken = self.words[self.position - 1 : self.position]
        return taken[0] if taken else Word("", "", f"{shown(self.name)} misses a value")
