"""A text as a person pastes it into a rule file. Text only."""

import json
import re

# Compiled when a text is first written: classes this large take milliseconds.
_NOT_LITERAL = r"[^\t\x20-\x26\x28-\x7e\u00a0-\ud7ff\ue000-\U0010ffff]"
_NO_CHARACTER = "[\ud800-\udfff]"


def toml_string(text: str) -> str:
    """The TOML string that stands for this text, which has to be text."""
    if not re.search(_NOT_LITERAL, text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def pattern_string(pattern: str) -> str:
    """The same for a pattern; what is no character is any one character."""
    return toml_string(re.sub(_NO_CHARACTER, "?", pattern))
