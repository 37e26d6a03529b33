"""Render the confidence score and the effect of each factor.

The effect of a factor is the difference to the rubric's score without it. The rubric's arithmetic is not repeated here.
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
_SAME_SCORE: Final = 0.0015
_VISIBLE: Final = 0.005


@dataclass(frozen=True)
class Factor:
    """One factor: its value, its chart, and its effect on the score (None if unknown)."""

    name: str
    value: str
    chart: Markup
    effect: float | None


def factor_effects(result: ResearchResult) -> tuple[Factor, ...]:
    """Return the six factors of the contract, in its order."""
    factors, rubric = result.confidence_factors, Rubric.shipped()
    # External researchers may use another rubric. Then the effects are unknown and not shown.
    ours = abs(rubric.score(factors) - result.confidence) < _SAME_SCORE
    return tuple(_factors(factors, rubric if ours else None))


def _factors(given: ConfidenceFactors, rubric: Rubric | None) -> Iterator[Factor]:
    def effect(**changed: object) -> float | None:
        return None if rubric is None else rubric.score(given) - rubric.score(given.model_copy(update=changed))

    found, most = given.num_corroborating_sources, Rubric.shipped().counted_sources
    sources = f"{found} (up to {most} count)" if found else "none"
    yield Factor(
        "Independent sources", sources, scale(min(found, most), most, sources), effect(num_corroborating_sources=1)
    )
    authority = one_line(given.source_authority, 20)
    yield Factor("Authority", authority, _level(authority, _LEVELS), effect(source_authority=Authority.MEDIUM.value))
    match = f"{given.query_specificity_match:.0%}"
    chart = meter(given.query_specificity_match, f"match {match}")
    yield Factor("Match with the question", match, chart, effect(query_specificity_match=1.0))
    agreement = "contradiction found" if given.contradiction_detected else "no contradiction"
    chart = scale(0 if given.contradiction_detected else 1, 1, agreement)
    yield Factor("Agreement", agreement, chart, effect(contradiction_detected=False))
    budget = "exhausted" if given.budget_exhausted else "sufficient"
    yield Factor("Budget", budget, scale(0 if given.budget_exhausted else 1, 1, budget), effect(budget_exhausted=False))
    age = one_line(given.recency or "unknown", 20)
    yield Factor("Recency", age, _level(age, _AGES), effect(recency=Recency.RECENT.value))


def _level(value: str, levels: tuple[str, ...]) -> Markup:
    return scale(levels.index(value) + 1 if value in levels else 0, len(levels), value)


def confidence_section(result: ResearchResult) -> Markup:
    score = f"{result.confidence:.2f}"
    ticks = tuple(least for least, _ in BANDS if least)
    rows = [_row(factor) for factor in factor_effects(result)]
    return element(
        "section",
        element("h2", "Confidence"),
        element("p", element("strong", score, class_="score"), " ", band(result.confidence), class_="lead"),
        element("div", meter(result.confidence, f"confidence {score} of 1", ticks), _bands(), class_="gauge"),
        element("ul", *rows, class_="factors"),
        element(
            "p",
            "The number on the right is the effect of each factor on the score, compared with one source, medium "
            "authority, a full match, no contradiction, a sufficient budget, and evidence one to three years old.",
            class_="note",
        ),
        id="confidence",
    )


def _bands() -> Markup:
    """Render the labels under the gauge. Hidden from screen readers, because the lead says the same."""
    names = [element("span", f"{least:.1f}", class_=f"band band-{round(least * 10)}") for least, _ in BANDS if least]
    return element("div", *names, class_="bands", aria_hidden="true")


def _row(factor: Factor) -> Markup:
    return element(
        "li",
        element("span", factor.name, class_="name"),
        factor.chart,
        element("span", factor.value, class_="value"),
        element("span", _signed(factor.effect), class_=f"effect {_direction(factor.effect)}"),
    )


def _signed(effect: float | None) -> str:
    if effect is None:
        return ""
    return f"{effect:+.2f}".replace("-", "−") if abs(effect) >= _VISIBLE else "±0"


def _direction(effect: float | None) -> str:
    if effect is None or abs(effect) < _VISIBLE:
        return "none"
    return "up" if effect > 0 else "down"
