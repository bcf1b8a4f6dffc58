"""The openrath suite's area of sessions: made, merged and compressed, by call."""

import re
from collections.abc import Iterator
from typing import cast

from holdfast.contract.chunks import AskedCall, AssistantChunk
from holdfast.contract.json_value import JsonObject
from holdfast.runtime.flow_compress import compressed
from holdfast.runtime.flow_session import Session, SessionKind
from holdfast.testing.conformance.case import Case, part, texts
from holdfast.testing.conformance.openrath_sandbox import check_call, judged


def check_session(case: Case) -> Iterator[str]:
    """One call in words, such as `merge`, with what it is given beside it."""
    given = part(case, "given")
    words = set(re.findall(r"[a-z_]+", str(given.get("call", "")).lower()))
    if "merge" in words:
        return judged(case, lambda: _merged(given))
    if "create" in words:
        return judged(case, lambda: _created(given))
    if "compress" in words:
        return judged(case, lambda: _compressed(given))
    return check_call(case)


def _merged(given: JsonObject) -> str:
    """Two sessions that are not opened, with the targets of the case, or with different ones."""
    backends = texts(given, "targets") if "targets" in given else ["a", "b"]
    first, second = (Session.from_user_message("x").to(backend) for backend in backends)
    return first.merge(second).lineage.kind


def _created(given: JsonObject) -> str:
    kind = str(given.get("kind", "no such kind"))
    return Session.create(cast("SessionKind", kind), str(given.get("text", ""))).lineage.kind


def _compressed(given: JsonObject) -> str:
    """What a model replied: the text of the case, or calls without any."""
    reply = AssistantChunk(tool_calls=(AskedCall("c1", "run_code", "{}"),))
    if "reply" in given:
        reply = AssistantChunk(str(given["reply"]))
    user, agent = Session.from_user_message("x"), Session.from_agent_prompt("y")
    return compressed(user, agent, reply).lineage.kind
