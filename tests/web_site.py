"""A web site on the loopback for tests: pages by path, and what was asked of it."""

import threading
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, cast

import anyio

from holdfast import Abort, Holdfast, tool
from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer


class Reply(NamedTuple):
    """What a path answers with."""

    body: bytes = b""
    content_type: str | None = "text/html"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    wait: float = 0.0
    """Seconds before anything is answered."""


class Asked(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]


class Site:
    """Replies by path, without its query."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.place = f"127.0.0.1:{port}"
        self.pages: dict[str, Reply] = {}
        self.asked: list[Asked] = []
        self.over = threading.Event()

    def url(self, path: str = "/") -> str:
        return f"http://{self.place}{path}"

    def granting(self, place: str | None = None) -> object:
        """A tool that requires the site: what lies inside is reached only where it is named."""

        @tool(name=f"grants_{self.port}", requires={"net": {"hosts": [place or self.place]}})
        def grants_the_site() -> None:
            """Do nothing."""

        return grants_the_site


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site: Site


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site = cast("_Server", self.server).site
        site.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}))
        reply = site.pages.get(self.path.partition("?")[0], Reply(b"nothing here", status=404))
        site.over.wait(reply.wait)
        try:
            self._reply(reply)
        except OSError:
            return  # whoever asked is gone

    def _reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        if reply.content_type is not None:
            self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def serving() -> Generator[Site]:
    """A site, for as long as the block runs."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.site
    finally:
        server.site.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


async def consenting(_ask: Ask) -> Answer:
    """A person who has nothing against it."""
    return Answer(allowed=True, by="ada")


async def stopped(
    hf: Holdfast, tool: str, arguments: dict[str, object], begun: Callable[[], Awaitable[None]]
) -> float:
    """Stop a call once it has begun; how many seconds it took to end."""
    abort, moments = Abort(), list[float]()

    async def stop() -> None:
        await begun()
        moments.append(time.monotonic())
        abort.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop)
        envelope = await hf.settle(tool, arguments, abort=abort)
        moments.append(time.monotonic())
        assert envelope.failure is not None
    return moments[1] - moments[0]


async def wait_until_asked(site: Site) -> None:
    while not site.asked:  # noqa: ASYNC110 - another thread tells nobody
        await anyio.sleep(0.005)
