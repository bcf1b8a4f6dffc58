"""The laws that the attempts on commands, paths and hosts have to get past."""

from battery.kit import Attempt, Law, allow, ask, deny

from holdfast.app.settings import WatchdogSettings

_PROGRAMS = (
    "env", "sudo", "doas", "nohup", "timeout", "xargs", "find", "nice", "ionice", "setsid",
    "stdbuf", "time", "command", "builtin", "exec", "busybox", "toybox", "ssh", "su", "script",
    "parallel", "watch", "flock", "git", "ls", "cat", "echo", "sed", "awk", "tar", "sort", "split",
    "python3", "perl", "node", "make", "man", "less", "sh", "bash", "eval", "trap", "test", "[",
    "[[", "true", "false", ":", "printf", "head", "wc", "grep", "cd", "read", "pwd", "mkdir",
    "for", "export", "wget", "rg", "fd",
)  # fmt: skip
"""What a careless person allows: programs, and among them many that run others."""

DENIED = (
    *(deny("shell.run", pattern) for pattern in ("rm *", "curl *", "git push *", "dd *", "tee *")),
    *(deny("fs.write", pattern) for pattern in (".git/**", "secret/**", "/**")),
    *(deny("fs.read", pattern) for pattern in ("secret/**", "/etc/**")),
)

ALL_BUT = Law(manifest=(*DENIED, allow("*", "**")))
"""Everything is allowed but for a few things that are denied: the weakest law there is."""

ONLY: Law = Law(
    manifest=(
        *DENIED,
        ask("shell.run", "*"),
        *(allow("shell.run", f"{name} *") for name in _PROGRAMS),
        *(allow("shell.run", name) for name in _PROGRAMS),
    )
)
"""Programs that are named are allowed, everything else is asked about."""

DECLARED = Law(
    commands=[{"cmd": name} for name in _PROGRAMS if name not in ("for", "export")],
    manifest=(deny("fs.read", "secret/**"), deny("shell.run", "git push *")),
)
"""Hardly a rule about commands: what the tools require has to hold by itself."""

FLAGS = Law(
    manifest=(
        *(
            deny("shell.run", pattern)
            for pattern in (
                "rm -rf *", "git push --force *", "chmod -R 777 *", "sed -i *", "curl -o *",
                "tar -x *",
            )
        ),
        allow("*", "**"),
    )
)  # fmt: skip
"""Programs are allowed, certain flags are denied."""

PLACES = Law(manifest=(deny("fs.read", "secret/**"),))

WATCHED = Law(manifest=(allow("*", "**"),), watchdog=WatchdogSettings())
"""Everything is allowed, and the hooks that ship are on."""


def named(attempts: tuple[Attempt, ...]) -> list[str]:
    """The ids of a table; each has to be there once."""
    ids = [attempt.id for attempt in attempts]
    assert len(set(ids)) == len(ids), [one for one in ids if ids.count(one) > 1]
    return ids
