"""Measure what each part of the extractive mind contributes by switching one part off at a time.

    python -m benchmarks.ablation SUITE... [--limit N] [--seed N] [--semantic MODEL] [--only PART...]

A suite is a folder with docs.jsonl and questions.jsonl. Each value is the change of a figure without the part: if it is
negative, the part helps. Brackets contain the 95 % interval over resampled questions; a star marks intervals without
zero. benchmarks.matching measures the individual signs of an answer.

Parts are switched off by patching constants and functions in the modules of the mind. The product itself has no such
switches.
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

from marchwarden.evaluation.compare import Difference, compare_judgements
from marchwarden.evaluation.judge import Judge, Judgement
from marchwarden.evaluation.suite import Suite, SuiteQuestion
from marchwarden.evidence.ranking.semantic import SemanticModel, Similarity
from marchwarden.minds.extractive import ExtractiveMind, answer, document_boost, queries, scoring, statements
from marchwarden.minds.extractive.code_blocks import CodeExamples
from marchwarden.minds.extractive.lists import IntroducedLists
from marchwarden.minds.extractive.rows import TableRows
from marchwarden.researchers.files import FilesResearcher

FIGURES: Final = ("answer_said", "all_gold_documents_cited", "abstention_auroc")


@dataclass(frozen=True)
class Switch:
    """An attribute of a module or function, and its value while the part is off."""

    target: ModuleType | Callable[..., object]
    name: str
    off: object


def _return_false(*_args: object) -> bool:
    return False


def _return_none(*_args: object) -> None:
    return None


def _return_empty(*_args: object) -> tuple[object, ...]:
    return ()


def _return_no_abbreviations(*_args: object) -> Mapping[str, tuple[str, ...]]:
    return {}


MEANING: Final = "meaning"
UNREACHABLE: Final = 1e9
PARTS: Final[Mapping[str, tuple[Switch, ...]]] = {
    "document boost": (Switch(document_boost, "DOCUMENT_WEIGHT", 0.0), Switch(document_boost, "TITLE_WEIGHT", 0.0)),
    "answer type": (Switch(scoring, "TYPE_WEIGHT", 0.0),),
    "opening sentence": (Switch(scoring, "FIRST_SENTENCE_WEIGHT", 0.0),),
    "word order": (Switch(scoring, "ORDER_WEIGHT", 0.0),),
    "context": (Switch(scoring, "PASSAGE_WEIGHT", 0.0), Switch(scoring, "FREQUENCY_WEIGHT", 0.0)),
    "second hop": (
        Switch(answer, "needs_second_hop", _return_false),
        Switch(queries, "needs_second_hop", _return_false),
    ),
    "antecedents": (Switch(answer, "find_antecedent", _return_empty),),
    "abbreviations": (Switch(statements, "find_abbreviations", _return_no_abbreviations),),
    "first lines": (Switch(statements, "FIRST_LINES", 0),),
    "rows": (Switch(TableRows, "composition_for", _return_none), Switch(TableRows, "is_included", _return_false)),
    "lists": (
        Switch(IntroducedLists, "composition_for", _return_none),
        Switch(IntroducedLists, "is_included", _return_false),
    ),
    "examples": (
        Switch(CodeExamples, "composition_for", _return_none),
        Switch(CodeExamples, "is_included", _return_false),
    ),
    # The minimum score of another document is a default argument. No document reaches this value.
    "other documents": (Switch(answer._best_per_document, "__defaults__", (UNREACHABLE,)),),  # noqa: SLF001
}


@contextmanager
def without(switches: Sequence[Switch]) -> Iterator[None]:
    """Patch the attributes and always restore them. Raises `AttributeError` if one does not exist."""
    with ExitStack() as stack:
        for switch in switches:
            stack.callback(setattr, switch.target, switch.name, getattr(switch.target, switch.name))
            setattr(switch.target, switch.name, switch.off)
        yield


async def judge_all(
    suite: Suite, questions: Sequence[SuiteQuestion], place: Path, similarity: Similarity | None
) -> tuple[Judgement, ...]:
    """Ask the extractive mind every question and judge the results."""
    judge, mind = Judge(suite), ExtractiveMind(similarity)
    folder = suite.write_documents(place / "suites")
    researcher = FilesResearcher(folder, mind=mind, trace_dir=place / "traces", index_dir=place / "index")
    return tuple([judge.judge(question, await researcher.research(question.text)) for question in questions])


async def ablate(
    suite: Suite, questions: Sequence[SuiteQuestion], parts: Sequence[str], similarity: Similarity | None
) -> dict[str, dict[str, Difference]]:
    """Return the change of every figure without each part."""
    found: dict[str, dict[str, Difference]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        baseline = await judge_all(suite, questions, place, similarity)
        for part in parts:
            print(f"{suite.name}: {len(questions)} questions without {part}", file=sys.stderr, flush=True)
            with without(PARTS.get(part, ())):
                ablated = await judge_all(suite, questions, place, None if part == MEANING else similarity)
            differences = {each.name: each for each in compare_judgements(baseline, ablated).differences}
            found[part] = {name: differences[name] for name in FIGURES if name in differences}
    return found


def render_table(suite: Suite, count: int, found: Mapping[str, Mapping[str, Difference]]) -> Iterator[str]:
    """Render the Markdown table shown in the wiki."""
    names = [name for name in FIGURES if any(name in figures for figures in found.values())]
    yield f"| {suite.name}, {count} questions | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    first = next(iter(found.values()))
    yield "| all parts | " + " | ".join(f"{first[name].before:.3f}" for name in names) + " |"
    for part, figures in found.items():
        yield f"| without {part} | " + " | ".join(_render_change(figures[name]) for name in names) + " |"
    yield ""


def _render_change(each: Difference) -> str:
    return f"{each.change:+.3f} [{each.low:+.3f}, {each.high:+.3f}]{'*' if each.is_clear else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--semantic", type=Path, help="folder with a semantic model")
    parser.add_argument("--only", nargs="+", choices=[*PARTS, MEANING], default=[], metavar="PART")
    options = parser.parse_args()
    similarity = SemanticModel(options.semantic) if options.semantic else None
    parts = [*PARTS, MEANING] if similarity else [*PARTS]
    for name in options.suites:
        suite = Suite.load(name)
        questions = suite.sample(options.limit, options.seed)
        selected = [part for part in parts if part in options.only or not options.only]
        found = anyio.run(ablate, suite, questions, selected, similarity)
        print("\n".join(render_table(suite, len(questions), found)), flush=True)


if __name__ == "__main__":
    main()
