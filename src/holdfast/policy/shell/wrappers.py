"""Programs that run the program named in their own arguments, and how their options read.

Data only: `unwrap` reads it. An option that is not listed makes a doubt, so a list may be short.
"""

import msgspec


class Wrapper(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one wrapper, as blank-separated lists.

    ``plain`` options stand alone, ``valued`` ones take a word, ``text`` ones take shell text; any
    of them that is also ``risky`` is a doubt, as are those that change the folder, in which what
    is inside names other files. With an ``asks`` one nothing is run.
    ``operands`` words stand before the inner command; ``assigns`` allows ``NAME=value`` there.
    ``joined`` means the rest is joined to shell text. ``doubt`` is said whenever the wrapper is
    used, with ``{inner}`` for the command, and ``alone`` when no command follows.
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
_ARGUMENTS = "adds arguments to {inner} that are not in the text but read from its input"
_ELSEWHERE = "runs a command in another place"
_AS_ANOTHER = "runs a command as another user or group"

_MACHINE = Wrapper(
    plain="-B --32bit -F --fdpic-funcptrs -I --short-inode -L --addr-compat-layout -R"
    " --addr-no-randomize -S --whole-seconds -T --sticky-timeouts -X --read-implies-exec -Z"
    " --mmap-page-zero -3 --3gb --4gb --uname-2.6 -v --verbose",
    alone=_SHELL,
)

WRAPPERS: dict[str, Wrapper] = {
    "env": Wrapper(
        plain="- -i --ignore-environment -0 --null -v --debug",
        valued="-u --unset -C --chdir",
        risky="-S --split-string -C --chdir",
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
    "chrt": Wrapper(plain="-f -r", operands=1),
    "taskset": Wrapper(plain="-c --cpu-list", operands=1),
    "setarch": msgspec.structs.replace(_MACHINE, operands=1),
    "arch": Wrapper(plain="-arm64 -arm64e -x86_64 -i386 -32 -64"),
    "prlimit": Wrapper(
        plain="-c --core -d --data -e --nice -f --fsize -i --sigpending -l --memlock -m --rss -n"
        " --nofile -q --msgqueue -r --rtprio -s --stack -t --cpu -u --nproc -v --as -x --locks -y"
        " --rttime --noheadings --raw --verbose",
        valued="-p --pid -o --output",
    ),
    "numactl": Wrapper(
        plain="-l --localalloc -a --all -s --show -H --hardware",
        valued="-i --interleave -p --preferred -m --membind -N --cpunodebind -C --physcpubind",
    ),
    "tini": Wrapper(plain="-g -v -s -w -l", valued="-p -e"),
    "dumb-init": Wrapper(plain="-c --single-child -v --verbose", valued="-r --rewrite"),
    "ssh-agent": Wrapper(plain="-c -s -k -d -D", valued="-a -E -O -P -t"),
    "sshpass": Wrapper(plain="-e -v", valued="-f -d -p -P"),
    "proxychains": Wrapper(plain="-q", valued="-f", risky="-f"),
    "faketime": Wrapper(plain="-f -m --exclude-monotonic", operands=1),
    "chronic": Wrapper(plain="-v -e"),
    "ifne": Wrapper(plain="-n"),
    "eatmydata": Wrapper(),
    "torify": Wrapper(),
    "torsocks": Wrapper(plain="-i --isolate"),
    "cgexec": Wrapper(plain="--sticky", valued="-g"),
    "aa-exec": Wrapper(plain="-i --immediate -v --verbose", valued="-p --profile -n --namespace"),
    "gosu": Wrapper(operands=1, doubt=_AS_ANOTHER),
    "linux32": _MACHINE,
    "sg": Wrapper(plain="-", operands=1, joined=True, doubt=_AS_ANOTHER),
    "chpst": Wrapper(
        plain="-v -V -P -0 -1 -2",
        valued="-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -r -t -C",
        risky="-u -U -b -e -/",
    ),
    "systemd-run": Wrapper(
        plain="--user --scope --pty -t --wait --collect -G --quiet -q --pipe -P --no-block -r"
        " --remain-after-exit --same-dir -d",
        valued="-u --unit -p --property --description --slice --uid --gid --nice"
        " --working-directory -E --setenv",
        doubt=_ELSEWHERE,
    ),
    "systemd-inhibit": Wrapper(plain="--list --no-pager", valued="--what --who --why --mode"),
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
        alone="stands alone",
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
        plain="-b -c -C -d -e -g -p -r -t -w -x --color --errexit --no-title --exec --beep",
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
        risky="-R --root -w --wd",
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
SAME: dict[str, str] = {
    **dict.fromkeys(
        ("linux64", "i386", "i486", "i586", "i686", "x86_64", "uname26", "ppc", "ppc64", "s390x"),
        "linux32",
    ),
    "bunx": "npx",
    "gtimeout": "timeout",
    "gxargs": "xargs",
    "pnpx": "npx",
    "proxychains4": "proxychains",
    "runuser": "su",
    "setuidgid": "gosu",
    "su-exec": "gosu",
}
"""Programs that read their words as another one does."""
WRAPPERS.update({name: WRAPPERS[like] for name, like in SAME.items()})

TWO_WORD_WRAPPERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("conda", "devbox", "doppler", "dotenv", "flatpak", "hatch", "op", "pdm", "pipenv", "pipx",
         "pixi", "poetry", "rustup", "rye", "toolbox", "uv", "volta"),
        frozenset({"run"}),
    ),
    **dict.fromkeys(
        ("asdf", "aws-vault", "bundle", "chamber", "direnv", "fnm", "lxc", "nodenv", "opam",
         "pyenv", "rbenv"),
        frozenset({"exec"}),
    ),
    **dict.fromkeys(
        ("cabal", "docker", "docker-compose", "kubectl", "nvm", "oc", "podman", "stack"),
        frozenset({"exec", "run"}),
    ),
    **dict.fromkeys(("mise", "npm"), frozenset({"exec", "x"})),
    "nix": frozenset({"run", "shell", "develop"}),
    **dict.fromkeys(("pnpm", "yarn"), frozenset({"exec", "dlx"})),
}  # fmt: skip
"""`poetry run CMD`: followed when no option stands before the command, a doubt otherwise."""

PLACE_BEFORE_COMMAND = frozenset({
    "aws-vault", "chamber", "direnv", "docker", "docker-compose", "flatpak", "kubectl", "lxc",
    "mise", "nix", "nvm", "oc", "podman", "rustup", "toolbox",
})  # fmt: skip
"""Of those, where an image, a pod, a folder or a package stands before the command."""

GROUPS = frozenset({"compose", "container", "tool"})
"""Words that may stand between: `docker compose exec`, `uv tool run`."""

NOT_FOLLOWED = frozenset({
    "adb", "ansible", "at", "autossh", "batch", "bwrap", "capsh", "clisp", "cpulimit", "crontab",
    "daemonize", "dtach", "ed", "elvish", "emacs", "ex", "expect", "firejail", "flatpak-spawn",
    "gdb", "ghci", "gvim", "hyperfine", "iex", "ipython", "irb", "jshell", "lldb", "logsave", "m4",
    "machinectl", "mosh", "newgrp", "nix-shell", "nu", "nvim", "ocaml", "osascript", "pdsh", "pee",
    "perf", "powershell", "proot", "pry", "pwsh", "racket", "rsh", "run-parts", "run0", "runcon",
    "rvim", "sbcl", "screen", "socat", "start-stop-daemon", "sudoedit", "swipl", "systemd-nspawn",
    "tmux", "vagrant", "valgrind", "vi", "view", "vim", "vimdiff", "wsl", "xonsh", "xterm",
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
