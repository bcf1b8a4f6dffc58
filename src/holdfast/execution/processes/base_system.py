"""What any program needs to see to run at all: libraries, programs, time zones, certificates.

Read-only, and nothing that is a secret: of the machine's configuration single files are named.
"""

import os
import sys
from pathlib import Path

_PROGRAMS = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
    "/run/current-system/sw",
)  # fmt: skip
_CONFIGURATION = (
    "alternatives", "bash.bashrc", "ca-certificates", "debian_version", "fonts", "gai.conf",
    "group", "host.conf", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
    "locale.alias", "locale.conf", "localtime", "login.defs", "magic", "mime.types",
    "nsswitch.conf", "openssl", "os-release", "passwd", "pki", "profile", "profile.d",
    "protocols", "python3", "python3.11", "resolv.conf", "services", "shells", "ssl",
    "terminfo", "timezone", "xdg",
)  # fmt: skip
_MACHINE = ("/sys/devices/system/cpu", "/sys/fs/cgroup")

DEVICES = (
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
    "/dev/pts",
)  # fmt: skip


_INTERPRETER = tuple(
    dict.fromkeys(
        os.path.realpath(place)
        for place in (sys.base_prefix, sys.prefix, Path(__file__).resolve().parents[1])
    )
)
"""Found out once, before any command ran: one of them may lie where commands write."""


def readable() -> tuple[str, ...]:
    """The paths, whether or not they exist here."""
    configuration = (f"/etc/{name}" for name in _CONFIGURATION)
    return (*_PROGRAMS, *configuration, *_MACHINE, *interpreter())


def interpreter() -> tuple[str, ...]:
    """Where the running Python is, and this package."""
    return _INTERPRETER


def physical() -> tuple[str, ...]:
    """Where the readable paths really are: the machine's own links are followed."""
    own = (os.path.realpath(path) for path in readable() if path not in _INTERPRETER)
    return tuple(dict.fromkeys((*own, *_INTERPRETER)))
