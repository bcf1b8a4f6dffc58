"""What a file is by its name alone: its language, or binary, or what it tells of a project.

Tables only.
"""

from typing import Literal

MarkerKind = Literal["readme", "instructions", "build", "entry_point", "container", "licence", "ci"]

LANGUAGES = {
    "py": "Python", "pyi": "Python", "pyx": "Cython", "ipynb": "Jupyter Notebook",
    "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "jsx": "JavaScript",
    "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "vue": "Vue",
    "svelte": "Svelte", "go": "Go", "rs": "Rust", "c": "C", "h": "C", "cc": "C++",
    "cpp": "C++", "cxx": "C++", "hpp": "C++", "hh": "C++", "cs": "C#", "java": "Java",
    "kt": "Kotlin", "kts": "Kotlin", "scala": "Scala", "groovy": "Groovy", "swift": "Swift",
    "m": "Objective-C", "mm": "Objective-C++", "rb": "Ruby", "php": "PHP", "pl": "Perl",
    "pm": "Perl", "lua": "Lua", "r": "R", "jl": "Julia", "ex": "Elixir", "exs": "Elixir",
    "erl": "Erlang", "hs": "Haskell", "ml": "OCaml", "mli": "OCaml", "fs": "F#", "clj": "Clojure",
    "dart": "Dart", "zig": "Zig", "nim": "Nim", "sh": "Shell", "bash": "Shell", "zsh": "Shell",
    "ps1": "PowerShell", "sql": "SQL", "html": "HTML", "htm": "HTML", "css": "CSS", "scss": "SCSS",
    "sass": "Sass", "less": "Less", "xml": "XML", "json": "JSON", "jsonl": "JSON", "yaml": "YAML",
    "yml": "YAML", "toml": "TOML", "ini": "INI", "cfg": "INI", "md": "Markdown", "mdx": "Markdown",
    "rst": "reStructuredText", "txt": "Text", "tex": "TeX", "proto": "Protocol Buffers",
    "graphql": "GraphQL", "tf": "Terraform", "nix": "Nix", "cmake": "CMake", "asm": "Assembly",
    "s": "Assembly", "csv": "CSV", "tsv": "TSV", "svg": "SVG",
}  # fmt: skip

BY_NAME = {
    "makefile": "Makefile", "gnumakefile": "Makefile", "dockerfile": "Dockerfile",
    "containerfile": "Dockerfile", "cmakelists.txt": "CMake", "rakefile": "Ruby",
    "gemfile": "Ruby", "justfile": "Just", "jenkinsfile": "Groovy",
}  # fmt: skip

BINARY = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "avif", "tif", "tiff", "psd", "pdf",
        "zip", "gz", "bz2", "xz", "zst", "7z", "rar", "tar", "tgz", "jar", "war", "whl", "egg",
        "exe", "dll", "so", "dylib", "a", "o", "obj", "lib", "class", "pyc", "pyo", "pyd", "wasm",
        "bin", "dat", "db", "sqlite", "sqlite3", "mp3", "mp4", "wav", "ogg", "flac", "mov", "avi",
        "mkv", "webm", "woff", "woff2", "ttf", "otf", "eot", "doc", "docx", "xls", "xlsx", "ppt",
        "pptx", "parquet", "npy", "npz", "pkl", "onnx", "pt", "pth", "safetensors", "gguf", "iso",
        "dmg", "deb", "rpm", "apk", "node",
    }
)  # fmt: skip

OTHER = "Other"

_STEMS: dict[str, MarkerKind] = {
    "readme": "readme", "license": "licence", "licence": "licence", "copying": "licence",
}  # fmt: skip
_OF_TEXTS = frozenset({"", "md", "txt", "rst", "adoc", "org"})
_NAMES: dict[str, MarkerKind] = {
    "agents.md": "instructions", "claude.md": "instructions", "contributing.md": "instructions",
    ".cursorrules": "instructions", "pyproject.toml": "build", "setup.py": "build",
    "setup.cfg": "build", "requirements.txt": "build", "package.json": "build",
    "tsconfig.json": "build", "deno.json": "build", "cargo.toml": "build", "go.mod": "build",
    "pom.xml": "build", "build.gradle": "build", "build.gradle.kts": "build",
    "cmakelists.txt": "build", "meson.build": "build", "makefile": "build", "justfile": "build",
    "gemfile": "build", "composer.json": "build", "mix.exs": "build", "build.zig": "build",
    "flake.nix": "build", "tox.ini": "build", "noxfile.py": "build", "dockerfile": "container",
    "containerfile": "container", "docker-compose.yml": "container",
    "docker-compose.yaml": "container", "compose.yaml": "container", "compose.yml": "container",
    ".gitlab-ci.yml": "ci", "jenkinsfile": "ci",
    ".travis.yml": "ci", "__main__.py": "entry_point", "main.py": "entry_point",
    "app.py": "entry_point", "manage.py": "entry_point", "wsgi.py": "entry_point",
    "asgi.py": "entry_point", "index.js": "entry_point", "index.ts": "entry_point",
    "main.ts": "entry_point", "main.js": "entry_point", "server.js": "entry_point",
    "main.go": "entry_point", "main.rs": "entry_point", "lib.rs": "entry_point",
    "main.c": "entry_point", "main.cpp": "entry_point", "program.cs": "entry_point",
    "main.java": "entry_point", "index.html": "entry_point", "index.php": "entry_point",
}  # fmt: skip


def language_of(name: str) -> str | None:
    """The language of a file; None: it is binary."""
    lowered = name.lower()
    known = BY_NAME.get(lowered)
    if known is not None:
        return known
    stem, dot, ending = lowered.rpartition(".")
    if not dot or not stem:
        return OTHER
    return None if ending in BINARY else LANGUAGES.get(ending, OTHER)


def marker_of(path: str) -> MarkerKind | None:
    """What a file tells of the project it is in."""
    lowered = path.lower()
    if "/.github/workflows/" in f"/{lowered}":
        return "ci"
    name = lowered.rpartition("/")[2]
    if name in _NAMES:
        return _NAMES[name]
    stem, _, ending = name.partition(".")
    return _STEMS.get(stem.partition("-")[0]) if ending in _OF_TEXTS else None
