"""Secrets that are hard to find, and all the text that a value holds."""

from holdfast.contract.json_value import JsonValue

AWKWARD = {
    "plain": "hunter2-hunter2",
    "quotes": 'pa"ss"word',
    "backslashes": r"C:\new\table",
    "newlines": "-----KEY\nabc\ndef\t-----",
    "accents": "pässwörd-ñ",
    "emoji": "🔑🔑🔑🔑🔑🔑",
    "controls": "a\x00b\x1fc\x7fd",
    "everything": 'é"\\\n\u2028🔑/x',
    "digits": "4929123412341234",
}


def strings_in(value: JsonValue) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in strings_in(item)]
        case dict():
            return [*value, *(text for item in value.values() for text in strings_in(item))]
        case _:
            return [str(value)]
