"""Compare the extraction of main text from web pages with trafilatura alone, over the same pages.

    python -m benchmarks.extraction FOLDER

FOLDER holds `ground-truth.json`, {page: {"articleBody": text}}, and `html/<page>.html.gz`. Precision and recall count
sequences of four words per page and are averaged over the pages; F1 is computed from the two averages. Titles and dates
count as found if the page has them; they are not checked. `--check` exits with code 1 if Marchwarden falls behind.
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
from marchwarden.extraction.charset import decode
from marchwarden.researchers.web.walls import refuse_wall

NGRAM = 4
UNTITLED = "page"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class GoldPage:
    """A page and its manually extracted text."""

    content: bytes
    text: str


@dataclass(frozen=True)
class Score:
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / ((self.precision + self.recall) or 1)


def word_ngrams(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[at : at + NGRAM]) for at in range(max(len(words) - NGRAM + 1, min(len(words), 1))))


def score(gold: str, found: str) -> Score:
    wanted, got = word_ngrams(gold), word_ngrams(found)
    shared = (wanted & got).total()
    return Score(shared / got.total() if got else float(not wanted), shared / wanted.total() if wanted else 1.0)


def average_score(scores: Sequence[Score]) -> Score:
    return Score(statistics.fmean(each.precision for each in scores), statistics.fmean(each.recall for each in scores))


def extract_main_text(content: bytes) -> Extracted:
    try:
        return extract(content, f"{UNTITLED}.html")
    except SourceError:
        return Extracted("")


def extract_with_trafilatura(content: bytes, *, precise: bool) -> Extracted:
    text = trafilatura.extract(decode(content), include_comments=False, favor_precision=precise)
    return Extracted(text or "")


EXTRACTORS: dict[str, Callable[[bytes], Extracted]] = {
    "marchwarden": extract_main_text,
    "trafilatura": lambda content: extract_with_trafilatura(content, precise=False),
    "trafilatura, precise": lambda content: extract_with_trafilatura(content, precise=True),
}


def load_pages(folder: Path) -> list[GoldPage]:
    ground_truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        GoldPage(gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()), each["articleBody"])
        for name, each in ground_truth.items()
    ]


def is_wall(page: Extracted) -> bool:
    try:
        refuse_wall(page)
    except SourceError:
        return True
    return False


def measure(gold_pages: Sequence[GoldPage]) -> bool:
    scores: dict[str, Score] = {}
    print(f"{len(gold_pages)} pages            F1   precision  recall  ms/page")
    for name, read in EXTRACTORS.items():
        began = time.perf_counter()
        found = [read(each.content) for each in gold_pages]
        took = (time.perf_counter() - began) * 1000 / len(gold_pages)
        scores[name] = average_score(
            [score(gold.text, each.text) for gold, each in zip(gold_pages, found, strict=True)]
        )
        print(
            f"{name:20} {scores[name].f1:.4f} {scores[name].precision:9.4f} {scores[name].recall:8.4f} {took:8.0f}",
            flush=True,
        )
        if name == "marchwarden":
            own = found
    shares = {
        "title found": sum(each.title not in ("", UNTITLED) for each in own),
        "date found": sum(each.published is not None for each in own),
        "author found": sum(bool(each.author) for each in own),
        "classified as wall": sum(map(is_wall, own)),
    }
    print("\n".join(f"{what:20} {count} ({count / len(own):.1%})" for what, count in shares.items()))
    return all(scores["marchwarden"].f1 >= each.f1 for each in scores.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not measure(load_pages(options.folder)) and options.check:
        sys.exit("Marchwarden is behind trafilatura")


if __name__ == "__main__":
    main()
