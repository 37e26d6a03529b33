"""The main text of web pages: ours beside the library it is built on, called alone, in one run over the same pages.

    python -m benchmarks.extraction FOLDER

FOLDER holds `ground-truth.json`, {page: {"articleBody": text}}, and `html/<page>.html.gz`. Precision and recall count
runs of four words, page by page, and are averaged over the pages; F1 is made of the two averages. A found title or date
is one that the page gave, not one that was checked. `--check` exits with 1 when ours falls behind.
"""

import argparse
import gzip
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import trafilatura

from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, extract
from marchwarden.extraction.charset import decoded
from marchwarden.researchers.web.walls import refuse_wall

RUN = 4
UNTITLED = "page"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Gold:
    """A page and the text a person took from it."""

    content: bytes
    text: str


@dataclass(frozen=True)
class Score:
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / ((self.precision + self.recall) or 1)


def runs_of_words(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[at : at + RUN]) for at in range(max(len(words) - RUN + 1, min(len(words), 1))))


def score(gold: str, found: str) -> Score:
    wanted, got = runs_of_words(gold), runs_of_words(found)
    shared = (wanted & got).total()
    return Score(shared / got.total() if got else float(not wanted), shared / wanted.total() if wanted else 1.0)


def averaged(scores: Sequence[Score]) -> Score:
    return Score(statistics.fmean(each.precision for each in scores), statistics.fmean(each.recall for each in scores))


def ours(content: bytes) -> Extracted:
    try:
        return extract(content, f"{UNTITLED}.html")
    except SourceError:
        return Extracted("")


def alone(content: bytes, *, precise: bool) -> Extracted:
    text = trafilatura.extract(decoded(content), include_comments=False, favor_precision=precise)
    return Extracted(text or "")


READERS: dict[str, Callable[[bytes], Extracted]] = {
    "ours": ours,
    "trafilatura alone": lambda content: alone(content, precise=False),
    "the same, precise": lambda content: alone(content, precise=True),
}


def pages(folder: Path) -> list[Gold]:
    described = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        Gold(gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()), each["articleBody"])
        for name, each in described.items()
    ]


def is_wall(page: Extracted) -> bool:
    try:
        refuse_wall(page)
    except SourceError:
        return True
    return False


def measure(golden: Sequence[Gold]) -> bool:
    scores: dict[str, Score] = {}
    print(f"{len(golden)} pages            F1   precision  recall  ms a page")
    for name, read in READERS.items():
        began = time.perf_counter()
        found = [read(each.content) for each in golden]
        took = (time.perf_counter() - began) * 1000 / len(golden)
        scores[name] = averaged([score(gold.text, each.text) for gold, each in zip(golden, found, strict=True)])
        print(
            f"{name:20} {scores[name].f1:.4f} {scores[name].precision:9.4f} {scores[name].recall:8.4f} {took:8.0f}",
            flush=True,
        )
        if name == "ours":
            own = found
    shares = {
        "title found": sum(each.title not in ("", UNTITLED) for each in own),
        "date found": sum(each.published is not None for each in own),
        "author found": sum(bool(each.author) for each in own),
        "taken for a wall": sum(map(is_wall, own)),
    }
    print("\n".join(f"{what:20} {count} ({count / len(own):.1%})" for what, count in shares.items()))
    return all(scores["ours"].f1 >= each.f1 for each in scores.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if not measure(pages(given.folder)) and given.check:
        sys.exit("ours is behind")


if __name__ == "__main__":
    main()
