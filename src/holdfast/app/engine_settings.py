"""The tables of what runs sessions: `[engine]`, and `[cluster]` for engines on several machines."""

import re
from typing import Annotated, Literal, cast

import msgspec

from holdfast.app.problems import ConfigurationError

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Replicas = Annotated[int, msgspec.Meta(ge=1, le=5)]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SERVER = re.compile(r"(?:nats|tls)://\S+")


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[engine]` table: how sessions of agents are run."""

    kind: Literal["embedded", "cluster"] = "embedded"
    """Each process finds what is due by looking, or the `[cluster]` is told."""
    concurrency: _Count = 8
    """How many at once, of one process."""
    look_seconds: Annotated[float, msgspec.Meta(gt=0, le=60)] = 0.5
    """How often it is looked whether something is due that another process wrote."""
    lease_seconds: Annotated[float, msgspec.Meta(ge=1, le=3600)] = 15.0
    """After how long whoever runs a session and says nothing counts as gone."""
    heartbeat_seconds: Annotated[float, msgspec.Meta(gt=0, le=1800)] = 5.0
    """How often they say something: well before that."""


class TenantSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[cluster.tenant.NAME]` table: somebody else whose sessions are run here, too."""

    url: str
    """Of the PostgreSQL with their sessions, with its password: never shown."""

    def __repr__(self) -> str:
        """Without the URL: it holds a password."""
        return "TenantSettings(url='***')"


class ClusterSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[cluster]` table: where NATS is, as whom one comes, and whose sessions are run."""

    servers: tuple[str, ...] = ()
    """Addresses of NATS servers of one cluster, such as `nats://10.0.0.1:4222`."""
    namespace: str = "holdfast"
    """What all names in NATS begin with: fleets that share servers have one each."""
    replicas: _Replicas = 1
    """How many servers keep each message: 3, where there are three."""
    user: str | None = None
    """Whom NATS knows this machine as."""
    password: str | None = None
    """Of the user; never shown."""
    credentials_file: str | None = None
    """A file of NATS with a key, in place of a user and a password."""
    ca_file: str | None = None
    """Who vouches for the servers; with it, or with a certificate, only TLS is spoken."""
    cert_file: str | None = None
    """Who this machine is, for servers that want to see it."""
    key_file: str | None = None
    """The key of that certificate."""
    labels: tuple[str, ...] = ()
    """What workers here have: sessions that ask for one of these are run, beside those that ask
    for none."""
    own: str = "default"
    """What the tenant is called whose sessions are in `[store]`."""
    tenant: dict[str, TenantSettings] = {}
    """Others, by their names."""

    def __repr__(self) -> str:
        """Without addresses, passwords and URLs."""
        return f"ClusterSettings(namespace={self.namespace!r}, ...)"


def check_cluster(table: object, origin: str) -> None:
    """Raise ConfigurationError for what no cluster can be. Its keys were checked before."""
    found = cast("dict[str, object]", table or {})
    for name in ("namespace", "own"):
        if name in found and not _NAME.fullmatch(cast("str", found[name])):
            raise ConfigurationError(
                f"{origin}: cluster.{name}: take letters, digits, - and _, 64 at the most"
            )
    for number, server in enumerate(cast("list[str]", found.get("servers", [])), 1):
        if not _SERVER.fullmatch(server):
            raise ConfigurationError(
                f"{origin}: cluster.servers #{number}: expected an address; write for example"
                ' servers = ["nats://10.0.0.1:4222"]'
            )
    tenants = cast("dict[str, object]", found.get("tenant", {}))
    for name in tenants:
        if not _NAME.fullmatch(name) or name == found.get("own", "default"):
            raise ConfigurationError(
                f"{origin}: cluster.tenant.{name}: take letters, digits, - and _, and another name"
                " than cluster.own"
            )
