"""Programs that run the program named in their own arguments, and how their options read.

Data only: `unwrap` reads it. An option that is not listed makes a doubt, so a list may be short.
"""

import msgspec


class Wrapper(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one wrapper, as blank-separated lists.

    ``plain`` options stand alone, ``valued`` ones take a word, ``text`` ones take shell text; any
    of them that is also ``risky`` is a doubt, and with an ``asks`` one nothing is run.
    ``operands`` words stand before the inner command; ``assigns`` allows ``NAME=value`` there.
    ``joined`` means the rest is joined to shell text. ``doubt`` is said whenever the wrapper is
    used and ``alone`` when no command follows.
    """

    plain: str = ""
    valued: str = ""
    text: str = ""
    risky: str = ""
    asks: str = ""
    operands: int = 0
    assigns: bool = False
    joined: bool = False
    options_anywhere: bool = False
    doubt: str | None = None
    alone: str | None = None


_SHELL = "starts a shell that takes its commands from elsewhere"
_ARGUMENTS = "adds arguments that are not in the text"
_ELSEWHERE = "runs a command in another place"

WRAPPERS: dict[str, Wrapper] = {
    "env": Wrapper(
        plain="- -i --ignore-environment -0 --null -v --debug",
        valued="-u --unset -C --chdir",
        risky="-S --split-string",
        assigns=True,
    ),
    "sudo": Wrapper(
        plain="-A -E -H -K -k -n -P -S -v -l -V --non-interactive --preserve-env --set-home",
        valued="-u --user -g --group -h --host -p --prompt -C -r --role -t --type -U -T"
        " -R --chroot -D --chdir",
        risky="-s --shell -i --login -e --edit -b --background -R --chroot -D --chdir",
        assigns=True,
    ),
    "doas": Wrapper(plain="-n -L", valued="-u -a -C", risky="-s -C"),
    "pkexec": Wrapper(valued="--user", alone=_SHELL),
    "nohup": Wrapper(),
    "setsid": Wrapper(plain="-c --ctty -f --fork -w --wait"),
    "nice": Wrapper(plain="-0 -1 -2 -3 -4 -5 -6 -7 -8 -9", valued="-n --adjustment"),
    "ionice": Wrapper(plain="-t --ignore", valued="-c --class -n --classdata -p --pid"),
    "chrt": Wrapper(plain="-b -f -i -o -r", operands=1),
    "taskset": Wrapper(plain="-c --cpu-list", operands=1),
    "setarch": Wrapper(operands=1, alone=_SHELL, plain="-R --addr-no-randomize"),
    "timeout": Wrapper(
        plain="--preserve-status --foreground -f -p -v --verbose",
        valued="-k --kill-after -s --signal",
        operands=1,
    ),
    "stdbuf": Wrapper(valued="-i --input -o --output -e --error"),
    "time": Wrapper(
        plain="-p --portability -v --verbose -a --append -q --quiet",
        valued="-f --format -o --output",
        risky="-o --output",
    ),
    "coproc": Wrapper(doubt="leaves a command running in the background"),
    "command": Wrapper(plain="-p", asks="-v -V"),
    "builtin": Wrapper(),
    "exec": Wrapper(plain="-c -l", valued="-a", risky="-a"),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "xargs": Wrapper(
        plain="-0 --null -r --no-run-if-empty -t --verbose -p --interactive -x --exit",
        valued="-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs"
        " -s --max-chars",
        doubt=_ARGUMENTS,
    ),
    "parallel": Wrapper(joined=True, doubt=_ARGUMENTS, plain="-k --keep-order", valued="-j --jobs"),
    "watch": Wrapper(
        plain="-b -c -C -d -e -g -p -q -r -t -w -x --color --errexit --no-title --exec --beep",
        valued="-n --interval",
        joined=True,
    ),
    "strace": Wrapper(
        plain="-c -C -d -f -F -i -k -n -q -r -t -T -v -V -w -x -y -z -Z",
        valued="-a -b -e -E -I -o -O -p -P -s -S -u -U -X",
        risky="-o -E -u",
    ),
    "ltrace": Wrapper(
        plain="-b -c -C -f -h -i -L -r -S -t -T -V",
        valued="-a -A -D -e -F -l -n -o -p -s -u -w -x",
        risky="-o -u -F",
    ),
    "unshare": Wrapper(
        plain="-m -u -i -n -p -U -C -T -f -r -c --mount --uts --ipc --net --pid --user --cgroup"
        " --time --fork --map-root-user --map-current-user --mount-proc",
        valued="-S --setuid -G --setgid -w --wd -R --root",
        risky="-R --root",
        alone=_SHELL,
    ),
    "nsenter": Wrapper(
        plain="-a -m -u -i -n -p -U -C -T -F --all --mount --uts --ipc --net --pid --user",
        valued="-t --target -S --setuid -G --setgid",
        doubt=_ELSEWHERE,
        alone=_SHELL,
    ),
    "chroot": Wrapper(plain="--skip-chdir", operands=1, doubt=_ELSEWHERE, alone=_SHELL),
    "setpriv": Wrapper(plain="--no-new-privs --clear-groups --keep-groups --init-groups -d"),
    "flock": Wrapper(
        plain="-e -x -s -u -n -o -F --exclusive --shared --unlock --nonblock --close --no-fork",
        valued="-w --timeout -E --conflict-exit-code",
        operands=1,
    ),
    "su": Wrapper(
        plain="- -l --login -m -p --preserve-environment -f --fast",
        valued="-s --shell -g --group -G --supp-group",
        text="-c --command",
        options_anywhere=True,
        doubt="runs a shell as another user",
    ),
    "script": Wrapper(
        plain="-q --quiet -e --return -f --flush -a --append",
        text="-c --command",
        options_anywhere=True,
        alone=_SHELL,
        doubt="writes what it sees to a file",
    ),
    "ssh": Wrapper(
        plain="-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
        valued="-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        operands=1,
        joined=True,
        doubt=_ELSEWHERE,
    ),
    "npx": Wrapper(plain="-y --yes --no -q --quiet", valued="-p --package", risky="-c --call"),
    "uvx": Wrapper(valued="--from --with -p --python", plain="-q"),
    "fakeroot": Wrapper(alone=_SHELL),
    "xvfb-run": Wrapper(plain="-a --auto-servernum", valued="-s --server-args -n --server-num"),
    "catchsegv": Wrapper(),
    "unbuffer": Wrapper(plain="-p"),
    "rlwrap": Wrapper(),
    "dbus-run-session": Wrapper(),
    "entr": Wrapper(plain="-a -c -d -n -p -r -s -z", doubt=_ARGUMENTS),
    "cross-env": Wrapper(assigns=True),
}
WRAPPERS["runuser"] = WRAPPERS["su"]
WRAPPERS["gtimeout"] = WRAPPERS["timeout"]
WRAPPERS["gxargs"] = WRAPPERS["xargs"]

TWO_WORD_WRAPPERS: dict[str, frozenset[str]] = {
    "bundle": frozenset({"exec"}),
    "conda": frozenset({"run"}),
    "direnv": frozenset({"exec"}),
    "docker": frozenset({"run", "exec"}),
    "hatch": frozenset({"run"}),
    "kubectl": frozenset({"exec", "run"}),
    "mise": frozenset({"exec", "x"}),
    "nix": frozenset({"run", "shell", "develop"}),
    "npm": frozenset({"exec", "x"}),
    "pdm": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "pipx": frozenset({"run"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "podman": frozenset({"run", "exec"}),
    "poetry": frozenset({"run"}),
    "uv": frozenset({"run"}),
    "yarn": frozenset({"exec", "dlx"}),
}
"""`poetry run CMD`: followed when no option stands before the command, a doubt otherwise."""

PLACE_BEFORE_COMMAND = frozenset({"direnv", "docker", "kubectl", "mise", "nix", "podman"})
"""Of those, where an image, a pod, a folder or a package stands before the command."""

NOT_FOLLOWED = frozenset({
    "aa-exec", "at", "autossh", "batch", "bwrap", "capsh", "cgexec", "chpst", "chronic",
    "cpulimit", "crontab", "daemonize", "dtach", "dumb-init", "eatmydata", "ed", "elvish",
    "emacs", "ex", "expect", "faketime", "firejail", "flatpak-spawn", "gdb", "gosu", "gvim",
    "hyperfine", "ifne", "lldb", "logsave", "m4", "machinectl", "mosh", "newgrp", "nix-shell",
    "nu", "numactl", "nvim", "osascript", "pdsh", "pee", "perf", "powershell", "prlimit",
    "proot", "proxychains", "proxychains4", "pwsh", "rsh", "run-parts", "run0", "runcon",
    "rvim", "screen", "setuidgid", "sg", "socat", "sshpass", "start-stop-daemon", "su-exec",
    "sudoedit", "systemd-inhibit", "systemd-nspawn", "systemd-run", "tini", "tmux", "torify",
    "torsocks", "valgrind", "vi", "view", "vim", "vimdiff", "xonsh", "xterm",
})  # fmt: skip
"""Programs that run others in too many ways to follow."""

CHANGES_THE_SHELL: dict[str, str] = {
    **dict.fromkeys(("alias", "unalias"), "changes what a word stands for"),
    **dict.fromkeys(("source", "."), "runs a file inside this shell"),
    **dict.fromkeys(("shopt", "enable", "hash", "bind"), "changes how the shell finds commands"),
    **dict.fromkeys(
        ("read", "mapfile", "readarray", "getopts", "let", "export", "declare", "typeset",
         "readonly", "local", "unset", "unsetenv"),
        "sets variables",
    ),
    **dict.fromkeys(("complete", "compgen", "fc", "history"), "can run a command"),
}  # fmt: skip
"""Builtins after which the rest of the text may mean something else."""
