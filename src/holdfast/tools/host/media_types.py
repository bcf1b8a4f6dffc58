"""The media type of a file, by its name alone: the same on every machine."""

_TYPES = {
    "avif": "image/avif", "bmp": "image/bmp", "c": "text/x-c", "cpp": "text/x-c++",
    "css": "text/css", "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "gif": "image/gif", "go": "text/x-go", "gz": "application/gzip", "htm": "text/html",
    "html": "text/html", "ico": "image/vnd.microsoft.icon", "ipynb": "application/x-ipynb+json",
    "java": "text/x-java", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
    "json": "application/json", "jsonl": "application/jsonl", "log": "text/plain",
    "md": "text/markdown", "mjs": "text/javascript", "mov": "video/quicktime", "mp3": "audio/mpeg",
    "mp4": "video/mp4", "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "py": "text/x-python", "rs": "text/x-rust", "rtf": "application/rtf",
    "sh": "application/x-sh", "sql": "application/sql", "svg": "image/svg+xml",
    "tar": "application/x-tar", "tex": "application/x-tex", "tiff": "image/tiff",
    "toml": "application/toml", "ts": "text/typescript", "tsv": "text/tab-separated-values",
    "txt": "text/plain", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
    "zip": "application/zip",
}  # fmt: skip

DIRECTORY = "inode/directory"
BYTES = "application/octet-stream"
TEXT = "text/plain"


def media_type(name: str, otherwise: str) -> str:
    """By the ending of a name."""
    stem, dot, ending = name.rpartition(".")
    return _TYPES.get(ending.lower(), otherwise) if dot and stem else otherwise
