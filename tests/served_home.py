"""A home that is served over HTTP in the test's own process, with a model of written turns."""

import json
import signal
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import msgspec
from agents_at_work import home_of
from anyio import Event, create_task_group, sleep_forever

from holdfast import Holdfast
from holdfast.agent.models.scripted import Choosing, Played, ScriptedModel
from holdfast.app.configuration import load_configuration
from holdfast.contract.call import Ask
from holdfast.contract.model import ChatModel
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.surfaces.console.pages import page
from holdfast.surfaces.http.server import Listening, Opened, Told, serve

TOKEN = "a-token-that-only-tests-know"
API = "/api/v1"
PATIENCE = 10.0


class Served(msgspec.Struct):
    """A server, and a client that may come in."""

    client: httpx.AsyncClient
    address: str
    model: ScriptedModel
    workspace: Path
    folder: Path
    runner: Holdfast
    workbench: Holdfast

    async def get(self, path: str, status: int = 200, /, **query: Any) -> Any:
        """What is answered, which has to be with this status."""
        answer = await self.client.get(API + path, params=query)
        return self._told(answer, status)

    async def post(self, path: str, status: int = 202, /, **body: Any) -> Any:
        """The same for what is written."""
        answer = await self.client.post(API + path, json=body)
        return self._told(answer, status)

    async def delete(self, path: str, status: int = 204) -> Any:
        """The same for what is taken away."""
        return self._told(await self.client.delete(API + path), status)

    async def begun(self, message: str | None = "Go.", **more: Any) -> str:
        """A session that was begun."""
        said = {} if message is None else {"message": message}
        return str((await self.post("/sessions", 201, **said, **more))["id"])

    async def until(
        self, session: str, fits: Callable[[Any], object], seconds: float = PATIENCE
    ) -> Any:
        """The row of a session, once it fits."""
        row: Any = None
        with anyio.move_on_after(seconds):
            while True:
                row = await self.get(f"/sessions/{session}")
                if fits(row):
                    return row
                await anyio.sleep(0.02)
        raise AssertionError(f"it never came to that: {row}")

    async def at_rest(self, session: str) -> Any:
        """The same, once its run has ended."""
        return await self.until(session, lambda row: row["turns"] and row["reported"] == "idle")

    async def command(self, session: str) -> Any:
        """The command that a session runs, once it does."""
        with anyio.move_on_after(PATIENCE):
            while True:
                found = (await self.get(f"/sessions/{session}/commands"))["commands"]
                if found:
                    return found[0]
                await anyio.sleep(0.02)
        raise AssertionError("no command ever ran")

    async def events(self, session: str, *kinds: str) -> list[Any]:
        """The events of a session, of these kinds."""
        found = (await self.get(f"/sessions/{session}/events", limit=1000))["events"]
        return [one for one in found if not kinds or one["type"] in kinds]

    @staticmethod
    def leave() -> None:
        """Tell the server to end, as its system does."""
        signal.raise_signal(signal.SIGTERM)

    @staticmethod
    def _told(answer: httpx.Response, status: int) -> Any:
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if answer.content else None


@asynccontextmanager
async def served(
    folder: Path,
    turns: Iterable[Played | Choosing] = (),
    *,
    model: ChatModel | None = None,
    profile: str = "code",
    names: tuple[str, ...] = (),
    **options: Any,
) -> AsyncGenerator[Served]:
    """Serve a home in a folder, until this is left."""
    workspace = folder / "work"
    workspace.mkdir(exist_ok=True)
    scripted = ScriptedModel(turns)
    environment = {"HOME": str(folder / "nobody"), **options.pop("environment", {})}
    given: dict[str, Any] = {
        "configuration": load_configuration(
            workspace, environment=environment, overrides=options.pop("overrides", {})
        ),
        "surroundings": home_of(folder),
        **options,
    }
    made: dict[str, Any] = {"profile": profile, "workspace": workspace, **given}
    runner = Holdfast(**made, approver="elsewhere", person="elsewhere", model=model or scripted)
    workbench = Holdfast(**made, approver=_waits, person=_asks)
    opened = Opened(runner=runner, workbench=workbench, profile=profile, workspace=str(workspace))
    told: list[Told] = []
    listens = Event()

    def tell(one: Told) -> None:
        told.append(one)
        listens.set()

    listening = Listening(host="127.0.0.1", port=0, names=names, token=TOKEN)
    async with create_task_group() as group:
        group.start_soon(serve, opened, listening, page, tell)
        with anyio.fail_after(PATIENCE):
            await listens.wait()
        headers = {"authorization": f"Bearer {TOKEN}"}
        address = told[0].address
        async with httpx.AsyncClient(
            base_url=address, headers=headers, timeout=PATIENCE, trust_env=False
        ) as client:
            yield Served(client, address, scripted, workspace, folder, runner, workbench)
        group.cancel_scope.cancel()


class StreamEvent(msgspec.Struct):
    """One server-sent event."""

    kind: str
    data: Any
    id: int | None = None


async def told_by(
    client: httpx.AsyncClient, path: str, headers: Mapping[str, str] | None = None, **query: Any
) -> AsyncGenerator[StreamEvent]:
    """What a stream tells, until it ends."""
    async with client.stream("GET", API + path, params=query, headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields:
                number = int(fields["id"]) if "id" in fields else None
                yield StreamEvent(fields["event"], json.loads(fields["data"]), number)
                fields = {}


async def _waits(_ask: Ask) -> Answer | None:
    await sleep_forever()
    return None


async def _asks(_inquiry: Inquiry) -> Replies | None:
    await sleep_forever()
    return None
