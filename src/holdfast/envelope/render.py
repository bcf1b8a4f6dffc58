"""The dialects that are text, by name."""

from collections.abc import Callable
from typing import Literal, get_args

from holdfast.contract.envelope import Envelope
from holdfast.envelope.dialects import flow_text, ok, program, typed

TextDialect = Literal["ok", "typed", "program", "flow"]
TEXT_DIALECTS: tuple[TextDialect, ...] = get_args(TextDialect)

_RENDER: dict[TextDialect, Callable[[Envelope], str]] = {
    "ok": ok.render,
    "typed": typed.render,
    "program": program.render,
    "flow": flow_text.render,
}
_PARSE: dict[TextDialect, Callable[[str], Envelope]] = {
    "ok": ok.parse,
    "typed": typed.parse,
    "program": program.parse,
    "flow": flow_text.parse,
}


def render(envelope: Envelope, dialect: TextDialect = "ok") -> str:
    """Write an envelope as text."""
    return ok.render(envelope) if dialect == "ok" else _RENDER[dialect](envelope)


def parse(text: str, dialect: TextDialect = "ok") -> Envelope:
    """Read an envelope from text; ValueError when the text is not one."""
    return _PARSE[dialect](text)
