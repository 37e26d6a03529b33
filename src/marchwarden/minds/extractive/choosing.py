"""Which statements make the answer: the best first, each adding something, none said twice."""

import re
from dataclasses import dataclass
from typing import Final

from marchwarden.minds.extractive.match import NO_ANSWER, aspect_match, match_of
from marchwarden.minds.extractive.statements import Statement
from marchwarden.minds.extractive.survey import Judged, Survey
from marchwarden.notebook import Claim
from marchwarden.ranking.terms import differ_in_fact

MOST_CLAIMS: Final = 5
CONSIDERED: Final = 60
WORTH_SAYING: Final = 0.6
SAME_WORDS: Final = 0.8
ITS_OWN: Final = 0.15

ADDS: Final = 0.1
LINKED: Final = 0.25
ANOTHER_DOCUMENT: Final = 0.01
SAME_DOCUMENT: Final = -0.01
FRAGMENT: Final = 0.15
"""What a row or a cut-off line must make up for, to stand beside whole sentences."""

_LEANS_BACK: Final = re.compile(
    r"(?:this|these|that|those|it|its|he|his|she|her|they|their|such|both)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class _Valued:
    judged: Judged
    value: float


def chosen(survey: Survey) -> list[Judged]:
    """The best statement of every aspect that is met, then whatever adds most to what is already there."""
    picked = _aspect_leaders(survey) or list(survey.ranked[:1])
    candidates = [judged for judged in survey.ranked[:CONSIDERED] if _to_the_point(survey, judged)]
    while picked and candidates and len(picked) < MOST_CLAIMS:
        candidates = [each for each in candidates if not any(_same(each, other) for other in picked)]
        best = max((_valued(survey, each, picked) for each in candidates), key=lambda each: each.value, default=None)
        if best is None or best.value < WORTH_SAYING * picked[0].relevance:
            break
        picked.append(best.judged)
    return picked


def claim(survey: Survey, judged: Judged) -> Claim:
    """The sentence as it stands. One that begins with a pronoun also points at the sentence it leans on."""
    statement = judged.statement
    evidence = (statement.evidence, *_leaned_on(statement))
    return Claim(statement.text, evidence, round(match_of(judged, survey.scorer(judged.aspect)), 3))


def _to_the_point(survey: Survey, judged: Judged) -> bool:
    """Whether the sentence itself, or the page it stands on, has some of what is asked in its own words."""
    scorer = survey.scorer(judged.aspect)
    return scorer.coverage(judged.statement.distinct | judged.statement.title) >= ITS_OWN


def _aspect_leaders(survey: Survey) -> list[Judged]:
    if len(survey.aspects) <= 1:
        return []
    leaders = [survey.best_for(aspect) for aspect in survey.aspects if aspect_match(survey, aspect) >= NO_ANSWER]
    distinct: list[Judged] = []
    for leader in leaders:
        if leader and not any(_same(leader, other) for other in distinct):
            distinct.append(leader)
    return distinct


def _valued(survey: Survey, judged: Judged, picked: list[Judged]) -> _Valued:
    """Its own relevance, plus what it adds: words of the question not covered yet, a link, another document."""
    held = frozenset().union(*(each.statement.distinct for each in picked))
    adds = survey.whole.coverage(held | judged.statement.distinct) - survey.whole.coverage(held)
    linked = any(_linked(judged.statement, each.statement) for each in picked)
    beside = sum(each.statement.passage.document == judged.statement.passage.document for each in picked)
    value = judged.relevance + ADDS * adds + LINKED * linked - (0.0 if judged.score.is_finished else FRAGMENT)
    return _Valued(judged, value + (SAME_DOCUMENT * beside if beside else ANOTHER_DOCUMENT))


def _linked(one: Statement, other: Statement) -> bool:
    """Whether one's page is named in the other's sentence: the two hops of one answer."""
    if one.passage.document == other.passage.document:
        return False
    return any(page.title and page.title <= text.distinct for page, text in ((one, other), (other, one)))


def _same(one: Judged, other: Judged) -> bool:
    """The same words again, be it a copy, be it the half of the other."""
    ours, theirs = one.statement.distinct, other.statement.distinct
    return len(ours & theirs) >= SAME_WORDS * min(len(ours), len(theirs)) and not differ_in_fact(ours, theirs)


def _leaned_on(statement: Statement) -> tuple[str, ...]:
    sentences = statement.passage.sentences
    at = next(at for at, sentence in enumerate(sentences) if sentence.id == statement.evidence)
    if at == 0 or sentences[at - 1].is_heading or not _LEANS_BACK.match(statement.text):
        return ()
    return (sentences[at - 1].id,)
