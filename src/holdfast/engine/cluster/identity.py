"""Who one is for NATS, and whom one believes: files and passwords, checked before they are used.

What is said has names of settings and files in it, and nothing of what stands there. The client of
NATS is not known here.
"""

import re
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.engine.cluster.door import LinkError, NatsServers

_PRIVATE = "tls"
_JWT = re.compile(rb"-----BEGIN NATS USER JWT-----\s+[\w.-]+\s+-")
_SEED = re.compile(rb"-----BEGIN USER NKEY SEED-----\n\s*SUA[A-Z2-7]{55}\s*\n")
_BARE_SEED = re.compile(rb"\s*SUA[A-Z2-7]{55}\s*")
_MOST_BYTES = 65_536


def wants_tls(servers: NatsServers) -> bool:
    """Whether nothing may be said in the open."""
    named = (servers.ca_file, servers.cert_file, servers.key_file)
    return any(named) or any(urlsplit(one).scheme == _PRIVATE for one in servers.servers)


def tls_of(servers: NatsServers) -> ssl.SSLContext | None:
    """Whom one believes, and the certificate that one shows; None: TLS is not asked for.

    LinkError where a file is not what it should be.
    """
    if not wants_tls(servers):
        return None
    if servers.key_file is not None and servers.cert_file is None:
        raise LinkError("cluster.key_file is of no use alone; set cluster.cert_file, too")
    context = _believing(servers.ca_file)
    if servers.cert_file is not None:
        _show(context, servers.cert_file, servers.key_file)
    return context


def has_bare_seed(file: str) -> bool:
    """Whether a file of credentials is a key alone, and not one with a token of its account.

    LinkError where it is neither.
    """
    text = _text_of("cluster.credentials_file", file)
    if _BARE_SEED.fullmatch(text):
        return True
    if not (_JWT.search(text) and _SEED.search(text)):
        raise LinkError(
            f"cluster.credentials_file: {file} holds no credentials of NATS; take the .creds file"
            " of this user, or a file with the user's seed alone"
        )
    return False


def check_user(servers: NatsServers) -> None:
    """LinkError where one half of what says who one is was forgotten."""
    if (servers.user is None) == (servers.password is None):
        return
    there, missing = ("user", "password") if servers.password is None else ("password", "user")
    raise LinkError(
        f"cluster.{there} is set without cluster.{missing}; set both, or neither where the"
        " addresses or a credentials file say who this machine is"
    )


def _believing(file: str | None) -> ssl.SSLContext:
    if file is None:
        return ssl.create_default_context()
    _text_of("cluster.ca_file", file)
    try:
        return ssl.create_default_context(cafile=file)
    except ssl.SSLError:
        raise LinkError(
            f"cluster.ca_file: {file} holds no certificate; it takes one or more of them as PEM"
        ) from None


def _show(context: ssl.SSLContext, cert_file: str, key_file: str | None) -> None:
    _text_of("cluster.cert_file", cert_file)
    if key_file is not None:
        _text_of("cluster.key_file", key_file)
    try:
        # Without an answer to give, OpenSSL would ask at the terminal.
        context.load_cert_chain(cert_file, key_file, password="")
    except (ssl.SSLError, ValueError):
        where = "" if key_file is None else f" and cluster.key_file: {key_file}"
        raise LinkError(
            f"cluster.cert_file: {cert_file}{where}: no certificate with its key can be read there;"
            " both are PEM, belong together, and the key has no passphrase"
        ) from None


def _text_of(setting: str, file: str) -> bytes:
    """What stands in a file; LinkError."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(_MOST_BYTES)
    except OSError as problem:
        raise LinkError(
            f"{setting}: {file}: {problem.strerror or problem}; correct the path, or let the user"
            " that runs holdfast read it"
        ) from None
