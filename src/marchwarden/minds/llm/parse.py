"""Convert a model's answers into plans, readings and claims: text bounded and cleaned, ids checked, URLs removed.

Knows no model. Missing or invalid parts of an answer are left out, never guessed.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from marchwarden.contract import DiscoveryEvent, Gap, GapCategory, OpenQuestion
from marchwarden.core.notebook import Claim, Finding, Notebook, Plan, Query, Reading
from marchwarden.core.passages import Passage
from marchwarden.evidence.leads import MOST_DISCOVERIES, discover_in_text
from marchwarden.minds.llm.fencing import ADDRESS
from marchwarden.minds.llm.schema import (
    ClaimShape,
    ConclusionShape,
    DiscoveryShape,
    FindingShape,
    PlanShape,
    ReadingShape,
    SearchShape,
)
from marchwarden.text.injection import is_injection
from marchwarden.text.sanitize import one_line
from marchwarden.text.words import WordStemmer

MOST_ASPECTS: Final = 4
MOST_QUERIES: Final = 4
MOST_FINDINGS: Final = 30
MOST_CLAIMS: Final = 12
MOST_EVIDENCE: Final = 4
MOST_GAPS: Final = 5
MOST_QUESTIONS: Final = 3
LONGEST_QUERY: Final = 200
LONGEST_STATEMENT: Final = 2_000
"""Limit for sources with a guide, whose queries are in a language such as SQL."""
LONGEST_ASPECT: Final = 120
LONGEST_SENTENCE: Final = 400
ECHO_WORDS: Final = 7
MIN_LEAD_RELEVANCE: Final = 0.5
DEFAULT_RELEVANCE: Final = 0.5

_WORD: Final = re.compile(r"\w+")
_ID: Final = re.compile(r"\bp\d{1,7}(?:\.s\d{1,7})?\b")


class TextCleaner:
    """Cleans text written by a model. Rejects injected instructions and runs of words copied from the given prompts."""

    def __init__(self, *prompts: str) -> None:
        self._ours = frozenset(run for prompt in prompts for run in _runs(prompt))

    def clean(self, text: str, longest: int = LONGEST_SENTENCE) -> str:
        """Return the text on one line, bounded and without URLs; empty if it must not be used."""
        line = one_line(ADDRESS.sub("", one_line(text, 2 * longest)), longest).strip()
        return "" if is_injection(line) or self._echoes(line) else line

    def _echoes(self, text: str) -> bool:
        return any(run in self._ours for run in _runs(text))


def parse_plan(shape: PlanShape, notebook: Notebook, cleaner: TextCleaner, stems: WordStemmer) -> Plan:
    """Build the plan. Without a usable query, the question itself is searched.

    Aspects are searched by their words alone, so an aspect without a word of the question gets the question appended.
    """
    cleaned = (cleaner.clean(each, LONGEST_ASPECT) for each in shape.aspects[: 2 * MOST_ASPECTS])
    question_stems = frozenset(stems.content_stems(notebook.question))
    candidates = (
        each if question_stems.intersection(stems.content_stems(each)) else f"{each}: {notebook.question}"
        for each in cleaned
        if each
    )
    aspects = tuple(dict.fromkeys(candidates))[:MOST_ASPECTS] or (notebook.question,)
    queries = tuple(_queries(shape.queries, aspects, cleaner, _longest(notebook)))
    return Plan(queries or (Query(notebook.question),), aspects)


def parse_reading(
    shape: ReadingShape, notebook: Notebook, passages: Sequence[Passage], cleaner: TextCleaner
) -> Reading:
    """Build the reading. Findings must be in passages that were shown; code finds the leads in relevant passages."""
    shown = {passage.id: passage for passage in passages}
    findings = tuple(_findings(shape.findings, notebook, shown.keys()))
    mattering = {finding.evidence.partition(".")[0] for finding in findings if finding.relevance >= MIN_LEAD_RELEVANCE}
    pointed_at = discover_in_text(notebook, [passage for name, passage in shown.items() if name in mattering])
    proposed = tuple(_discoveries(shape.discoveries, notebook, cleaner))
    most = max(MOST_DISCOVERIES - len(notebook.discoveries), 0)
    return Reading(
        findings=findings,
        satisfied=shape.satisfied and bool(findings or notebook.findings),
        follow_ups=tuple(_queries(shape.follow_ups, notebook.aspects, cleaner, _longest(notebook))),
        discoveries=(*pointed_at, *proposed)[:most],
    )


def parse_claims(shapes: Iterable[ClaimShape], notebook: Notebook, cleaner: TextCleaner) -> list[Claim]:
    """Build the claims. Claims with rejected text are left out; claims without evidence stay for grounding to check."""
    claims: dict[str, Claim] = {}
    for shape in shapes:
        text = cleaner.clean(shape.text)
        ids = (each for reference in shape.evidence for each in _ID.findall(reference))
        evidence = tuple(dict.fromkeys(each for each in ids if _is_evidence(notebook, each)))
        if text:
            claims.setdefault(text, Claim(text, evidence[:MOST_EVIDENCE], _share(shape.confidence)))
    return list(claims.values())[:MOST_CLAIMS]


def parse_gaps(shape: ConclusionShape, cleaner: TextCleaner) -> tuple[Gap, ...]:
    gaps = [
        Gap(topic=topic, category=GapCategory(gap.category), detail=cleaner.clean(gap.detail) or "Not answered.")
        for gap in shape.gaps[: 2 * MOST_GAPS]
        if (topic := cleaner.clean(gap.topic, LONGEST_QUERY))
    ]
    return tuple(gaps[:MOST_GAPS])


def parse_open_questions(shape: ConclusionShape, notebook: Notebook, cleaner: TextCleaner) -> tuple[OpenQuestion, ...]:
    """Build the open questions that name an existing sentence as their origin."""
    questions = [
        OpenQuestion(
            question=question,
            context=cleaner.clean(each.context),
            priority=each.priority,
            source_locator=notebook.excerpt(_id(each.evidence)).locator,
        )
        for each in shape.open_questions[: 2 * MOST_QUESTIONS]
        if (question := cleaner.clean(each.question)) and _is_evidence(notebook, _id(each.evidence))
    ]
    return tuple(questions[:MOST_QUESTIONS])


def parse_match(shape: ConclusionShape) -> float:
    return _share(shape.match)


def _longest(notebook: Notebook) -> int:
    return LONGEST_STATEMENT if notebook.guide else LONGEST_QUERY


def _queries(
    shapes: Sequence[SearchShape], aspects: Sequence[str], cleaner: TextCleaner, longest: int
) -> Iterator[Query]:
    for shape in shapes[:MOST_QUERIES]:
        text = cleaner.clean(shape.text, longest)
        if text:
            yield Query(text, _aspect(shape.aspect, aspects))


def _findings(shapes: Sequence[FindingShape], notebook: Notebook, shown: Iterable[str]) -> Iterator[Finding]:
    names = set(shown)
    used: set[str] = set()
    for shape in shapes[:MOST_FINDINGS]:
        evidence = _id(shape.evidence)
        if evidence in used or evidence.partition(".")[0] not in names or not _is_evidence(notebook, evidence):
            continue
        used.add(evidence)
        yield Finding(evidence, _share(shape.relevance), _aspect(shape.aspect, notebook.aspects), shape.stance)


def _discoveries(
    shapes: Sequence[DiscoveryShape], notebook: Notebook, cleaner: TextCleaner
) -> Iterator[DiscoveryEvent]:
    """Yield leads proposed by the model. The locator comes from the evidence it names, not from the model."""
    for shape in shapes[:MOST_DISCOVERIES]:
        query, evidence = cleaner.clean(shape.query, LONGEST_QUERY), _id(shape.evidence)
        if query and _is_evidence(notebook, evidence):
            yield DiscoveryEvent(
                type=shape.type,
                suggested_researcher=shape.researcher,
                query=query,
                reason=cleaner.clean(shape.reason) or "A sentence in the source points to it.",
                source_locator=notebook.excerpt(evidence).locator,
            )


def _id(text: str) -> str:
    """Extract the id: weak models put brackets and words around it."""
    found = _ID.search(text)
    return found[0] if found else ""


def _is_evidence(notebook: Notebook, evidence: str) -> bool:
    """Whether the id exists and its text contains no injected instruction."""
    return notebook.has(evidence) and not is_injection(notebook.excerpt(evidence).verbatim)


def _aspect(number: int, aspects: Sequence[str]) -> str:
    return aspects[number - 1] if 1 <= number <= len(aspects) else ""


def _share(value: float) -> float:
    """Clamp a number from the model to the range 0 to 1."""
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else DEFAULT_RELEVANCE


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return zip(*(words[at:] for at in range(ECHO_WORDS)), strict=False)
