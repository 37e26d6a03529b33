"""Measure the stance classifier on labelled pairs of claim and evidence: macro-F1 of supports and contradicts.

    python -m benchmarks.stance FOLDER [--semantic MODEL]

FOLDER holds questions.jsonl. Each line has the claim as the question, evidence with quotes, and "SUPPORTS" or
"REFUTES" as the answer.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from marchwarden.evidence.ranking.semantic import SemanticModel
from marchwarden.evidence.stance import StanceClassifier
from marchwarden.text.words import WordStemmer

_BRACKETS = re.compile(r"-[LR][RSC]B-|``|''")


@dataclass(frozen=True)
class Pair:
    claim: str
    evidence: str
    supports: bool


@dataclass(frozen=True)
class Prediction:
    predicted: bool
    actual: bool


def load_pairs(folder: Path) -> list[Pair]:
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [
        Pair(
            _BRACKETS.sub(" ", row["question"]),
            _BRACKETS.sub(" ", " ".join(each["quote"] for each in row["evidence"])),
            row["answers"][0].upper().startswith("SUPPORT"),
        )
        for row in rows
        if row["answers"][0].upper().startswith(("SUPPORT", "REFUTE", "CONTRADICT"))
    ]


def macro_f1(predictions: Sequence[Prediction]) -> float:
    return sum(_f1(predictions, label=label) for label in (True, False)) / 2


def _f1(predictions: Sequence[Prediction], *, label: bool) -> float:
    right = sum(each.predicted == each.actual == label for each in predictions)
    predicted, actual = (
        sum(each.predicted == label for each in predictions),
        sum(each.actual == label for each in predictions),
    )
    return 2 * right / (predicted + actual) if right else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--semantic", type=Path)
    args = parser.parse_args()
    classifier = StanceClassifier(WordStemmer(), SemanticModel(args.semantic) if args.semantic else None)
    pairs = load_pairs(args.folder)
    predictions = [
        Prediction(classifier.classify(each.claim, each.evidence).stance == "supports", each.supports) for each in pairs
    ]
    print(f"{len(pairs)} pairs  macro-F1 {macro_f1(predictions):.3f}")


if __name__ == "__main__":
    main()
