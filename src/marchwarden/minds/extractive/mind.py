"""The extractive mind. Needs no model and no network; its only cost is the tokens of the passages it reads."""

from collections.abc import Iterable, Sequence
from typing import Final

from marchwarden.core.budget import Allowance, tokens_in
from marchwarden.core.notebook import Conflict, Draft, Finding, Notebook, Plan, Reading, Thought
from marchwarden.core.passages import Passage
from marchwarden.evidence.conflicts import ConflictDetector
from marchwarden.evidence.leads import discover_in_text
from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.minds.extractive.answer import AnswerChoice, build_claim, choose_answer, see_also_findings
from marchwarden.minds.extractive.answerability import aspect_match, overall_match
from marchwarden.minds.extractive.aspects import split_aspects, unanswered_aspects
from marchwarden.minds.extractive.conflicts import find_conflicts
from marchwarden.minds.extractive.gaps import find_gaps
from marchwarden.minds.extractive.open_questions import open_questions
from marchwarden.minds.extractive.queries import first_query, follow_ups
from marchwarden.minds.extractive.survey import ScoredStatement, Survey, build_survey
from marchwarden.text.words import Stemmers, WordStemmer

MODEL_ID: Final = "extractive-v2"
FINDINGS_PER_ROUND: Final = 20
FINDING_RELEVANCE: Final = 0.3
DISCOVERY_RELEVANCE: Final = 0.5
SATISFIED_MATCH: Final = 0.8
LOWEST_MATCH: Final = 0.05


class ExtractiveMind:
    """Answer with sentences of the documents that match the question, or report that none does.

    With a `similarity`, sentences of similar meaning rank higher even if their words differ. Deterministic: the same
    notebook always gives the same result. Only the last survey is cached.
    """

    def __init__(self, similarity: Similarity | None = None) -> None:
        self._similarity = similarity
        self._stemmers = Stemmers()
        self._last: Survey | None = None

    @property
    def model_id(self) -> str:
        return MODEL_ID if self._similarity is None else f"{MODEL_ID}+meaning"

    @property
    def conclusion_tokens(self) -> int:
        return 0

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        """Search for the question, or only for the aspects the context does not answer."""
        stems = self._stems(notebook)
        aspects = split_aspects(notebook.question)
        open_aspects = unanswered_aspects(aspects, notebook.context, stems)
        text = notebook.question if open_aspects == aspects else " ".join(open_aspects)
        return Thought(Plan((first_query(text, stems),), open_aspects))

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        """Score the passages that fit the allowance, and search further only for aspects without a good match."""
        readable = _affordable(notebook, passages, left.tokens)
        survey = self._survey(notebook, _read_passages(notebook, readable))
        noted = _noteworthy(survey, readable)
        further_queries = follow_ups(survey, self._stems(notebook))
        reading = Reading(
            findings=tuple(_finding(scored) for scored in noted),
            satisfied=_is_satisfied(survey) and not further_queries,
            follow_ups=further_queries,
            discoveries=discover_in_text(notebook, _relevant_passages(noted)),
        )
        return Thought(reading, sum(tokens_in(notebook.text_of(passage)) for passage in readable))

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        """Return the answering sentences, their conflicts and the gaps. No answer is better than a wrong one."""
        read, stems = _read_passages(notebook), self._stems(notebook)
        survey = self._survey(notebook, read)
        match = overall_match(survey)
        answered = _is_answered(survey)
        conflicts_found = find_conflicts(survey, ConflictDetector(stems)) if answered else ()
        choice = _choose(survey, match, conflicts_found, stems) if answered else AnswerChoice()
        draft = Draft(
            claims=tuple(build_claim(survey, pick) for pick in choice.stated),
            match=round(match, 4),
            conflicts=conflicts_found,
            gaps=find_gaps(survey, match, stems),
            open_questions=open_questions(survey, read, stems),
            see_also=tuple(pointer for pick in choice.see_also for pointer in see_also_findings(survey, pick)),
        )
        return Thought(draft)

    def _stems(self, notebook: Notebook) -> WordStemmer:
        """Return the stemmer for the language of the question. The documents are compared with the question."""
        return self._stemmers.for_text(notebook.question)

    def _survey(self, notebook: Notebook, passages: Sequence[Passage]) -> Survey:
        if self._last is None or not self._last.covers(notebook, passages):
            self._last = build_survey(notebook, passages, self._stems(notebook), self._similarity)
        return self._last


def _affordable(notebook: Notebook, passages: Sequence[Passage], tokens: int) -> list[Passage]:
    readable: list[Passage] = []
    for passage in passages:
        tokens -= tokens_in(notebook.text_of(passage))
        if tokens < 0:
            break
        readable.append(passage)
    return readable


def _read_passages(notebook: Notebook, extra: Iterable[Passage] = ()) -> list[Passage]:
    """Return the passages read so far, those in `extra`, and those that findings of another mind refer to."""
    ids = notebook.read | {passage.id for passage in extra}
    ids |= {finding.evidence.partition(".")[0] for finding in notebook.findings}
    return [passage for passage in notebook.passages if passage.id in ids]


def _noteworthy(survey: Survey, just_read: Iterable[Passage]) -> list[ScoredStatement]:
    ids = {passage.id for passage in just_read}
    new = [scored for scored in survey.ranked if scored.statement.passage.id in ids]
    return [scored for scored in new[:FINDINGS_PER_ROUND] if scored.relevance >= FINDING_RELEVANCE]


def _finding(scored: ScoredStatement) -> Finding:
    return Finding(scored.statement.evidence, round(min(scored.relevance, 1.0), 4), scored.aspect)


def _relevant_passages(noted: Iterable[ScoredStatement]) -> list[Passage]:
    relevant = [scored.statement.passage for scored in noted if scored.relevance >= DISCOVERY_RELEVANCE]
    return list({passage.id: passage for passage in relevant}.values())


def _is_satisfied(survey: Survey) -> bool:
    return all(aspect_match(survey, aspect) >= SATISFIED_MATCH for aspect in survey.notebook.aspects or ("",))


def _is_answered(survey: Survey) -> bool:
    return any(aspect_match(survey, aspect) >= LOWEST_MATCH for aspect in ("", *survey.aspects))


def _choose(survey: Survey, match: float, conflicts_found: Iterable[Conflict], stems: WordStemmer) -> AnswerChoice:
    """Choose the statements, including both sides of every conflict so that both are cited."""
    evidence = {each for conflict in conflicts_found for each in (conflict.one, conflict.other)}
    conflicting = [scored for scored in survey.ranked if scored.statement.evidence in evidence]
    return choose_answer(survey, match, conflicting, stems)
