"""Confidence: the published factors turned into one score, by a rubric anybody can compute again."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from marchwarden.contract import Authority, ConfidenceFactors, Recency

_DAYS_A_YEAR: Final = 365.25
_RECENT_YEARS: Final = 3


@dataclass(frozen=True)
class Rubric:
    """What each factor is worth. The score is `match` times the sum of the rest, and never certain."""

    version: str = "rubric-1"
    without_evidence: float = 0.3
    one_source: float = 0.68
    each_further_source: float = 0.09
    counted_sources: int = 3
    high_authority: float = 0.08
    low_authority: float = -0.12
    current: float = 0.02
    dated: float = -0.04
    contradiction: float = -0.2
    budget_exhausted_share: float = 0.7
    least: float = 0.02
    most: float = 0.98

    def score(self, factors: ConfidenceFactors) -> float:
        """0 to 1. Grows with match and sources; a contradiction costs, a spent budget takes its share of everything."""
        further = min(factors.num_corroborating_sources, self.counted_sources) - 1
        worth = self.without_evidence if further < 0 else self.one_source + further * self.each_further_source
        worth += self._authority(factors.source_authority) + self._recency(factors.recency)
        worth += self.contradiction if factors.contradiction_detected else 0.0
        share = self.budget_exhausted_share if factors.budget_exhausted else 1.0
        return round(min(max(factors.query_specificity_match * worth * share, self.least), self.most), 3)

    def _authority(self, level: str) -> float:
        match level:
            case Authority.HIGH:
                return self.high_authority
            case Authority.LOW:
                return self.low_authority
        return 0.0

    def _recency(self, age: str | None) -> float:
        match age:
            case Recency.CURRENT:
                return self.current
            case Recency.DATED:
                return self.dated
        return 0.0


def recency(published: date | None, today: date) -> Recency | None:
    """How old the newest dated evidence is: under a year, one to three, or more."""
    if published is None:
        return None
    years = (today - published).days / _DAYS_A_YEAR
    if years < 1:
        return Recency.CURRENT
    return Recency.RECENT if years <= _RECENT_YEARS else Recency.DATED
