"""Distinct questions for the test world, each with few sources."""

import json
from pathlib import Path

QUESTIONS = (
    "How long is the main span of the Alder Bridge?",
    "When was the Alder Bridge opened to traffic?",
    "Who designed the Alder Bridge?",
    "How many vehicles cross the Alder Bridge each day?",
    "How high did the river Senn rise in 1954?",
    "How long is the river Senn?",
    "What did the Alder Bridge cost to build?",
    "When was the weir at Dorn rebuilt?",
)
LIMITS = {"max_iterations": 1, "max_sources": 2, "token_budget": 12_000}


def question(number: int) -> str:
    return f"{QUESTIONS[number % len(QUESTIONS)]} (inquiry {number})"


def write_questions(path: Path, count: int) -> Path:
    lines = [json.dumps({"id": at, "question": question(at), "constraints": LIMITS}) for at in range(count)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
