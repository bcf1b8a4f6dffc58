"""What a person is shown who decides over a call: the question, and the files it is about.

Known secrets stand in none of it. The call itself stays what it is; what is answered is not known
here.
"""

import msgspec

from holdfast.app.changes import Before
from holdfast.contract.call import Ask
from holdfast.contract.json_value import decode_json, encode_json
from holdfast.contract.rules import Use
from holdfast.envelope.redact import Redactor


def without_secrets(ask: Ask, redactor: Redactor) -> Ask:
    """The question as it may be shown."""
    if not redactor.active:
        return ask
    told = decode_json(redactor.json(encode_json(ask.prepared.arguments)))
    arguments = told if isinstance(told, dict) else {}
    return msgspec.structs.replace(
        ask,
        prepared=msgspec.structs.replace(ask.prepared, checked=arguments, values=arguments),
        reason=redactor.text(ask.reason),
        uses=tuple(_use(one, redactor) for one in ask.uses),
        wider=tuple(redactor.text(one) for one in ask.wider),
    )


def looking_without_secrets(before: Before, redactor: Redactor) -> Before:
    """Looks at files as it does, and takes known secrets out of what it finds."""

    def clean(path: str) -> str | None:
        text = before(path)
        return redactor.text(text) if text is not None and redactor.active else text

    return clean


def _use(use: Use, redactor: Redactor) -> Use:
    return msgspec.structs.replace(
        use,
        target=redactor.text(use.target),
        spellings=tuple(redactor.text(one) for one in use.spellings),
        within=None if use.within is None else redactor.text(use.within),
        doubt=None if use.doubt is None else redactor.text(use.doubt),
    )
