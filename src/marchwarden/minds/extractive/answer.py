"""Choose the statements of an answer: the best first, then the best of other documents.

Copies of a statement are cited with it and not repeated. Statements that are only loosely related become "See also"
citations.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from marchwarden.core.notebook import Claim, Finding
from marchwarden.evidence.grounding import ONLY_NEAR
from marchwarden.minds.extractive.answerability import NO_ANSWER, aspect_match, relevance_of
from marchwarden.minds.extractive.multi_hop import first_documents, followed_documents, needs_second_hop, second_hops
from marchwarden.minds.extractive.pronouns import find_antecedent
from marchwarden.minds.extractive.question import AnswerType
from marchwarden.minds.extractive.sentence_roles import is_decisive
from marchwarden.minds.extractive.survey import ScoredStatement, Survey
from marchwarden.text.markdown import strip_emphasis
from marchwarden.text.words import WordStemmer

MOST_BEST: Final = 5
MOST_CITED: Final = 8
MOST_HOPS: Final = 2
OPENING: Final = 2
"""Number of statements that precede a second hop."""
GLANCE: Final = 500
"""Length in characters of the part of an answer that readers usually look at."""
CONSIDERED: Final = 60
WORTH_SHARE: Final = 0.6
"""Minimum worth of a further statement, as a share of the best worth."""
CERTAIN_MATCH: Final = 0.9
DOCUMENT_SHARE: Final = 0.2
"""Minimum relevance for citing another document, as a share of the top relevance.

Without other documents, `all_gold_documents_cited` drops by .245 on RAMDocs.
"""
RELEVANCE_SHARE: Final = 0.5
COVERAGE_SHARE: Final = 0.8
SAME_WORDS: Final = 0.8

VERDICT_BONUS: Final = 0.16
"""Bonus of decisive sentences for yes/no questions, measured on PubMedQA."""
SAME_DOCUMENT_PENALTY: Final = 0.02
FRAGMENT_PENALTY: Final = 0.15
"""Penalty for table rows and cut-off lines, so that complete sentences come first."""


@dataclass(frozen=True)
class ChosenStatement:
    """A statement of the answer, its text and the ids of all its evidence."""

    scored: ScoredStatement
    text: str
    evidence: tuple[str, ...]

    def with_copy(self, copy: ScoredStatement) -> "ChosenStatement":
        return ChosenStatement(self.scored, self.text, (*self.evidence, *_evidence_ids(copy)))


@dataclass(frozen=True)
class AnswerChoice:
    """Statements that make up the answer, and related ones that are only cited."""

    stated: Sequence[ChosenStatement] = ()
    see_also: Sequence[ChosenStatement] = ()


def choose_answer(
    survey: Survey, match: float, conflicting: Sequence[ScoredStatement], stems: WordStemmer
) -> AnswerChoice:
    """Choose the best statements, then those of other documents, then more of the best.

    If even the best statement only comes close to the question (`match` below `ONLY_NEAR`), the rest is not stated.
    """
    best = _best(survey, certain=match >= CERTAIN_MATCH)
    front = _leading_statements(survey, best, conflicting, stems)
    cited = {scored.statement.passage.document for scored in front}
    others = [scored for scored in _best_per_document(survey) if scored.statement.passage.document not in cited]
    picks = _collect_picks(survey, [*front, *others, *best])
    stated = [
        pick
        for pick in picks
        if pick.scored in front or (match >= ONLY_NEAR and _is_worth_stating(survey, pick.scored))
    ]
    see_also = [pick for pick in picks if pick not in stated]
    return AnswerChoice(stated, see_also)


def build_claim(survey: Survey, pick: ChosenStatement) -> Claim:
    return Claim(strip_emphasis(pick.text), survey.notebook.joined(pick.evidence), _confidence(survey, pick))


def see_also_findings(survey: Survey, pick: ChosenStatement) -> list[Finding]:
    return [
        Finding(each, _confidence(survey, pick), pick.scored.aspect) for each in survey.notebook.joined(pick.evidence)
    ]


def _confidence(survey: Survey, pick: ChosenStatement) -> float:
    return round(relevance_of(pick.scored, survey.scorer(pick.scored.aspect)), 3)


def _best(survey: Survey, *, certain: bool) -> list[ScoredStatement]:
    """Return the best statement of every answered aspect, then the best of the rest.

    If the answer is certain, further statements must contain words of the question. Otherwise their document's score is
    enough.
    """
    picked = _aspect_leaders(survey) or _best_overall(survey)
    candidates = [
        scored
        for scored in survey.ranked[:CONSIDERED]
        if scored.worth >= WORTH_SHARE * picked[0].worth and (scored.score.sentence_coverage or not certain)
    ]
    question_stems = frozenset(survey.question_scorer.question.stems)
    while len(picked) < MOST_BEST:
        candidates = [
            each for each in candidates if not any(_is_redundant(each, other, question_stems) for other in picked)
        ]
        if not candidates:
            break
        picked.append(max(candidates, key=lambda each: _diversified_worth(each, picked) + _verdict_bonus(survey, each)))
    return picked


def _leading_statements(
    survey: Survey, best: list[ScoredStatement], conflicting: Sequence[ScoredStatement], stems: WordStemmer
) -> list[ScoredStatement]:
    """Return the best statements, both sides of conflicts and, for multi-hop questions, the second hop."""
    front = [*_within_glance(best), *conflicting]
    if not needs_second_hop(survey, stems):
        return front
    opening = max(OPENING, len(survey.aspects))
    hops = second_hops(survey, front[:opening], stems)[:MOST_HOPS]
    return [*front[:opening], *hops, *front[opening:], *_linked_documents(survey, hops, stems)]


def _within_glance(best: list[ScoredStatement]) -> list[ScoredStatement]:
    """Keep the statements that begin within the first `GLANCE` characters, so that other documents follow early."""
    starts = accumulate((len(scored.statement.text) for scored in best), initial=0)
    return [scored for scored, start in zip(best, starts, strict=False) if start < GLANCE]


def _linked_documents(survey: Survey, hops: Iterable[ScoredStatement], stems: WordStemmer) -> list[ScoredStatement]:
    """Return the best statement of each further document that the question or a followed name is about."""
    by_document = {scored.statement.passage.document: scored for scored in _best_per_document(survey, 0.0)}
    hopped_to = {hop.statement.passage.document for hop in hops}
    documents = dict.fromkeys([*first_documents(survey, stems), *followed_documents(survey, stems)])
    return [by_document[document] for document in documents if document in by_document.keys() - hopped_to]


def _best_per_document(survey: Survey, share: float = DOCUMENT_SHARE) -> list[ScoredStatement]:
    """Return the best statement of each document, if its relevance reaches this share of the top relevance."""
    best: dict[int, ScoredStatement] = {}
    for scored in survey.ranked:
        if scored.relevance >= share * survey.ranked[0].relevance:
            first = best.setdefault(scored.statement.passage.document, scored)
            best[scored.statement.passage.document] = max(first, scored, key=_sentence_worth)
    return list(best.values())


def _is_worth_stating(survey: Survey, scored: ScoredStatement) -> bool:
    """Whether it is nearly as relevant as the best and contains all names asked for, or nearly as many words."""
    best, names = survey.ranked[0], survey.scorer(scored.aspect).question.key
    if scored.relevance < RELEVANCE_SHARE * best.relevance:
        return False
    has_all_names = bool(names) and names <= scored.statement.passage_stems.keys()
    return has_all_names or scored.score.sentence_coverage >= COVERAGE_SHARE * best.score.sentence_coverage


def _sentence_worth(scored: ScoredStatement) -> float:
    return scored.worth if scored.score.is_finished else scored.worth - FRAGMENT_PENALTY


def _collect_picks(survey: Survey, wanted: Iterable[ScoredStatement]) -> list[ChosenStatement]:
    """Collect up to `MOST_CITED` citations. A copy of a collected statement becomes further evidence for it."""
    picks: list[ChosenStatement] = []
    cited: set[str] = set()
    for scored in wanted:
        if any(scored.statement.evidence in pick.evidence for pick in picks):
            continue
        copied = next((at for at, pick in enumerate(picks) if _is_duplicate(scored, pick.scored)), None)
        pick = _build_pick(survey, scored, picks) if copied is None else picks[copied].with_copy(scored)
        cited.update(survey.notebook.joined(pick.evidence))
        if len(cited) > MOST_CITED and picks:
            break
        if copied is None:
            picks.append(pick)
        else:
            picks[copied] = pick
    return picks


def _build_pick(survey: Survey, scored: ScoredStatement, picks: Iterable[ChosenStatement]) -> ChosenStatement:
    """Put the antecedent of a pronoun before the sentence, unless its passage is already quoted."""
    statement, ids = scored.statement, _evidence_ids(scored)
    if any(pick.scored.statement.passage.id == statement.passage.id for pick in picks):
        return ChosenStatement(scored, statement.text, ids)
    available = {each.statement.evidence for each in survey.ranked}
    found = find_antecedent(survey.notebook, statement)
    antecedents = [each for each in found if each.is_heading or each.id in available]
    text = " ".join([*(each.text for each in antecedents), statement.text])
    return ChosenStatement(scored, text, (*(each.id for each in antecedents), *ids))


def _evidence_ids(scored: ScoredStatement) -> tuple[str, ...]:
    return (scored.statement.evidence, *scored.statement.cited_with)


def _aspect_leaders(survey: Survey) -> list[ScoredStatement]:
    if len(survey.aspects) <= 1:
        return []
    leaders = [survey.best_for(aspect) for aspect in survey.aspects if aspect_match(survey, aspect) >= NO_ANSWER]
    distinct: list[ScoredStatement] = []
    for leader in leaders:
        if leader and not any(_is_duplicate(leader, other) for other in distinct):
            distinct.append(leader)
    return distinct


def _best_overall(survey: Survey) -> list[ScoredStatement]:
    """Return the best statement. For yes/no questions, decisive sentences are preferred."""
    ranked = survey.ranked[:CONSIDERED]
    return [max(ranked, key=lambda scored: scored.worth + _verdict_bonus(survey, scored))] if ranked else []


def _verdict_bonus(survey: Survey, scored: ScoredStatement) -> float:
    expected = survey.scorer(scored.aspect).question.expected
    return VERDICT_BONUS if expected is AnswerType.VERDICT and is_decisive(scored.statement.text) else 0.0


def _diversified_worth(scored: ScoredStatement, picked: list[ScoredStatement]) -> float:
    """Return the worth, reduced a little for every statement already chosen from the same document."""
    stated_already = sum(each.statement.passage.document == scored.statement.passage.document for each in picked)
    return _sentence_worth(scored) - SAME_DOCUMENT_PENALTY * stated_already


def _is_redundant(one: ScoredStatement, other: ScoredStatement, question_stems: frozenset[str]) -> bool:
    """Whether the other says the same, or is a row of the same table with more of the question's words."""
    row, better = one.statement, other.statement
    of_one_table = bool(row.cited_with) and row.cited_with == better.cited_with
    return _is_duplicate(one, other) or (
        of_one_table and row.stem_set & question_stems < better.stem_set & question_stems
    )


def _is_duplicate(one: ScoredStatement, other: ScoredStatement) -> bool:
    """Whether one mostly repeats the words of the other and they do not differ in a fact."""
    ours, theirs = one.statement.content, other.statement.content
    alike = ours.shared(theirs) >= SAME_WORDS * min(len(ours.stems), len(theirs.stems))
    return alike and not ours.differs_in_fact(theirs)
