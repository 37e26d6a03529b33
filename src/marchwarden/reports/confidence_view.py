"""Confidence, drawn: the score between its bands, and what each factor did to it.

The effect of a factor is what the rubric's score would lose without it; no arithmetic of the rubric is repeated here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import Authority, ConfidenceFactors, Recency, ResearchResult
from marchwarden.evidence.confidence import Rubric
from marchwarden.reports.html import Markup, element
from marchwarden.reports.labels import BANDS, band
from marchwarden.reports.svg import meter, scale
from marchwarden.text.sanitize import one_line

_LEVELS: Final = (Authority.LOW.value, Authority.MEDIUM.value, Authority.HIGH.value)
_AGES: Final = (Recency.DATED.value, Recency.RECENT.value, Recency.CURRENT.value)
_AS_PUBLISHED: Final = 0.0015
_FELT: Final = 0.005


@dataclass(frozen=True)
class Factor:
    """One factor: what it is, drawn, and what it did to the score (None where that cannot be said)."""

    name: str
    said: str
    drawn: Markup
    effect: float | None


def weighed(result: ResearchResult) -> tuple[Factor, ...]:
    """The six factors of the contract, in its order."""
    factors, rubric = result.confidence_factors, Rubric.shipped()
    # Another researcher may score by a rubric of its own; then the effects are unknown here, and not told.
    ours = abs(rubric.score(factors) - result.confidence) < _AS_PUBLISHED
    return tuple(_factors(factors, rubric if ours else None))


def _factors(given: ConfidenceFactors, rubric: Rubric | None) -> Iterator[Factor]:
    def effect(**otherwise: object) -> float | None:
        return None if rubric is None else rubric.score(given) - rubric.score(given.model_copy(update=otherwise))

    found, most = given.num_corroborating_sources, Rubric.shipped().counted_sources
    sources = f"{found} of {most} that count" if found <= most else f"{found}, of which {most} count"
    yield Factor(
        "Independent sources", sources, scale(min(found, most), most, sources), effect(num_corroborating_sources=1)
    )
    authority = one_line(given.source_authority, 20)
    yield Factor("Authority", authority, _level(authority, _LEVELS), effect(source_authority=Authority.MEDIUM.value))
    match = f"{given.query_specificity_match:.0%}"
    drawn = meter(given.query_specificity_match, f"match {match}")
    yield Factor("Match with the question", match, drawn, effect(query_specificity_match=1.0))
    agreed = "contradiction found" if given.contradiction_detected else "no contradiction"
    drawn = scale(0 if given.contradiction_detected else 1, 1, agreed)
    yield Factor("Agreement", agreed, drawn, effect(contradiction_detected=False))
    spent = "exhausted" if given.budget_exhausted else "was enough"
    yield Factor("Budget", spent, scale(0 if given.budget_exhausted else 1, 1, spent), effect(budget_exhausted=False))
    age = one_line(given.recency or "unknown", 20)
    yield Factor("Recency", age, _level(age, _AGES), effect(recency=Recency.RECENT.value))


def _level(said: str, levels: tuple[str, ...]) -> Markup:
    return scale(levels.index(said) + 1 if said in levels else 0, len(levels), said)


def confidence(result: ResearchResult) -> Markup:
    score = f"{result.confidence:.2f}"
    ticks = tuple(least for least, _ in BANDS if least)
    told = [_row(factor) for factor in weighed(result)]
    return element(
        "section",
        element("h2", "Confidence"),
        element("p", element("strong", score, class_="score"), " ", band(result.confidence), class_="lead"),
        element("div", meter(result.confidence, f"confidence {score} of 1", ticks), _bands(), class_="gauge"),
        element("ul", *told, class_="factors"),
        element(
            "p",
            "The number at the right is what each factor did to the score, against one source, medium authority, a "
            "full match, no contradiction, a budget that was enough, and evidence one to three years old.",
            class_="note",
        ),
        id="confidence",
    )


def _bands() -> Markup:
    """The words under the gauge, each where its band begins; said once more in the lead, so hidden from readers."""
    names = [element("span", f"{least:.1f}", class_=f"band band-{round(least * 10)}") for least, _ in BANDS if least]
    return element("div", *names, class_="bands", aria_hidden="true")


def _row(factor: Factor) -> Markup:
    return element(
        "li",
        element("span", factor.name, class_="name"),
        factor.drawn,
        element("span", factor.said, class_="said"),
        element("span", _signed(factor.effect), class_=f"effect {_direction(factor.effect)}"),
    )


def _signed(effect: float | None) -> str:
    if effect is None:
        return ""
    return f"{effect:+.2f}".replace("-", "−") if abs(effect) >= _FELT else "±0"


def _direction(effect: float | None) -> str:
    if effect is None or abs(effect) < _FELT:
        return "none"
    return "up" if effect > 0 else "down"
