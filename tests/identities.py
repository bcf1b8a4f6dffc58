"""Who is who for the tests: authorities that make certificates, and users of NATS with keys."""

import base64
import hashlib
import json
import os
from datetime import UTC, datetime, timedelta
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOCAL = "127.0.0.1"
PURPOSES = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
_DAY = timedelta(days=1)
_OPERATOR, _ACCOUNT, _USER = 14 << 3, 0, 20 << 3
"""What the first letter of a key says of its owner: O, A and U."""


class Papers(NamedTuple):
    """A certificate and its key, as files."""

    cert: Path
    key: Path


class Authority:
    """Vouches for others."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        self.file = folder / f"{name}.pem"
        limits = x509.BasicConstraints(ca=True, path_length=0)
        made = self._begun(self._name, self._key, 1).add_extension(limits, critical=True)
        _write(self.file, made.sign(self._key, hashes.SHA256()))

    def papers(
        self, name: str, *, days: int = 1, host: str = LOCAL, passphrase: bytes | None = None
    ) -> Papers:
        """For one, at one address. ``days``: how long they hold; negative, how long not any more.

        Its files belong to it alone, as a server that is strict would have it.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        where = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
        made = (
            self._begun(_named(name), key, days)
            .add_extension(where, critical=False)
            .add_extension(x509.ExtendedKeyUsage(PURPOSES), critical=False)
        )
        papers = Papers(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        _write(papers.cert, made.sign(self._key, hashes.SHA256()))
        papers.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.BestAvailableEncryption(passphrase)
                if passphrase
                else serialization.NoEncryption(),
            )
        )
        papers.key.chmod(0o600)
        return papers

    def _begun(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 30 * _DAY)
            .not_valid_after(now + days * _DAY)
            .add_extension(own, critical=False)
            .add_extension(issuer, critical=False)
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _write(file: Path, made: x509.Certificate) -> None:
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))


class _Key:
    """One of NATS: whoever holds it signs for its owner."""

    def __init__(self, kind: int) -> None:
        nkeys: Any = import_module("nkeys")
        self.seed = bytes(nkeys.encode_seed(os.urandom(32), kind)).decode()
        self._pair: Any = nkeys.from_seed(bytearray(self.seed.encode()))
        self.name = bytes(self._pair.public_key).decode()

    def token(self, about: str, kind: str, claims: dict[str, Any]) -> str:
        """What it says of somebody, signed."""
        now = int(datetime.now(UTC).timestamp())
        body = {
            "iss": self.name,
            "sub": about,
            "name": kind,
            "iat": now,
            "nats": {"type": kind, "version": 2, **claims},
        }
        body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode()
        parts = [_encoded({"typ": "JWT", "alg": "ed25519-nkey"}), _encoded(body)]
        signed = self._pair.sign(".".join(parts).encode())
        return ".".join((*parts, _base64(bytes(signed))))


def _encoded(value: dict[str, Any]) -> str:
    return _base64(json.dumps(value).encode())


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class NkeyUser(NamedTuple):
    """One whom a server knows by a key alone."""

    name: str
    file: Path


def nkey_user(folder: Path, name: str) -> NkeyUser:
    key = _Key(_USER)
    file = folder / f"{name}.nk"
    file.write_text(f"{key.seed}\n", "ascii")
    return NkeyUser(key.name, file)


class Operator:
    """Who runs servers that know no user: accounts vouch for theirs."""

    def __init__(self) -> None:
        self._key = _Key(_OPERATOR)
        self._accounts: dict[str, str] = {}
        self._system = self.account({})

    def account(self, limits: dict[str, Any]) -> _Key:
        key = _Key(_ACCOUNT)
        everything = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1}
        rest = {"wildcards": True, "conn": -1, "leaf": -1}
        claims = {"limits": {**everything, **rest, **limits}}
        self._accounts[key.name] = self._key.token(key.name, "account", claims)
        return key

    def with_streams(self) -> _Key:
        """An account that may keep messages."""
        return self.account({"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1})

    @property
    def config(self) -> str:
        """What a server is told of them."""
        known = "\n".join(f"  {name}: {token}" for name, token in self._accounts.items())
        operator = self._key.token(self._key.name, "operator", {})
        return (
            f"operator: {operator}\nsystem_account: {self._system.name}\n"
            f"resolver: MEMORY\nresolver_preload: {{\n{known}\n}}\n"
        )


def credentials(account: _Key, file: Path) -> Path:
    """A file of a user of an account, as tools of NATS write it."""
    user = _Key(_USER)
    token = account.token(user.name, "user", {"subs": -1, "data": -1, "payload": -1})
    file.write_text(
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n",
        "ascii",
    )
    return file
