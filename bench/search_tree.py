"""A tree of source-like files to search in: the same for every run of the same size."""

import random
from pathlib import Path

ENDINGS = (".py", ".ts", ".md", ".json", ".c", ".h", ".txt", ".rs")
RARE = "needle_in_few_files"
SOME = "def handle_"
"""In every twentieth file."""
COMMON = "e"
BELOW = (12, 8, 6, 4, 3)
"""Directories in a directory, by depth."""
MANY_FILES = 90_000


def make_tree(root: Path, files: int) -> int:
    """Make it; how many bytes it holds."""
    dice = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(3, 10))) for _ in range(3000)]
    text = "\n".join(" ".join(dice.choices(words, k=dice.randint(4, 12))) for _ in range(60_000))
    pool, total = text.encode(), 0
    folders = [*_folders(root, dice, words, files)]
    for number in range(files):
        size = min(int(dice.lognormvariate(8.75, 1.1)), 400_000)
        start = dice.randrange(len(pool) - size)
        content = pool[start : start + size] + b"\n"
        if number % (files // 3) == 7:
            content += f"{RARE}\n".encode()
        if number % 20 == 3:
            content += f"{SOME}{number}(request):\n".encode()
        name = f"{dice.choice(words)}_{number}{dice.choice(ENDINGS)}"
        (dice.choice(folders) / name).write_bytes(content)
        total += len(content)
    return total


def _folders(root: Path, dice: random.Random, words: list[str], files: int) -> list[Path]:
    depth = 5 if files >= MANY_FILES else 3
    found = level = [root]
    for count in BELOW[:depth]:
        level = [above / f"{dice.choice(words)}{at}" for above in level for at in range(count)]
        for folder in level:
            folder.mkdir()
        found = [*found, *level]
    return found
