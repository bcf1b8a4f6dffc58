"""The calls of one answer: looked up, put in an order, each taken to the text of its row.

One after the other; together only where every one of them is of a tool that says so, and touches
something else. What a call does is not known here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from anyio import create_task_group, get_cancelled_exc_class

from holdfast.agent.flow.ports import FlowCall, LookedUp, RefusedCall
from holdfast.contract.chunks import AskedCall
from holdfast.contract.flow import FlowToolCall
from holdfast.runtime.flow_calls import read_arguments, unknown, unreadable

Settle = Callable[[LookedUp], Awaitable[str]]
Lane = list[int]
"""Places of calls that run one after the other."""


def looked_up(asked: AskedCall, table: Mapping[str, FlowToolCall]) -> LookedUp:
    """The call with its tool and arguments; unreadable arguments are told before a wrong name."""
    arguments = read_arguments(asked.arguments)
    if arguments is None:
        return RefusedCall(asked, unreadable(asked.name, asked.arguments))
    tool = table.get(asked.name)
    return (
        RefusedCall(asked, unknown(asked.name))
        if tool is None
        else FlowCall(asked, tool, arguments)
    )


async def answers(calls: Sequence[LookedUp], settle: Settle) -> list[str]:
    """The texts of all calls, in the order of the calls."""
    lanes = lanes_of(calls)
    if len(lanes) == 1:
        return [await settle(call) for call in calls]
    texts = [""] * len(calls)
    escaped: list[BaseException] = []

    async def run(lane: Lane) -> None:
        try:
            for place in lane:
                texts[place] = await settle(calls[place])
        except get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised again below; siblings go on
            escaped.append(error)

    async with create_task_group() as group:
        for lane in lanes:
            group.start_soon(run, lane)
    if escaped:
        raise escaped[0]
    return texts


def lanes_of(calls: Sequence[LookedUp]) -> list[Lane]:
    """Which calls wait for which; a single lane is the rule."""
    alone = [list(range(len(calls)))]
    keys: dict[tuple[str, ...], Lane] = {}
    for place, call in enumerate(calls):
        if isinstance(call, RefusedCall):
            keys[("refused", str(place))] = [place]
            continue
        key = _key(call)
        if key is None:
            return alone
        keys.setdefault(("safe", *key), []).append(place)
    return list(keys.values()) if len(keys) > 1 else alone


def _key(call: FlowCall) -> tuple[str, ...] | None:
    """What a call touches; None: it may touch anything."""
    if not call.tool.parallel_safe:
        return None
    try:
        return tuple(map(str, call.tool.resource_key(call.arguments)))
    except Exception:  # noqa: BLE001 - foreign code; it is told where the call is settled
        return None
