"""Facts about the flags of common programs, for `canonical`. Data only."""

LONG_FLAGS: dict[str, dict[str, str]] = {
    "rm": {
        "--force": "-f", "--recursive": "-r", "--dir": "-d", "--verbose": "-v",
        "--interactive": "-i", "--one-file-system": "--one-file-system",
        "--no-preserve-root": "--no-preserve-root", "--preserve-root": "--preserve-root",
    },
    "rmdir": {"--parents": "-p", "--verbose": "-v"},
    "mkdir": {"--parents": "-p", "--mode": "-m", "--verbose": "-v"},
    "chmod": {"--recursive": "-R", "--verbose": "-v", "--changes": "-c", "--quiet": "-f"},
    "chown": {"--recursive": "-R", "--verbose": "-v", "--changes": "-c", "--no-dereference": "-h"},
    "chgrp": {"--recursive": "-R", "--verbose": "-v", "--changes": "-c", "--no-dereference": "-h"},
    "cp": {
        "--force": "-f", "--recursive": "-r", "--archive": "-a", "--interactive": "-i",
        "--no-clobber": "-n", "--update": "-u", "--verbose": "-v", "--link": "-l",
        "--symbolic-link": "-s", "--target-directory": "-t", "--no-target-directory": "-T",
    },
    "mv": {
        "--force": "-f", "--interactive": "-i", "--no-clobber": "-n", "--update": "-u",
        "--verbose": "-v", "--target-directory": "-t", "--no-target-directory": "-T",
    },
    "ln": {"--symbolic": "-s", "--force": "-f", "--no-dereference": "-n", "--verbose": "-v"},
    "tee": {"--append": "-a"},
    "truncate": {"--size": "-s", "--no-create": "-c"},
    "shred": {"--remove": "-u", "--force": "-f", "--zero": "-z"},
    "kill": {"--signal": "-s"},
    "sed": {"--in-place": "-i", "--expression": "-e", "--quiet": "-n", "--silent": "-n"},
    "tar": {"--extract": "-x", "--get": "-x", "--create": "-c", "--file": "-f", "--list": "-t"},
    "curl": {
        "--data": "-d", "--request": "-X", "--output": "-o", "--remote-name": "-O",
        "--upload-file": "-T", "--form": "-F", "--header": "-H", "--config": "-K",
        "--insecure": "-k", "--location": "-L", "--silent": "-s", "--user": "-u",
    },
    "wget": {
        "--output-document": "-O", "--directory-prefix": "-P", "--quiet": "-q",
        "--recursive": "-r", "--input-file": "-i",
    },
    # For a pattern such as `git * --force`, where the subcommand is not known.
    "git *": {"--force": "-f", "--delete": "-d", "--message": "-m", "--all": "-a"},
    "git push": {
        "--force": "-f", "--delete": "-d", "--set-upstream": "-u", "--dry-run": "-n",
        "--verbose": "-v", "--quiet": "-q",
    },
    "git clean": {"--force": "-f", "--dry-run": "-n", "--quiet": "-q", "--exclude": "-e"},
    "git reset": {"--quiet": "-q", "--patch": "-p", "--hard": "--hard"},
    "git branch": {"--delete": "-d", "--force": "-f", "--move": "-m", "--copy": "-c"},
    "git tag": {"--delete": "-d", "--force": "-f", "--annotate": "-a", "--message": "-m"},
    "git commit": {"--message": "-m", "--all": "-a", "--no-verify": "-n", "--signoff": "-s"},
    "git checkout": {"--force": "-f", "--quiet": "-q"},
    "git switch": {"--create": "-c", "--discard-changes": "-f", "--force": "-f"},
    "git rm": {"--force": "-f", "--dry-run": "-n", "--cached": "--cached"},
    "git add": {"--all": "-A", "--force": "-f", "--update": "-u"},
    "git stash": {"--include-untracked": "-u", "--all": "-a"},
}  # fmt: skip
"""Long flags and the letter they stand for; one without a letter stands for itself."""

SAME_LETTERS: dict[str, dict[str, str]] = {"rm": {"-R": "-r"}, "cp": {"-R": "-r"}}
"""Letters that mean what another letter means."""

WITH_SUBCOMMAND = frozenset(
    [
        "apt",
        "apt-get",
        "brew",
        "cargo",
        "docker",
        "dnf",
        "gh",
        "git",
        "go",
        "helm",
        "kubectl",
        "npm",
        "pip",
        "pip3",
        "pnpm",
        "podman",
        "poetry",
        "snap",
        "systemctl",
        "terraform",
        "uv",
        "yarn",
        "yum",
    ]
)

OPTIONS_BEFORE_SUBCOMMAND: dict[str, frozenset[str]] = {
    "git": frozenset(
        [
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--super-prefix",
            "--config-env",
            "--attr-source",
        ]
    ),
    "docker": frozenset(["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"]),
    "kubectl": frozenset(
        ["-n", "--namespace", "--context", "--kubeconfig", "-s", "--server", "--cluster"]
    ),
    "npm": frozenset(["--prefix", "-w", "--workspace"]),
    "systemctl": frozenset(["-H", "--host", "-M", "--machine"]),
}
"""Options that take the next word, where they stand before the subcommand."""

SINGLE_DASH_WORDS = frozenset(
    ["ffmpeg", "find", "go", "java", "javac", "openssl", "terraform", "xcodebuild"]
)
"""Programs whose flags are whole words behind one dash."""
