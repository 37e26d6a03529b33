"""A small folder of documents for tests that read files."""

from pathlib import Path

PAGES = {
    "bridge.md": "# The Alder Bridge\n\nThe Alder Bridge was opened in 1931 by the engineer Maud Ferris.\n\n"
    "It carries two lanes of traffic over the river Senn.\n",
    "people/ferris.txt": "Maud Ferris\n\nMaud Ferris was an engineer from Dorn. She opened the Alder Bridge in 1931.\n",
    "soup.rst": "Soup\n====\n\nA good soup needs an onion, a carrot and patience.\n",
    "tolls.csv": "year,crowns\n1931,1200\n1932,1350\n",
}


def a_folder(at: Path) -> Path:
    for name, text in PAGES.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text, encoding="utf-8")
    return at
