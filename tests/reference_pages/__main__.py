"""Write the pages again: `PYTHONPATH=tests python -m reference_pages`."""

from reference_pages.pages import FOLDER, pages

FOLDER.mkdir(exist_ok=True)
for name, text in pages().items():
    (FOLDER / name).write_text(text, "utf-8")
