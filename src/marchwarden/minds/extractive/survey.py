"""Everything read so far, sentence by sentence, judged against the question and each of its aspects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from marchwarden.core.notebook import Notebook
from marchwarden.core.passages import Passage
from marchwarden.evidence.ranking.semantic import Similarity
from marchwarden.minds.extractive.aspects import known_sentences
from marchwarden.minds.extractive.document_boost import lifts
from marchwarden.minds.extractive.question import understood
from marchwarden.minds.extractive.scoring import Rarity, Score, Scorer
from marchwarden.minds.extractive.statements import Statement, statements
from marchwarden.text.words import WordStemmer

SAMPLE: Final = 400
REPEATS: Final = 0.85


@dataclass(frozen=True)
class ScoredStatement:
    """A statement, its score for the question or the aspect it serves best, and that aspect.

    `lift` is what its company adds: it orders statements, and makes none of them relevant.
    """

    statement: Statement
    score: Score
    aspect: str
    lift: float = 0.0

    @property
    def relevance(self) -> float:
        return self.score.relevance

    @property
    def worth(self) -> float:
        return self.relevance + self.lift


@dataclass(frozen=True)
class Survey:
    """Judged statements, best first; equals in the order of their documents' locators and places."""

    notebook: Notebook
    numbering: str
    passages: Sequence[Passage]
    whole: Scorer
    aspects: Mapping[str, Scorer]
    ranked: tuple[ScoredStatement, ...]
    leaders: Mapping[str, ScoredStatement]
    similarity: Similarity | None = None

    def is_of(self, notebook: Notebook, passages: Sequence[Passage]) -> bool:
        """Whether surveying these passages would only come to this again."""
        seen = (self.numbering, tuple(self.aspects), self.passages)
        return notebook is self.notebook and seen == (notebook.numbering, notebook.aspects, passages)

    def scorer(self, aspect: str) -> Scorer:
        return self.aspects.get(aspect, self.whole)

    def best_for(self, aspect: str) -> ScoredStatement | None:
        """The best statement for this aspect alone; for no particular aspect, the best of all."""
        return self.leaders.get(aspect) or next(iter(self.ranked), None)


def surveyed(
    notebook: Notebook, passages: Sequence[Passage], stems: WordStemmer, similarity: Similarity | None = None
) -> Survey:
    """Judge every statement of the passages. What only repeats the caller's context is left out."""
    rarity = _rarity(notebook, stems)
    whole = Scorer(understood(focus(notebook), stems), rarity)
    aspects = {
        aspect: whole if aspect == whole.question.text else Scorer(understood(aspect, stems), rarity)
        for aspect in notebook.aspects
    }
    known = known_sentences(notebook.context, stems)
    new = [each for each in statements(notebook, passages, stems) if not _repeats(each, known)]

    def judged(scorer: Scorer, aspect: str) -> list[ScoredStatement]:
        scores = [scorer.score(each) for each in new]
        lifted = lifts(scorer.question, new, [score.relevance for score in scores], notebook, similarity)
        return [
            ScoredStatement(each, score, aspect, lift) for each, score, lift in zip(new, scores, lifted, strict=True)
        ]

    overall = judged(whole, "")
    by_aspect = {
        aspect: [replace(each, aspect=aspect) for each in overall] if scorer is whole else judged(scorer, aspect)
        for aspect, scorer in aspects.items()
    }

    def order(judged: ScoredStatement) -> tuple[float, str, int]:
        place = judged.statement
        return (-round(judged.worth, 9), notebook.documents[place.passage.document].locator, place.start)

    best = [_best(*views) for views in zip(overall, *by_aspect.values(), strict=True)]
    leaders = {aspect: min(judged, key=order) for aspect, judged in by_aspect.items() if judged}
    ranked = tuple(sorted(best, key=order))
    return Survey(notebook, notebook.numbering, passages, whole, aspects, ranked, leaders, similarity)


def focus(notebook: Notebook) -> str:
    """The question, or, when the caller's context answers a part of it, the parts left open."""
    return " ".join(notebook.aspects) if notebook.context and notebook.aspects else notebook.question


def _rarity(notebook: Notebook, stems: WordStemmer) -> Rarity:
    """Long documents are sampled evenly: a rarity needs no exact count."""
    step = max(1, -(-len(notebook.passages) // SAMPLE))
    return Rarity(frozenset(stems.content_stems(notebook.text_of(passage))) for passage in notebook.passages[::step])


def _best(overall: ScoredStatement, *by_aspect: ScoredStatement) -> ScoredStatement:
    """The view of a statement that flatters it most; under the whole question it still serves its best aspect."""
    served = max(by_aspect, key=lambda judged: judged.worth, default=overall)
    return served if served.worth > overall.worth else replace(overall, aspect=served.aspect)


def _repeats(statement: Statement, known: Iterable[frozenset[str]]) -> bool:
    stems = statement.distinct
    return any(len(stems & sentence) >= REPEATS * len(stems) for sentence in known)
