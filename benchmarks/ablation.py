"""What each part of the embedded mind adds: suites asked with every part, then with one part at a time switched off.

    python -m benchmarks.ablation SUITE... [--limit N] [--seed N] [--semantic MODEL] [--only PART...]

A suite is a folder with docs.jsonl and questions.jsonl. A difference is what a figure does without the part: below
zero, the part helps. Its interval holds 95 of 100 resampled differences over the same questions; a star marks one that
leaves zero out. The signs of an answer are taken apart one by one by benchmarks.matching.

A part is switched off by setting constants and functions of the mind's modules and putting them back. That is a tool
for an experiment in a process of its own, and nothing the product does or knows of.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

import anyio

from marchwarden.evaluation.compare import Difference, compared
from marchwarden.evaluation.judge import Judge, Judgement
from marchwarden.evaluation.suite import Question, Suite
from marchwarden.evidence.ranking.semantic import Meaning, Similarity
from marchwarden.minds.extractive import ExtractiveMind, queries, scoring, statements
from marchwarden.minds.extractive import answer as choosing
from marchwarden.minds.extractive import document_boost as company
from marchwarden.minds.extractive.code_blocks import Examples
from marchwarden.minds.extractive.lists import Lists
from marchwarden.minds.extractive.rows import Rows
from marchwarden.researchers.files import FilesResearcher

FIGURES: Final = ("answer_said", "all_gold_documents_cited", "abstention_auroc")


@dataclass(frozen=True)
class Switch:
    """A name of a module or a function, and what it stands for while its part is off."""

    place: ModuleType | Callable[..., object]
    name: str
    off: object


def _no(*_given: object) -> bool:
    return False


def _nothing(*_given: object) -> None:
    return None


def _none(*_given: object) -> tuple[object, ...]:
    return ()


def _nothing_known(*_given: object) -> Mapping[str, tuple[str, ...]]:
    return {}


MEANING: Final = "meaning"
UNHEARD: Final = 1e9
PARTS: Final[Mapping[str, tuple[Switch, ...]]] = {
    "company": (Switch(company, "GOOD_DOCUMENT", 0.0), Switch(company, "TITLE_ASKED_FOR", 0.0)),
    "kind of answer": (Switch(scoring, "RIGHT_KIND", 0.0),),
    "opening sentence": (Switch(scoring, "OPENING", 0.0),),
    "order of words": (Switch(scoring, "IN_ORDER", 0.0),),
    "passage around": (Switch(scoring, "AROUND", 0.0), Switch(scoring, "STANDING", 0.0)),
    "second hop": (Switch(choosing, "leaves_open", _no), Switch(queries, "leaves_open", _no)),
    "antecedents": (Switch(choosing, "spoken_of", _none),),
    "abbreviations": (Switch(statements, "abbreviations", _nothing_known),),
    "first lines": (Switch(statements, "FIRST_LINES", 0),),
    "rows": (Switch(Rows, "said", _nothing), Switch(Rows, "is_heading", _no)),
    "lists": (Switch(Lists, "said", _nothing), Switch(Lists, "is_told", _no)),
    "examples": (Switch(Examples, "said", _nothing), Switch(Examples, "is_told", _no)),
    # The share that makes a document worth hearing is this function's default: nothing has so large a one.
    "other documents": (Switch(choosing._voices, "__defaults__", (UNHEARD,)),),  # noqa: SLF001
}


@contextmanager
def without(switches: Sequence[Switch]) -> Iterator[None]:
    """The modules with these names set, and put back whatever happens. A name that is not there is an error."""
    with ExitStack() as back:
        for switch in switches:
            back.callback(setattr, switch.place, switch.name, getattr(switch.place, switch.name))
            setattr(switch.place, switch.name, switch.off)
        yield


async def judged(
    suite: Suite, asked: Sequence[Question], place: Path, similarity: Similarity | None
) -> tuple[Judgement, ...]:
    """Every question put to the embedded mind as it is now."""
    judge, mind = Judge(suite), ExtractiveMind(similarity)
    folder = suite.laid_out(place / "suites")
    researcher = FilesResearcher(folder, mind=mind, trace_dir=place / "traces", index_dir=place / "index")
    return tuple([judge.judged(question, await researcher.research(question.asked)) for question in asked])


async def taken_apart(
    suite: Suite, asked: Sequence[Question], parts: Sequence[str], similarity: Similarity | None
) -> dict[str, dict[str, Difference]]:
    """For each part the differences of the figures without it, by their names."""
    found: dict[str, dict[str, Difference]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        whole = await judged(suite, asked, place, similarity)
        for part in parts:
            print(f"{suite.name}: {len(asked)} questions without {part}", file=sys.stderr, flush=True)
            with without(PARTS.get(part, ())):
                lesser = await judged(suite, asked, place, None if part == MEANING else similarity)
            told = {each.name: each for each in compared(whole, lesser).differences}
            found[part] = {name: told[name] for name in FIGURES if name in told}
    return found


def table(suite: Suite, count: int, found: Mapping[str, Mapping[str, Difference]]) -> Iterator[str]:
    """In Markdown, as the wiki shows it."""
    names = [name for name in FIGURES if any(name in figures for figures in found.values())]
    yield f"| {suite.name}, {count} questions | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    first = next(iter(found.values()))
    yield "| with everything | " + " | ".join(f"{first[name].before:.3f}" for name in names) + " |"
    for part, figures in found.items():
        yield f"| without {part} | " + " | ".join(_change(figures[name]) for name in names) + " |"
    yield ""


def _change(each: Difference) -> str:
    return f"{each.change:+.3f} [{each.low:+.3f}, {each.high:+.3f}]{'*' if each.is_clear else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--semantic", type=Path, help="a folder with a semantic model")
    parser.add_argument("--only", nargs="+", choices=[*PARTS, MEANING], default=[], metavar="PART")
    given = parser.parse_args()
    similarity = Meaning(given.semantic) if given.semantic else None
    parts = [*PARTS, MEANING] if similarity else [*PARTS]
    for name in given.suites:
        suite = Suite.load(name)
        asked = suite.sample(given.limit, given.seed)
        chosen = [part for part in parts if part in given.only or not given.only]
        found = anyio.run(taken_apart, suite, asked, chosen, similarity)
        print("\n".join(table(suite, len(asked), found)), flush=True)


if __name__ == "__main__":
    main()
