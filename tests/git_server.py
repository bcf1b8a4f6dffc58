"""A git server on loopback: the program git ships for it, behind a small HTTP server."""

import os
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "PATH": os.environ["PATH"],
}


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, without this machine's configuration."""
    done = subprocess.run(
        ["git", *words], cwd=folder, env=_QUIET, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class GitHost(NamedTuple):
    """Where repositories are served from."""

    folder: Path
    port: int
    asked: list[str]
    holding: threading.Event
    """Set: a fetch is answered, and no more than its beginning."""

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def repository(self, name: str = "project.git") -> Path:
        """A new one with two commits, a branch `side` and files."""
        work = self.folder / f"work-{name}"
        work.mkdir(parents=True)
        git(work, "init", "-q", "-b", "main")
        for text in ("one", "two"):
            (work / "file.txt").write_text(text)
            git(work, "add", ".")
            git(work, "commit", "-q", "-m", text)
        git(work, "branch", "side", "HEAD~1")
        git(self.folder, "clone", "-q", "--bare", str(work), name)
        return work


@contextmanager
def git_host(folder: Path) -> Generator[GitHost]:
    asked: list[str] = []
    holding = threading.Event()
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if self.path.startswith("/moved.git"):
                self.send_response(302)
                self.send_header("Location", self.path.replace("/moved.git", "/project.git"))
                self.end_headers()
            elif self.path.startswith("/locked.git"):
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.end_headers()
            else:
                self._backend(b"")

        def do_POST(self) -> None:
            asked.append(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if holding.is_set():
                self.send_response(200)
                self.send_header("Content-Type", "application/x-git-upload-pack-result")
                self.end_headers()
                self.wfile.flush()
                closing.wait(30)
            else:
                self._backend(body)

        def _backend(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            environment = {
                **_QUIET,
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            done = subprocess.run(
                ["git", "http-backend"],
                input=body,
                env=environment,
                capture_output=True,
                check=False,
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = [line.decode().split(": ", 1) for line in head.split(b"\r\n")]
            status = next((value for name, value in fields if name == "Status"), "200")
            self.send_response(int(status.split()[0]))
            for name, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            return

    folder.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield GitHost(folder, server.server_address[1], asked, holding)
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
