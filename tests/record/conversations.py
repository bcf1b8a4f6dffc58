"""Conversations made at random, as a journal would take them: what does not fit is left out."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from hypothesis import strategies as st
from msgspec import Raw

from holdfast.contract import events
from holdfast.contract.archive import Message
from holdfast.contract.events import Event, Payload, SessionCreated
from holdfast.contract.journal import Journal, NotFitting
from holdfast.record.store import Store

SESSION = "ses_conversation"

_names = st.sampled_from(["a", "b"])
_calls = st.sampled_from(["cal_1", "cal_2", "cal_3"])
_tools = st.sampled_from(["look", "run"])
_texts = st.text(max_size=5)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
ENVELOPES = (
    {"ok": True, "result": {"n": 1}, "metadata": {"duration_ms": 7, "output_path": "/o/1"}},
    {"ok": True, "result": None},
    {"ok": False, "kind": "execution_error", "message": "boom", "retryable": True},
    {"ok": False, "kind": "rejected", "message": "no", "retryable": False},
    {"ok": False, "kind": "user_denied", "message": "", "retryable": False},
)


def _envelope(value: object) -> Raw:
    return Raw(json.dumps(value, separators=(",", ":")).encode())


def _chunks() -> st.SearchStrategy[events.AgentChunk]:
    def of(kind: str, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
        return st.fixed_dictionaries({"type": st.just(kind), **fields})

    kinds = [
        of("start"),
        of("abort"),
        *(of(f"{kind}-start", id=_names) for kind in ("text", "reasoning")),
        *(of(f"{kind}-delta", id=_names, delta=_texts) for kind in ("text", "reasoning")),
        *(of(f"{kind}-end", id=_names) for kind in ("text", "reasoning")),
        of("tool-input-start", toolCallId=_calls, toolName=_tools),
        of("tool-input-delta", toolCallId=_calls, inputTextDelta=_texts),
        of("file", url=_texts, mediaType=_texts),
        of("source-url", sourceId=_texts, url=_texts),
        of("data-note", data=_json),
        of("data-note", data=_json, transient=st.booleans()),
        of("text-delta", id=st.integers()),
        of("finish"),
        of("what-is-this"),
        st.dictionaries(_texts, _json, max_size=2),
    ]
    return st.one_of(kinds).map(lambda chunk: events.AgentChunk(chunk=chunk))  # pyright: ignore[reportArgumentType] - made of JSON


def _replies() -> st.SearchStrategy[Any]:
    call = {"id": "cal_1", "model_call_id": "x", "name": "run", "arguments": "{}"}
    return st.fixed_dictionaries(
        {"text": st.none() | _texts, "calls": st.sampled_from([[], [call], None])}
    )


def _payloads() -> st.SearchStrategy[Payload]:
    hashed = "ab" * 32
    return st.one_of(
        _chunks(),
        _chunks(),
        st.builds(events.UserMessage, message=_texts),
        st.builds(events.AgentMessage, message=_texts, summary=_texts),
        st.builds(events.ModelReplied, request_id=st.just("mod_1"), reply=_replies() | _json),
        st.builds(
            events.CallAsked,
            call_id=_calls,
            tool=_tools,
            arguments=_json.map(json.dumps) | _texts,
            model_call_id=st.none() | _names,
        ),
        st.builds(
            events.ApprovalAsked,
            approval_id=st.just("apr_1"),
            call_id=_calls,
            tool=_tools,
            arguments_hash=st.just(hashed),
            reason=_texts,
        ),
        st.builds(
            events.ApprovalAnswered,
            approval_id=st.just("apr_1"),
            call_id=_calls,
            allowed=st.booleans(),
            by=st.none() | _names,
        ),
        st.builds(
            events.ApprovalWithdrawn,
            approval_id=st.just("apr_1"),
            call_id=_calls,
            reason=_texts,
        ),
        st.builds(
            events.CallIntended,
            call_id=_calls,
            tool=_tools,
            arguments_hash=st.just(hashed),
            grounds=_texts,
        ),
        st.builds(
            events.CallSettled,
            call_id=_calls,
            tool=_tools,
            envelope=st.sampled_from(ENVELOPES).map(_envelope),
        ),
    )


PAYLOADS = st.lists(_payloads(), max_size=25)


class Kept(NamedTuple):
    events: tuple[Event, ...]
    messages: tuple[Message, ...]


async def keep(journal: Journal, payloads: Sequence[Payload]) -> None:
    """Append what fits, one by one. A call's id is used once: whoever gives them sees to that."""
    await journal.create(SESSION, [SessionCreated()])
    over: set[str] = set()
    for payload in payloads:
        if isinstance(payload, events.CallAsked) and payload.call_id in over:
            continue
        try:
            await journal.append(SESSION, [payload])
        except NotFitting:
            continue
        if isinstance(payload, events.CallSettled):
            over.add(payload.call_id)


async def kept_by(store: Store, payloads: Sequence[Payload]) -> Kept:
    await keep(store.journal, payloads)
    found = await store.journal.events(SESSION)
    return Kept(found, await store.archive.messages(SESSION))


@asynccontextmanager
async def closing(store: Store) -> AsyncGenerator[Store]:
    try:
        yield store
    finally:
        await store.journal.close()
