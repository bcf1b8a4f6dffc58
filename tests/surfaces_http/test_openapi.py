"""The document of the API: valid, whole, and true to what is answered."""

import re
import time
from pathlib import Path
from typing import Any

import anyio
import jsonschema_rs
import msgspec
import pytest
from agents_at_work import calls
from http_fuzzing import Fuzzed, fuzz
from schemathesis.specs.openapi.definitions import OPENAPI_31
from served_home import TOKEN, Served, served

from holdfast import tool
from holdfast.surfaces.http.routes import API
from holdfast.surfaces.http.table import DOCUMENT, ROUTES

pytestmark = pytest.mark.anyio

PATHS: Any = DOCUMENT["paths"]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")


@tool
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool(permission_policy="always_ask")
def deploy() -> str:
    """Deploy."""
    return "deployed"


def test_the_document_is_valid() -> None:
    plain = msgspec.json.decode(msgspec.json.encode(DOCUMENT))
    jsonschema_rs.validator_for(OPENAPI_31).validate(plain)
    for name, schema in plain["components"]["schemas"].items():
        whole = {**schema, "components": plain["components"]}
        jsonschema_rs.meta.validate(schema)
        jsonschema_rs.validator_for(whole)
        assert re.fullmatch(r"[A-Za-z0-9._-]+", name)
    names = [one["operationId"] for path in PATHS.values() for one in path.values()]
    assert len(names) == len(set(names)) == len(ROUTES)


async def test_everything_in_it_is_served_and_nothing_else(tmp_path: Path) -> None:
    async with served(tmp_path, profile="locked") as home:
        told = await home.get("/openapi.json")
        assert told == msgspec.json.decode(msgspec.json.encode(DOCUMENT))
        for path, operations in PATHS.items():
            address = re.sub(r"\{\w+\}", "none", path)
            for method in METHODS:
                if method.lower() in operations:
                    continue
                answer = await home.client.request(method, address, json={})
                assert answer.status_code == 405, (method, path, answer.text)
        for route in ROUTES:
            if "{" not in route.path and route.method == "GET" and "stream" not in route.path:
                answer = await home.client.get(f"{API}{route.path}", params={"q": "x"})
                assert answer.status_code in {200, 422}, route.path
        for path in ("", "/", "/docs", "/redoc", "/sessions/x/y", "/sessions/", "/openapi.yaml"):
            answer = await home.client.get(f"{API}{path}")
            assert answer.status_code == 404, (path, answer.status_code)
            assert answer.json()["error"]["code"] == "not_found"


async def a_home_with_something_in_it(home: Served) -> dict[str, list[str]]:
    session = await home.begun("Go.")
    await home.at_rest(session)
    (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
    asks = await home.begun("Go.")
    await home.until(asks, lambda row: row["waiting"]["approvals"])
    (waits,) = (await home.get("/approvals"))["approvals"]
    known = [session, asks]
    return {
        "id": known,
        "session": known,
        "session_id": [asks],
        "parent": known,
        "call": [call["call_id"], waits["call_id"]],
        "name": ["add"],
        "tool": ["add"],
        "approval": [waits["approval_id"]],
    }


@pytest.mark.timeout(120)
async def test_whatever_it_allows_is_answered_as_it_says(tmp_path: Path) -> None:
    turns = [calls(("add", '{"a": 1}')), "Done.", calls(("deploy", "{}"))]
    async with served(tmp_path, turns, tools=[add, deploy], profile="locked") as home:
        names = await a_home_with_something_in_it(home)
        target = Fuzzed(home.address, TOKEN, names, time.monotonic() + 25)
        with anyio.fail_after(100):
            await anyio.to_thread.run_sync(fuzz, DOCUMENT, target, 10)
        assert target.wrong == []
        assert set(target.asked) == {one.name for one in ROUTES if one.media != "text/event-stream"}
        assert min(target.asked.values()) > 0, target.asked
        assert sum(target.asked.values()) > 100
