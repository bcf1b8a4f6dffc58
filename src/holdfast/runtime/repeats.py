"""Notices a refused call that comes again unchanged. It advises; it never blocks."""

import hashlib
from collections import OrderedDict

import msgspec

from holdfast.contract.call import Rejected, ToolCall
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import encode_json
from holdfast.preflight.plan import Plan

_REMEMBERED = 512


class RefusedCalls:
    """Counts identical refused calls, the most recent few hundred."""

    def __init__(self) -> None:
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    def advise(self, rejected: Rejected, plan: Plan | None) -> Failure:
        """The failure as it is, or, for a call refused before, with a filled example."""
        failure = rejected.failure
        times = self._count(rejected.call)
        if times == 1:
            return failure
        said = failure.message if failure.message.endswith((".", "?")) else f"{failure.message}."
        hint = f" This exact call was refused {times} times; unchanged it will be refused again."
        extras = dict(failure.extras)
        example = plan.example(rejected.sent) if plan is not None else None
        if example is not None:
            extras["example"] = example
            hint += f" A call that would be accepted: {encode_json(example).decode()}"
        return msgspec.structs.replace(failure, message=said + hint, extras=extras)

    def _count(self, call: ToolCall) -> int:
        key = _fingerprint(call)
        times = self._counts.pop(key, 0) + 1
        self._counts[key] = times
        if len(self._counts) > _REMEMBERED:
            self._counts.popitem(last=False)
        return times


def _fingerprint(call: ToolCall) -> bytes:
    arguments = call.arguments
    if isinstance(arguments, str):
        written = arguments.encode("utf-8", "replace")
    elif isinstance(arguments, bytes):
        written = arguments
    else:
        written = encode_json(arguments)
    whole = b"\0".join((call.session_id.encode(), call.tool.encode("utf-8", "replace"), written))
    return hashlib.blake2b(whole, digest_size=16).digest()
