"""The client of NATS, where it would trust a server too much, or give up for good.

By itself it leaves it to the server whether TLS is spoken, is closed by most of what a server
complains of, and prints what it did not expect. This and `client` are the modules that know it;
what is said over it is not known here.
"""

import logging
import re
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from nats.aio.client import Client as Nats
from nats.errors import Error

from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.identity import has_bare_seed

DENIED = re.compile(r'permissions violation for (publish|subscription) to "([^"]*)"')
_NOT_LET_IN = re.compile(r"authorization violation|authentication|revoked|user .*not found")
_IN_THE_OPEN = "it does not speak TLS, and is told nothing without"
_ENDED = "it ended the connection before it let this machine in"
_WHO = (
    "no NATS server lets this machine in ({}); correct cluster.user and cluster.password, or"
    " cluster.credentials_file or cluster.cert_file, or the user on the servers"
)
_WHOM = (
    "no NATS server can be believed ({}); correct cluster.ca_file and the names in"
    " cluster.servers, or the certificate of the servers"
)
_NO_TLS = (
    "no NATS server can be spoken to in private ({}); turn TLS on there, or take cluster.ca_file,"
    " cluster.cert_file and tls:// out of the configuration"
)
_NO_CERTIFICATE = (
    "no NATS server lets this machine in ({}); set cluster.cert_file and cluster.key_file to a"
    " certificate that the servers believe and that is not out of date"
)
_ours: ContextVar[bool] = ContextVar("holdfast.cluster.guarded", default=False)


class _Final(Error):
    """It is not tried again at once: somebody has to do what it says."""


class GuardedNats(Nats):
    """The client, where it would trust a server too much, or give up for good."""

    only_tls = False
    credentials_file: str | None = None

    def _connect_command(self) -> bytes:
        """Who one is, for the server: not where anybody else could read it."""
        if self.only_tls and not self._server_info.get("tls_required"):
            raise _Final(_NO_TLS.format(_IN_THE_OPEN))
        if self.credentials_file is None:
            return super()._connect_command()
        try:
            has_bare_seed(self.credentials_file)  # it may be another one by now
            return super()._connect_command()
        except LinkError as problem:
            raise _Final(str(problem)) from None
        except Exception:  # noqa: BLE001 - of whoever signs: its words may show the key
            told = f"cluster.credentials_file: {self.credentials_file} holds no key of NATS"
            raise _Final(f"{told}; take the .creds file of this user") from None

    async def _process_connect_init(self) -> None:
        try:
            await super()._process_connect_init()
        except (Error, OSError, TimeoutError):
            self.forget_transport()
            raise
        except Exception as problem:  # noqa: BLE001 - whatever a stranger answers ends one try alone
            self.forget_transport()
            raise Error(f"it answers what no NATS server does ({type(problem).__name__})") from None
        if not self.is_connected:
            for name in ("_reading_task", "_ping_interval_task", "_flusher_task"):
                getattr(self, name).cancel()
            self.forget_transport()
            raise Error(_ENDED)

    def forget_transport(self) -> None:
        """At once and not waited for: one whose TLS failed never says that it is closed."""
        transport, self._transport = self._transport, None
        writer = getattr(transport, "_io_writer", None)
        if writer is not None:
            writer.transport.abort()

    async def _process_info(
        self,
        info: dict[str, Any],
        initial_connection: bool = False,  # noqa: FBT001, FBT002 - as the client has it
    ) -> None:
        """Other servers are believed in where nobody else could have named them."""
        if initial_connection and self.only_tls:
            info = {name: one for name, one in info.items() if name != "connect_urls"}
        await super()._process_info(info, initial_connection)

    async def _process_pong(self) -> None:
        """One for which nobody waits any more harms nobody else's."""
        asked: list[Any] = vars(self)["_pongs"]
        if asked and asked[0].done():
            del asked[0]
            self._pings_outstanding = 0
        else:
            await super()._process_pong()

    async def _process_err(self, err_msg: str) -> None:
        """The client by itself would be closed for good by whatever a server complains of."""
        problem = Error(f"nats: {err_msg}")
        await self._error_cb(problem)
        if self.is_connected and not DENIED.search(err_msg):
            await self._process_op_err(problem)

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Any:  # noqa: ANN401 - as the client has it
        """None: its subject is no text, so that it is none of ours."""
        try:
            return super()._build_message(sid, subject, reply, data, headers)
        except UnicodeDecodeError:
            return None


@contextmanager
def told_in_lines() -> Generator[None]:
    """What the client tells of what is begun meanwhile is said in a line."""
    before = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(before)


class _NoTracebacks(logging.Filter):
    """What the client tells of our connections is said in a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _ours.get() and record.exc_info:
            problem = record.exc_info[1]
            record.exc_info, record.exc_text = None, None
            record.msg, record.args = "%s (%s)", (record.getMessage(), type(problem).__name__)
        return True


def check_client(client: type[Nats]) -> None:
    """ImportError for a client that never asks what is guarded here: it would not be."""
    ours = (name for name in vars(GuardedNats) if name[0] == "_" and name[1] != "_")
    missing = ", ".join(name for name in ours if not hasattr(client, name))
    if missing:
        raise ImportError(f"this nats-py has no {missing}")


check_client(Nats)
logging.getLogger("nats.aio.client").addFilter(_NoTracebacks())


def said_for_good(problem: Exception) -> str | None:
    """What to do where trying again does not help; None: it may."""
    if isinstance(problem, _Final):
        return str(problem)
    if isinstance(problem, ssl.SSLCertVerificationError):
        return _WHOM.format(problem.verify_message or problem.reason)
    if isinstance(problem, ssl.SSLError):
        reason = problem.reason or "TLS failed"
        said = _NO_CERTIFICATE if "ALERT" in reason else _NO_TLS
        return said.format(reason.lower().replace("_", " "))
    if _NOT_LET_IN.search(str(problem).lower()):
        return _WHO.format(str(problem).removeprefix("nats: "))
    return None
