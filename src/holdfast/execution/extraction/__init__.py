"""Foreign bytes, parsed: pages, documents and pictures, each by a process that can do nothing else.

`parsers` starts such processes and asks them; `worker` and what it loads run inside of one.
"""
