"""The mind that answers with the documents' own sentences. Needs no model and no network; costs what it reads."""

from collections.abc import Iterable, Sequence
from typing import Final

from marchwarden.core.budget import Allowance, tokens_in
from marchwarden.core.notebook import Conflict, Draft, Finding, Notebook, Plan, Reading, Thought
from marchwarden.core.passages import Passage
from marchwarden.evidence.conflicts import ConflictDetector
from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.evidence.text_leads import discoveries
from marchwarden.minds.extractive.answer import AnswerChoice, chosen, claim, pointers
from marchwarden.minds.extractive.answerability import aspect_match, overall_match
from marchwarden.minds.extractive.aspects import aspects_of, unanswered
from marchwarden.minds.extractive.conflicts import conflicts
from marchwarden.minds.extractive.gaps import gaps
from marchwarden.minds.extractive.open_questions import open_questions
from marchwarden.minds.extractive.queries import first_query, follow_ups
from marchwarden.minds.extractive.survey import ScoredStatement, Survey, surveyed
from marchwarden.text.words import WordStemmer

MODEL_ID: Final = "extractive-v2"
FINDINGS_A_ROUND: Final = 20
WORTH_NOTING: Final = 0.3
MATTERS: Final = 0.5
ENOUGH: Final = 0.8
CLOSE: Final = 0.05


class ExtractiveMind:
    """Plans from the question's words, finds the sentences that hold them, and says when none does.

    With a `similarity`, sentences that mean what is asked come first, whatever their words. The same notebook always
    gets the same thoughts: nothing is remembered but the last survey, as long as there is nothing new to see.
    """

    def __init__(self, similarity: Similarity | None = None) -> None:
        self._similarity = similarity
        self._stems = WordStemmer()
        self._disagreements = ConflictDetector(self._stems)
        self._last: Survey | None = None

    @property
    def model_id(self) -> str:
        return MODEL_ID if self._similarity is None else f"{MODEL_ID}+meaning"

    @property
    def conclusion_tokens(self) -> int:
        return 0

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        """The question as one query, or, when the context answers a part of it, the parts left open."""
        aspects = aspects_of(notebook.question)
        open_aspects = unanswered(aspects, notebook.context, self._stems)
        text = notebook.question if open_aspects == aspects else " ".join(open_aspects)
        return Thought(Plan((first_query(text),), open_aspects))

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        """Judge what the allowance pays for; ask on only for what is still not well met."""
        readable = _affordable(notebook, passages, left.tokens)
        survey = self._surveyed(notebook, _read(notebook, readable))
        worth = _worth_noting(survey, readable)
        asked_next = follow_ups(survey, self._stems)
        reading = Reading(
            findings=tuple(_finding(judged) for judged in worth),
            satisfied=_met(survey) and not asked_next,
            follow_ups=asked_next,
            discoveries=discoveries(notebook, _passages_that_matter(worth)),
        )
        return Thought(reading, sum(tokens_in(notebook.text_of(passage)) for passage in readable))

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        """The sentences that answer, where they quarrel, what stays open. None is better than a wrong one."""
        read = _read(notebook)
        survey = self._surveyed(notebook, read)
        match = overall_match(survey)
        answered = _answered(survey)
        quarrels = conflicts(survey, self._disagreements) if answered else ()
        choice = _choice(survey, match, quarrels, self._stems) if answered else AnswerChoice()
        draft = Draft(
            claims=tuple(claim(survey, pick) for pick in choice.said),
            match=round(match, 4),
            conflicts=quarrels,
            gaps=gaps(survey, match, self._stems),
            open_questions=open_questions(survey, read, self._stems),
            see_also=tuple(pointer for pick in choice.aside for pointer in pointers(survey, pick)),
        )
        return Thought(draft)

    def _surveyed(self, notebook: Notebook, passages: Sequence[Passage]) -> Survey:
        if self._last is None or not self._last.is_of(notebook, passages):
            self._last = surveyed(notebook, passages, self._stems, self._similarity)
        return self._last


def _affordable(notebook: Notebook, passages: Sequence[Passage], tokens: int) -> list[Passage]:
    readable: list[Passage] = []
    for passage in passages:
        tokens -= tokens_in(notebook.text_of(passage))
        if tokens < 0:
            break
        readable.append(passage)
    return readable


def _read(notebook: Notebook, also: Iterable[Passage] = ()) -> list[Passage]:
    """What has been read, whoever read it, and what findings of another mind point into."""
    ids = notebook.read | {passage.id for passage in also}
    ids |= {finding.evidence.partition(".")[0] for finding in notebook.findings}
    return [passage for passage in notebook.passages if passage.id in ids]


def _worth_noting(survey: Survey, just_read: Iterable[Passage]) -> list[ScoredStatement]:
    ids = {passage.id for passage in just_read}
    new = [judged for judged in survey.ranked if judged.statement.passage.id in ids]
    return [judged for judged in new[:FINDINGS_A_ROUND] if judged.relevance >= WORTH_NOTING]


def _finding(judged: ScoredStatement) -> Finding:
    return Finding(judged.statement.evidence, round(min(judged.relevance, 1.0), 4), judged.aspect)


def _passages_that_matter(worth: Iterable[ScoredStatement]) -> list[Passage]:
    matter = [judged.statement.passage for judged in worth if judged.relevance >= MATTERS]
    return list({passage.id: passage for passage in matter}.values())


def _met(survey: Survey) -> bool:
    return all(aspect_match(survey, aspect) >= ENOUGH for aspect in survey.notebook.aspects or ("",))


def _answered(survey: Survey) -> bool:
    return any(aspect_match(survey, aspect) >= CLOSE for aspect in ("", *survey.aspects))


def _choice(survey: Survey, match: float, quarrels: Iterable[Conflict], stems: WordStemmer) -> AnswerChoice:
    """The chosen statements; whatever quarrels with one another is said too, so that both sides are cited."""
    evidence = {each for quarrel in quarrels for each in (quarrel.one, quarrel.other)}
    quarrelling = [judged for judged in survey.ranked if judged.statement.evidence in evidence]
    return chosen(survey, match, quarrelling, stems)
