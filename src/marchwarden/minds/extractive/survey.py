"""Score every statement read so far for the question and each of its aspects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Passage
from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.minds.extractive.aspects import known_sentences
from marchwarden.minds.extractive.document_boost import document_boosts
from marchwarden.minds.extractive.question import parse_question
from marchwarden.minds.extractive.scoring import Rarity, Score, SentenceScorer
from marchwarden.minds.extractive.statements import Statement, statements
from marchwarden.text.words import WordStemmer

SAMPLE: Final = 400
REPEATS: Final = 0.85
"""Share of a statement's stems in one sentence of the context from which on it counts as known."""


@dataclass(frozen=True)
class ScoredStatement:
    """A statement with its score for the question or the aspect it matches best.

    `boost` affects the order of statements and never makes one relevant.
    """

    statement: Statement
    score: Score
    aspect: str
    boost: float = 0.0

    @property
    def relevance(self) -> float:
        return self.score.relevance

    @property
    def worth(self) -> float:
        return self.relevance + self.boost


@dataclass(frozen=True)
class Survey:
    """Scored statements, best first. Ties are ordered by locator and position."""

    notebook: Notebook
    numbering: str
    passages: Sequence[Passage]
    question_scorer: SentenceScorer
    aspects: Mapping[str, SentenceScorer]
    ranked: tuple[ScoredStatement, ...]
    leaders: Mapping[str, ScoredStatement]
    similarity: Similarity | None = None

    def covers(self, notebook: Notebook, passages: Sequence[Passage]) -> bool:
        """Whether this survey is still valid for the notebook and passages."""
        seen = (self.numbering, tuple(self.aspects), self.passages)
        return notebook is self.notebook and seen == (notebook.numbering, notebook.aspects, passages)

    def scorer(self, aspect: str) -> SentenceScorer:
        return self.aspects.get(aspect, self.question_scorer)

    def best_for(self, aspect: str) -> ScoredStatement | None:
        """Return the best statement for the aspect, or the best of all."""
        return self.leaders.get(aspect) or next(iter(self.ranked), None)


def build_survey(
    notebook: Notebook, passages: Sequence[Passage], stems: WordStemmer, similarity: Similarity | None = None
) -> Survey:
    """Score every statement of the passages, except those that repeat the caller's context."""
    rarity = _rarity(notebook, stems)
    question_scorer = SentenceScorer(parse_question(focus(notebook), stems), rarity)
    aspects = {
        aspect: question_scorer
        if aspect == question_scorer.question.text
        else SentenceScorer(parse_question(aspect, stems), rarity)
        for aspect in notebook.aspects
    }
    known = known_sentences(notebook.context, stems)
    new = [each for each in statements(notebook, passages, stems) if not _repeats(each, known)]

    def score_all(scorer: SentenceScorer, aspect: str) -> list[ScoredStatement]:
        scores = [scorer.score(each) for each in new]
        boosts = document_boosts(scorer.question, new, [score.relevance for score in scores], notebook, similarity)
        return [
            ScoredStatement(each, score, aspect, boost) for each, score, boost in zip(new, scores, boosts, strict=True)
        ]

    overall = score_all(question_scorer, "")
    by_aspect = {
        aspect: [replace(each, aspect=aspect) for each in overall]
        if scorer is question_scorer
        else score_all(scorer, aspect)
        for aspect, scorer in aspects.items()
    }

    def order(scored: ScoredStatement) -> tuple[float, str, int]:
        place = scored.statement
        return (-round(scored.worth, 9), notebook.documents[place.passage.document].locator, place.start)

    best = [_best(*views) for views in zip(overall, *by_aspect.values(), strict=True)]
    leaders = {aspect: min(scored, key=order) for aspect, scored in by_aspect.items() if scored}
    ranked = tuple(sorted(best, key=order))
    return Survey(notebook, notebook.numbering, passages, question_scorer, aspects, ranked, leaders, similarity)


def focus(notebook: Notebook) -> str:
    """Return the question, or only its open aspects if the context answers a part."""
    return " ".join(notebook.aspects) if notebook.context and notebook.aspects else notebook.question


def _rarity(notebook: Notebook, stems: WordStemmer) -> Rarity:
    """Compute rarity from at most `SAMPLE` passages, evenly spaced. An exact count is not needed."""
    step = max(1, -(-len(notebook.passages) // SAMPLE))
    return Rarity(frozenset(stems.content_stems(notebook.text_of(passage))) for passage in notebook.passages[::step])


def _best(overall: ScoredStatement, *by_aspect: ScoredStatement) -> ScoredStatement:
    """Return the highest-scoring view of a statement, with its best aspect."""
    served = max(by_aspect, key=lambda scored: scored.worth, default=overall)
    return served if served.worth > overall.worth else replace(overall, aspect=served.aspect)


def _repeats(statement: Statement, known: Iterable[frozenset[str]]) -> bool:
    stems = statement.stem_set
    return any(len(stems & sentence) >= REPEATS * len(stems) for sentence in known)
