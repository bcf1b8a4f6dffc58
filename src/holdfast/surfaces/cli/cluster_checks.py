"""What `holdfast doctor` says of the cluster: is it configured, reachable, and spoken to safely?"""

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio

from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.fleet import check_fleet, is_clustered, opened_link
from holdfast.app.settings import Settings
from holdfast.app.store import store_url
from holdfast.contract.journal import JournalUnavailable
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.screen import one_line

_NAME = "cluster"
_SAFE = 3
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_VERIFIED = frozenset({"verify-full", "verify-ca"})
_OTHERS = stat.S_IRWXO


def check_cluster(workspace: str, overrides: Mapping[str, str]) -> Iterator[Finding]:
    """What cannot be read of the configuration is told elsewhere; without a cluster, nothing is."""
    try:
        settings = load_configuration(workspace, overrides=overrides).settings
    except ConfigurationError:
        return
    if is_clustered(settings):
        yield from check_fleet_of(settings)


def check_fleet_of(settings: Settings) -> Iterator[Finding]:
    """Can a worker be one of it as it is configured?"""
    cluster = settings.cluster
    try:
        check_fleet(settings)
        anyio.run(_reach, settings)
    except (ConfigurationError, JournalUnavailable) as problem:
        what, _, step = one_line(str(problem)).partition("; ")
        yield Finding("FAIL", _NAME, what, step)
        return
    keeps = f"each message is kept by {cluster.replicas}"
    told = f"{counted(len(cluster.servers), 'server')} of NATS, namespace {cluster.namespace}"
    yield Finding("OK", _NAME, f"{told}; {keeps}")
    if cluster.replicas < _SAFE:
        step = "run three servers of NATS, and set cluster.replicas = 3"
        yield Finding("WARN", _NAME, f"{keeps}: hints wait while that server is gone", step)
    if cluster.ca_file is None and any(map(_is_plain, cluster.servers)):
        step = "set cluster.ca_file, or write tls:// for servers that the system's CAs know"
        yield Finding("WARN", _NAME, "another machine's NATS is spoken to without TLS", step)
    urls = (store_url(settings.store), *(one.url for one in cluster.tenant.values()))
    if any(map(_is_unverified, urls)):
        step = "add ?sslmode=verify-full&sslrootcert=FILE to the URL of the store"
        yield Finding("WARN", _NAME, "another machine's PostgreSQL is believed unseen", step)
    for file in filter(None, (cluster.credentials_file, cluster.key_file)):
        if Path(file).stat().st_mode & _OTHERS:
            yield Finding("WARN", _NAME, f"everybody here can read {file}", f"chmod 600 {file}")


async def _reach(settings: Settings) -> None:
    async with opened_link(settings):
        return


def _is_unverified(url: str) -> bool:
    """Whether somebody between could be taken for the database of another machine."""
    found = urlsplit(url)
    told = parse_qs(found.query)
    host = told.get("host", [found.hostname or "/"])[0]
    is_here = host.startswith("/") or host in _HERE
    return not is_here and told.get("sslmode", [""])[0] not in _VERIFIED


def _is_plain(server: str) -> bool:
    found = urlsplit(server)
    return found.scheme == "nats" and found.hostname not in _HERE
