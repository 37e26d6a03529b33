"""Which statements make the answer: the best first, then what other documents say; a copy is cited, not said again.

What only touches the question is pointed at and not said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from marchwarden.core.notebook import Claim, Finding
from marchwarden.evidence.grounding import ONLY_NEAR
from marchwarden.minds.extractive.answerability import NO_ANSWER, aspect_match
from marchwarden.minds.extractive.multi_hop import first_documents, followed, leaves_open, second_hops
from marchwarden.minds.extractive.pronouns import spoken_of
from marchwarden.minds.extractive.question import Expected
from marchwarden.minds.extractive.relevance import relevance_of
from marchwarden.minds.extractive.survey import ScoredStatement, Survey
from marchwarden.minds.extractive.verdicts import decides
from marchwarden.text.markdown import strip_emphasis
from marchwarden.text.words import WordStemmer

MOST_BEST: Final = 5
MOST_CITED: Final = 8
MOST_HOPS: Final = 2
OPENING: Final = 2
"""Statements after which a second hop is told."""
GLANCE: Final = 500
"""Characters of the answer that everybody reads."""
CONSIDERED: Final = 60
WORTH_SAYING: Final = 0.6
SURE: Final = 0.9
WORTH_HEARING: Final = 0.2
SPEAKING: Final = 0.5
AS_MUCH: Final = 0.8
SAME_WORDS: Final = 0.8

DECIDING: Final = 0.16
SAME_DOCUMENT: Final = 0.02
FRAGMENT: Final = 0.15
"""What a row or a cut-off line must make up for, to stand beside whole sentences."""


@dataclass(frozen=True)
class Pick:
    """A statement as it would be said, and everything it is cited with."""

    judged: ScoredStatement
    text: str
    evidence: tuple[str, ...]

    def also(self, copy: ScoredStatement) -> "Pick":
        return Pick(self.judged, self.text, (*self.evidence, *_own(copy)))


@dataclass(frozen=True)
class AnswerChoice:
    """What is said, and what is only pointed at."""

    said: Sequence[Pick] = ()
    aside: Sequence[Pick] = ()


def chosen(survey: Survey, match: float, quarrelling: Sequence[ScoredStatement], stems: WordStemmer) -> AnswerChoice:
    """What the answer comes to, then what other documents say, then more of the best; what does not speak, aside.

    Where the best only comes near the question, what comes after it is not worth saying.
    """
    best = _best(survey, sure=match >= SURE)
    front = _front(survey, best, quarrelling, stems)
    cited = {judged.statement.passage.document for judged in front}
    others = [judged for judged in _voices(survey) if judged.statement.passage.document not in cited]
    picks = _gathered(survey, [*front, *others, *best])
    heard = [pick for pick in picks if pick.judged in front or (match >= ONLY_NEAR and _speaks(survey, pick.judged))]
    aside = [pick for pick in picks if pick not in heard]
    return AnswerChoice(heard, aside)


def claim(survey: Survey, pick: Pick) -> Claim:
    return Claim(strip_emphasis(pick.text), survey.notebook.joined(pick.evidence), _bearing(survey, pick))


def pointers(survey: Survey, pick: Pick) -> list[Finding]:
    return [Finding(each, _bearing(survey, pick), pick.judged.aspect) for each in survey.notebook.joined(pick.evidence)]


def _bearing(survey: Survey, pick: Pick) -> float:
    return round(relevance_of(pick.judged, survey.scorer(pick.judged.aspect)), 3)


def _best(survey: Survey, *, sure: bool) -> list[ScoredStatement]:
    """The best statement of every aspect that is met, then the best of the rest.

    Beside an answer that is sure stands only what has words of the question itself; else good company is enough.
    """
    picked = _aspect_leaders(survey) or _leading(survey)
    candidates = [
        judged
        for judged in survey.ranked[:CONSIDERED]
        if judged.worth >= WORTH_SAYING * picked[0].worth and (judged.score.covered or not sure)
    ]
    asked = frozenset(survey.whole.question.stems)
    while len(picked) < MOST_BEST:
        candidates = [each for each in candidates if not any(_is_told(each, other, asked) for other in picked)]
        if not candidates:
            break
        picked.append(max(candidates, key=lambda each: _value(each, picked) + _decision(survey, each)))
    return picked


def _front(
    survey: Survey, best: list[ScoredStatement], quarrelling: Sequence[ScoredStatement], stems: WordStemmer
) -> list[ScoredStatement]:
    """The best, and both sides of a quarrel; where the question leads on, what it leads to."""
    front = [*_at_a_glance(best), *quarrelling]
    if not leaves_open(survey, stems):
        return front
    opening = max(OPENING, len(survey.aspects))
    hops = second_hops(survey, front[:opening], stems)[:MOST_HOPS]
    return [*front[:opening], *hops, *front[opening:], *_led_to(survey, hops, stems)]


def _at_a_glance(best: list[ScoredStatement]) -> list[ScoredStatement]:
    """Those that begin where a reader still looks; what other documents say can wait until then."""
    begins = accumulate((len(judged.statement.text) for judged in best), initial=0)
    return [judged for judged, start in zip(best, begins, strict=False) if start < GLANCE]


def _led_to(survey: Survey, hops: Iterable[ScoredStatement], stems: WordStemmer) -> list[ScoredStatement]:
    """The best statement of every other document that the question, or a name followed from it, is about."""
    by_document = {judged.statement.passage.document: judged for judged in _voices(survey, 0.0)}
    hopped_to = {hop.statement.passage.document for hop in hops}
    documents = dict.fromkeys([*first_documents(survey, stems), *followed(survey, stems)])
    return [by_document[document] for document in documents if document in by_document.keys() - hopped_to]


def _voices(survey: Survey, share: float = WORTH_HEARING) -> list[ScoredStatement]:
    """The best statement of each document, if it has that share of what the best of all has."""
    best: dict[int, ScoredStatement] = {}
    for judged in survey.ranked:
        if judged.relevance >= share * survey.ranked[0].relevance:
            first = best.setdefault(judged.statement.passage.document, judged)
            best[judged.statement.passage.document] = max(first, judged, key=_as_a_sentence)
    return list(best.values())


def _speaks(survey: Survey, voice: ScoredStatement) -> bool:
    """Whether it is not much worse than the best, and names all that is named, or holds nearly as much as the best."""
    best, named = survey.ranked[0], survey.scorer(voice.aspect).question.key
    if voice.relevance < SPEAKING * best.relevance:
        return False
    names_it = bool(named) and named <= voice.statement.around.keys()
    return names_it or voice.score.covered >= AS_MUCH * best.score.covered


def _as_a_sentence(judged: ScoredStatement) -> float:
    return judged.worth if judged.score.is_finished else judged.worth - FRAGMENT


def _gathered(survey: Survey, wanted: Iterable[ScoredStatement]) -> list[Pick]:
    """As many as a reader will look up. What was said already becomes evidence of the statement that said it."""
    picks: list[Pick] = []
    cited: set[str] = set()
    for judged in wanted:
        if any(judged.statement.evidence in pick.evidence for pick in picks):
            continue
        copied = next((at for at, pick in enumerate(picks) if _same(judged, pick.judged)), None)
        pick = _pick(survey, judged, picks) if copied is None else picks[copied].also(judged)
        cited.update(survey.notebook.joined(pick.evidence))
        if len(cited) > MOST_CITED and picks:
            break
        if copied is None:
            picks.append(pick)
        else:
            picks[copied] = pick
    return picks


def _pick(survey: Survey, judged: ScoredStatement, picks: Iterable[Pick]) -> Pick:
    """The sentence as it stands, after the one that says whom its pronoun means, unless its passage is being told."""
    statement, own = judged.statement, _own(judged)
    if any(pick.judged.statement.passage.id == statement.passage.id for pick in picks):
        return Pick(judged, statement.text, own)
    news = {each.statement.evidence for each in survey.ranked}
    spoken = [each for each in spoken_of(survey.notebook, statement) if each.is_heading or each.id in news]
    text = " ".join([*(each.text for each in spoken), statement.text])
    return Pick(judged, text, (*(each.id for each in spoken), *own))


def _own(judged: ScoredStatement) -> tuple[str, ...]:
    return (judged.statement.evidence, *judged.statement.cited_with)


def _aspect_leaders(survey: Survey) -> list[ScoredStatement]:
    if len(survey.aspects) <= 1:
        return []
    leaders = [survey.best_for(aspect) for aspect in survey.aspects if aspect_match(survey, aspect) >= NO_ANSWER]
    distinct: list[ScoredStatement] = []
    for leader in leaders:
        if leader and not any(_same(leader, other) for other in distinct):
            distinct.append(leader)
    return distinct


def _leading(survey: Survey) -> list[ScoredStatement]:
    """The best of all; where a yes or a no is asked for, what decides comes before what only tells."""
    ranked = survey.ranked[:CONSIDERED]
    return [max(ranked, key=lambda judged: judged.worth + _decision(survey, judged))] if ranked else []


def _decision(survey: Survey, judged: ScoredStatement) -> float:
    expected = survey.scorer(judged.aspect).question.expected
    return DECIDING if expected is Expected.VERDICT and decides(judged.statement.text) else 0.0


def _value(judged: ScoredStatement, picked: list[ScoredStatement]) -> float:
    """Its worth, a little less for each that its document has there already."""
    beside = sum(each.statement.passage.document == judged.statement.passage.document for each in picked)
    return _as_a_sentence(judged) - SAME_DOCUMENT * beside


def _is_told(one: ScoredStatement, other: ScoredStatement, asked: frozenset[str]) -> bool:
    """The other says the same, or is a row of the same table that holds all it has of the question, and more."""
    row, better = one.statement, other.statement
    of_one_table = bool(row.cited_with) and row.cited_with == better.cited_with
    return _same(one, other) or (of_one_table and row.distinct & asked < better.distinct & asked)


def _same(one: ScoredStatement, other: ScoredStatement) -> bool:
    """The same words again, be it a copy, be it the half of the other."""
    ours, theirs = one.statement.told, other.statement.told
    alike = ours.shared(theirs) >= SAME_WORDS * min(len(ours.stems), len(theirs.stems))
    return alike and not ours.differs_in_fact(theirs)
