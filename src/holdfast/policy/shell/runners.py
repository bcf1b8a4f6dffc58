"""Arguments by which an ordinary program is told to run another one, or code. Data only."""

import re

SHELLS = frozenset(
    {
        *("sh", "bash", "dash", "ash", "ksh", "mksh", "lksh", "oksh", "pdksh", "posh", "yash"),
        *("hush", "rbash", "zsh", "fish", "csh", "tcsh"),
    }
)

FOREIGN_SHELLS = frozenset({"zsh", "fish", "csh", "tcsh"})
"""Shells whose grammar is too different for text to be read as bash."""

BASH_ONLY = re.compile(
    r"\$['\"\[]|&>|\|&|<\(|>\(|\(\(|\[\[|<<<|;&|;;&|\bfunction\b|\bcoproc\b"
    r"|\d\d[<>]|[<>]&(?![\d-])|[<>]&\d\d|\bselect\b|\{[^{}\s]*,"
)
"""What a plain POSIX shell reads differently from bash."""

CODE_FLAGS: dict[str, re.Pattern[str]] = {
    "python": re.compile(r"-[A-Za-z]*c.*|-[bBdEIOPqsSuvx]*i.*"),
    "pypy": re.compile(r"-[A-Za-z]*c.*|-[bBdEIOPqsSuvx]*i.*"),
    "perl": re.compile(r"-[A-Za-z0-9]*[eE].*|-[A-Za-z0-9]*[dMmI].*"),
    "ruby": re.compile(r"-[A-Za-z0-9]*e.*|-r.*"),
    **dict.fromkeys(
        ("node", "nodejs", "ts-node", "tsx"),
        re.compile(r"-[ep].*|--eval.*|--print.*|-r.*|--require.*|--import.*|--.*loader.*"),
    ),
    "bun": re.compile(r"-e.*|--eval.*|-p.*|--print.*|x|exec"),
    "deno": re.compile(r"eval|repl|(?:https?|data|npm|jsr|blob):.*", re.DOTALL),
    "php": re.compile(r"-[rBREa].*|--"),
    "lua": re.compile(r"-e.*|-l.*"),
    "rscript": re.compile(r"-e.*"),
    "r": re.compile(r"-e.*"),
    "elixir": re.compile(r"-e.*|--eval.*|--rpc-eval.*|-r.*"),
    "erl": re.compile(r"-eval.*|-run.*|-s"),
    "ghc": re.compile(r"-e.*|-pgm.*|-F.*"),
    "gnuplot": re.compile(r"-e.*"),
    "groovy": re.compile(r"-e.*"),
    "guile": re.compile(r"-[ceL].*"),
    "octave": re.compile(r"--eval.*"),
    "scala": re.compile(r"-e.*"),
    "julia": re.compile(r"-[eE].*|--eval.*"),
    "tclsh": re.compile(r"$^"),
}
"""Interpreters and the options that carry code."""

PYTHON_PLAIN = re.compile(r"-[bBdEIOPqsSuvx]+")
"""Options of python without a value: what follows is another option or the script."""

PYTHON_MODULE = re.compile(r"-[bBdEIOPqsSuvx]*m(.*)", re.DOTALL)

VALUED_BEFORE_SCRIPT: dict[str, frozenset[str]] = {
    **dict.fromkeys(("python", "pypy"), frozenset({"-W", "-X", "--check-hash-based-pycs"})),
    **dict.fromkeys(
        ("node", "nodejs"),
        frozenset({"-C", "--conditions", "--env-file", "--input-type", "--title"}),
    ),
    "php": frozenset({"-c", "-d", "-z"}),
    "ruby": frozenset({"-C", "-E", "-I"}),
}
"""Options of interpreters that take the next word, which is then no script."""

STREAM = re.compile(r"-|/dev/(?:stdin|fd/.*)|/proc/.*/fd/.*")
"""Paths that are no file, but whatever is piped in."""

CODE_MODULES = frozenset({
    "IPython", "asyncio", "bdb", "cProfile", "code", "pdb", "profile", "runpy", "timeit", "trace",
})  # fmt: skip
"""Modules that `python -m` lets run code or a program from the arguments."""

PROGRAM_FLAGS: dict[str, re.Pattern[str]] = {
    "tar": re.compile(r"--(?:to-c|checkpoint-|us|rs|inf|new-|rm).*|-?[A-Za-z]*[IF].*"),
    "rsync": re.compile(r"-[A-Za-z]*e.*|--rsh.*|--rsync-path.*"),
    "scp": re.compile(r"-[A-Za-z0-9]*[SoD].*"),
    "sftp": re.compile(r"-[A-Za-z0-9]*[SoDb].*"),
    "make": re.compile(r".*=.*|--ev.*|-[A-Za-z]*f.*|--fi.*|--mak.*|-E.*"),
    "gmake": re.compile(r".*=.*|--ev.*|-[A-Za-z]*f.*|--fi.*|--mak.*|-E.*"),
    "sort": re.compile(r"--co.*"),
    "split": re.compile(r"--f.*"),
    "zip": re.compile(r"-TT.*|--unzip-command.*|-[A-Za-z]*T.*"),
    "tcpdump": re.compile(r"-[A-Za-z]*z.*"),
    "man": re.compile(r"-[A-Za-z]*[PH].*|--pag.*|--ht.*"),
    "rg": re.compile(r"--pre(?:=.*)?|--hostname-bin.*"),
    "fd": re.compile(r"-[A-Za-z]*[xX].*|--exec.*"),
    "fdfind": re.compile(r"-[A-Za-z]*[xX].*|--exec.*"),
    "ag": re.compile(r"--pager.*"),
    "install": re.compile(r"--strip-.*"),
    **dict.fromkeys(
        ("gcc", "g++", "cc", "c++", "clang", "clang++"),
        re.compile(r"-wrapper.*|-B.*|-fplugin.*|@.*"),
    ),
    "cmake": re.compile(r"-P.*|-E|-C.*|-D.*(?:COMPILER|PROGRAM|COMMAND|LAUNCHER).*"),
    "gradle": re.compile(r"-[Ib].*|--init.*|--build-file.*"),
    "mvn": re.compile(r"exec:.*|-f.*|--file.*"),
    "pandoc": re.compile(r"-F.*|--filter.*|-L.*|--lua-filter.*|--pdf-engine.*"),
    "nmap": re.compile(r"--script.*"),
    "ip": re.compile(r"netns"),
    **dict.fromkeys(
        ("nc", "ncat", "netcat"), re.compile(r"-[A-Za-z]*[ec].*|--(?:exec|sh-exec|lua-exec).*")
    ),
    **dict.fromkeys(("apt", "apt-get", "aptitude"), re.compile(r"-[oc].*|--opt.*|--conf.*")),
    **dict.fromkeys(
        ("latex", "pdflatex", "xelatex", "lualatex", "tex"),
        re.compile(r"--?(?:shell-escape|enable-write18|shell-restricted).*"),
    ),
    "cpio": re.compile(r"--rs.*"),
    "fzf": re.compile(r"--(?:preview|bind|become|with-shell|listen).*"),
    "lftp": re.compile(r"-[cef].*"),
    "openssl": re.compile(r"engine|-engine|-provider-path"),
    "rpm": re.compile(r"--ev.*|--pipe.*|-E.*|--def.*|--rcfile.*|--load.*"),
    "go": re.compile(r"-exec.*|-toolexec.*|generate"),
    "cargo": re.compile(r"--config.*"),
    "sqlite3": re.compile(r".*\.(?:shell|system|load|read).*|.*\|.*", re.DOTALL),
    "psql": re.compile(r".*\\.*", re.DOTALL),
    "mysql": re.compile(r".*(?:\\!|system).*", re.DOTALL),
    "dc": re.compile(r".*!.*", re.DOTALL),
    "less": re.compile(r"\+.*|-[A-Za-z]*[kK].*"),
    "wget": re.compile(r"--use-a.*|--conf.*|-[A-Za-z]*e.*|--exe.*"),
    "curl": re.compile(r"-[A-Za-z]*K.*|--conf.*"),
    "busctl": re.compile(r"call"),
}
"""Arguments that name a program, a script or a configuration that can.

Most programs take any unambiguous beginning of a long option, so the shortest one is written here.
"""

GIT_RUNS: dict[str, re.Pattern[str]] = {
    "rebase": re.compile(r"-x.*|--ex.*|-[A-Za-z]*i|--int.*"),
    "bisect": re.compile(r"run|visualize|view"),
    "submodule": re.compile(r"foreach"),
    "filter-branch": re.compile(r".*", re.DOTALL),
    "difftool": re.compile(r".*", re.DOTALL),
    "mergetool": re.compile(r".*", re.DOTALL),
    "grep": re.compile(r"-[A-Za-dg-z0-9]*O.*|--op.*"),
    "push": re.compile(r"--rece.*|--e.*"),
    "fetch": re.compile(r"--upl.*"),
    "pull": re.compile(r"--upl.*"),
    "clone": re.compile(r"--up.*|-[A-Za-z]*[uc].*|--co.*|--te.*"),
    "init": re.compile(r"--te.*"),
    "ls-remote": re.compile(r"--up.*|--exe.*"),
    "archive": re.compile(r"--e.*|--r.*|-[A-Za-z]*o.*"),
    "fetch-pack": re.compile(r"--upl.*|--exe.*"),
    "send-pack": re.compile(r"--rece.*|--exe.*"),
    "for-each-repo": re.compile(r".*", re.DOTALL),
    "remote-ext": re.compile(r".*", re.DOTALL),
    "send-email": re.compile(r".*", re.DOTALL),
    "instaweb": re.compile(r".*", re.DOTALL),
    "hook": re.compile(r".*", re.DOTALL),
    "config": re.compile(
        r"(?i)(?:alias|include|includeif|core|filter|credential|gpg|hook|trailer|protocol)\..*"
        r"|.*(?:pager|editor|command|tool|program|helper|textconv|driver|cmd|proxy|clean|smudge"
        r"|hookspath|uploadpack|receivepack|askpass|extdiff|insteadof|-e|--edit)"
    ),
    **dict.fromkeys(
        (
            *("log", "diff", "show", "stash", "whatchanged", "format-patch", "reflog"),
            *("diff-tree", "diff-index", "diff-files"),
        ),
        re.compile(r"--ext.*|--textc.*"),
    ),
}
"""Arguments of git subcommands that run or set a program, or write a file; cut short as well."""

GIT_RUNS_ANYWHERE = re.compile(r"ext::.*|--[a-z-]+=ext::.*|--ou.*", re.DOTALL)
"""A remote repository that is a command, whatever the subcommand does with it."""

GIT_OPTIONS = re.compile(
    r"-c|-c.+|--config-env.*|--exec-path=.*|-p|--paginate|--git-dir.*|--work-tree.*"
)
"""Options before the subcommand by which git takes configuration or another place for programs."""

GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
"""Options before the subcommand that take the next word."""

GIT_HARMLESS_SETTING = re.compile(
    r"(?i)(?:user\.(?:name|email)|color\.\w+|advice\.\w+|core\.quotepath)=.*"
)

AWK_RUNS = re.compile(r"^-[lif]|^--(?:load|include|file|exec)|system|[|@]|getline")
"""What an awk program needs to run a command or read a file."""

AWK_WRITES = re.compile(r"\{.*>", re.DOTALL)
"""Only a statement can write; a `>` in front of every brace compares, as in `NR>1`."""

SED_PLAIN = re.compile(
    r"(?:(?:\d+|\$|/[^/\\;]*/)(?:,(?:\d+|\$|/[^/\\;]*/))?\s*!?\s*)?"
    r"(?:[pdq=]|s(?P<mark>[/|#,:@])(?:(?!(?P=mark))[^\\\n]|\\.)*(?P=mark)(?:(?!(?P=mark))[^\\\n]|\\.)*"
    r"(?P=mark)[gpiI0-9]*)"
)
"""One sed instruction that neither runs a command nor opens a file."""
