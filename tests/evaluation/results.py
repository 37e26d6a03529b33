"""Small results, questions and suites for tests."""

import json
from pathlib import Path
from typing import Any

from marchwarden.contract import Citation, ConfidenceFactors, CostMetadata, Gap, GapCategory, ResearchResult
from marchwarden.evaluation.judge import Judgement
from marchwarden.evaluation.suite import Evidence, Suite, SuiteDocument, SuiteQuestion

BRIDGE = "The Alder Bridge was opened in 1931 by the engineer Maud Ferris."
SENN = "The Senn is 164 kilometres long."
DOCUMENTS = (
    SuiteDocument("bridge", f"{BRIDGE} It is green.", "The Alder Bridge"),
    SuiteDocument("senn", f"{SENN}\nIt rises in the Quarry Hills."),
)
QUESTIONS = (
    SuiteQuestion("q1", "When was the Alder Bridge opened?", ("1931",), (Evidence("bridge", BRIDGE),), True, "date"),
    SuiteQuestion("q2", "How long is the Senn?", ("164 kilometres",), (Evidence("senn", SENN),), True, "number"),
    SuiteQuestion("q3", "Who painted the Alder Bridge?", answerable=False, type="unanswerable"),
)
SUITE = Suite("small", "sha256:" + "0" * 64, DOCUMENTS, QUESTIONS)
NOTHING = Gap(topic="it", category=GapCategory.SOURCE_NOT_FOUND, detail="nothing")


def a_citation(excerpt: str, locator: str = "lib/d000000.txt", title: str | None = None, **more: Any) -> Citation:
    return Citation(source="file", locator=locator, raw_excerpt=excerpt, confidence=0.8, title=title, **more)


def a_result(
    answer: str = f"{BRIDGE} [1]",
    citations: tuple[Citation, ...] = (a_citation(BRIDGE),),
    confidence: float = 0.8,
    gaps: tuple[Gap, ...] = (),
    *,
    contradicted: bool = False,
    tokens: int = 0,
    seconds: float = 0.1,
) -> ResearchResult:
    return ResearchResult(
        answer=answer,
        citations=citations,
        gaps=gaps,
        confidence=confidence,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority="medium",
            contradiction_detected=contradicted,
            query_specificity_match=1.0,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=tokens, iterations_run=1, wall_time_sec=seconds, budget_exhausted=False, model_id="by-hand"
        ),
        trace_id="00000000-0000-4000-8000-000000000000",
    )


REFUSAL = a_result("The documents don't answer this question.", (), 0.1, (NOTHING,))


def a_judgement(question: SuiteQuestion = QUESTIONS[0], **changed: Any) -> Judgement:
    """A judgement of a flawless answer, except for the given fields."""
    known: dict[str, Any] = {
        "confidence": 0.8,
        "citations": 1,
        "verbatim": 1,
        "markers_valid": True,
        "statements": 1,
        "unsupported": 0,
        "gold_document": True,
        "all_gold_documents": True,
        "said": True,
        "seen": True,
        "quoted": True,
        "wrong_said": None,
        "has_gap": False,
        "contradicted": False,
        "tokens": 0,
        "seconds": 0.1,
    }
    return Judgement(question=question, **{**known, **changed})


def write_suite(suite: Suite, folder: Path) -> Path:
    """Write the suite to a folder for the command line."""
    folder.mkdir(parents=True)
    documents = [{"id": each.id, "title": each.title, "text": each.text, "file": each.file} for each in suite.documents]
    questions = [
        {
            "id": each.id,
            "question": each.question,
            "answers": each.answers,
            "evidence": [{"doc_id": one.doc_id, "quote": one.quote} for one in each.evidence],
            "answerable": each.answerable,
            "type": each.type,
            "anything": "else",
        }
        for each in suite.questions
    ]
    for name, rows in (("docs", documents), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if suite.originals:
        (folder / "files").mkdir()
    for name, content in suite.originals.items():
        (folder / "files" / name).write_bytes(content)
    return folder
