"""A reply that is known already, told as if it came: for models that do not think."""

from holdfast.contract.model import CallDelta, Heard, ModelReply, ReasoningDelta, TextDelta


def tell(reply: ModelReply, heard: Heard | None) -> None:
    """Tell every part of it, each in one piece."""
    if heard is None:
        return
    if reply.reasoning:
        heard(ReasoningDelta(reply.reasoning))
    if reply.text:
        heard(TextDelta(reply.text))
    for index, call in enumerate(reply.calls):
        told = CallDelta(index=index, id=call.id, name=call.name, arguments=call.arguments)
        heard(told)
