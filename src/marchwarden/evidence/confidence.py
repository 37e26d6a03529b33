"""Confidence: the published factors turned into one score, by a rubric anybody can compute again.

Its coefficients are data: those that are shipped, or those that `marchwarden calibrate` left beside the traces.
"""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from marchwarden.contract import Authority, ConfidenceFactors, Recency
from marchwarden.errors import InvalidInput

KEPT: Final = "rubric.toml"
HELPS: Final = frozenset({"match", "each_further_source", "high_authority", "current"})
HURTS: Final = frozenset({"without_evidence", "low_authority", "dated", "contradiction", "budget_exhausted"})

_DAYS_A_YEAR: Final = 365.25
_RECENT_YEARS: Final = 3
_NEVER_CERTAIN: Final = 0.01


@dataclass(frozen=True)
class Rubric:
    """What each factor is worth, in log-odds. A factor in `HELPS` never costs anything, one in `HURTS` never helps."""

    version: str
    bias: float
    match: float
    without_evidence: float
    each_further_source: float
    counted_sources: int
    high_authority: float
    low_authority: float
    current: float
    dated: float
    contradiction: float
    budget_exhausted: float
    one_source_at_most: float
    least: float
    most: float

    def __post_init__(self) -> None:
        wrong = [name for name in HELPS if self.worth(name) < 0] + [name for name in HURTS if self.worth(name) > 0]
        if wrong:
            raise InvalidInput(f"{self.version}: {', '.join(sorted(wrong))} would turn the score the wrong way")

    @classmethod
    def shipped(cls) -> "Rubric":
        return _shipped()

    @classmethod
    def kept_in(cls, folder: Path) -> "Rubric":
        """The rubric that was calibrated for these traces, else the one that is shipped."""
        path = folder / KEPT
        try:
            return cls.parsed(path.read_text(encoding="utf-8"), str(path))
        except FileNotFoundError:
            return cls.shipped()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} cannot be read: {error}") from error

    @classmethod
    def parsed(cls, text: str, where: str) -> "Rubric":
        try:
            return cls.again(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise InvalidInput(f"{where} is no rubric: remove it, or calibrate again") from error

    @classmethod
    def again(cls, told: object) -> "Rubric":
        """The rubric a trace tells of. Traces from before it did so are scored as we score now."""
        return cls.shipped() if told is None else _RUBRIC.validate_python(told)

    def told(self) -> Mapping[str, float | int | str]:
        return asdict(self)

    def toml(self) -> str:
        """As `KEPT` holds it; JSON's way of writing strings and numbers is also TOML's."""
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in self.told().items())

    def worth(self, name: str) -> float:
        return float(self.told()[name])

    def with_worths(self, worths: Mapping[str, float], version: str) -> "Rubric":
        rounded = {name: round(worth, 3) for name, worth in worths.items()}
        return Rubric.again({**self.told(), **rounded, "version": version})

    def score(self, factors: ConfidenceFactors) -> float:
        """0 to 1: the logistic of what the factors are worth together, never certain."""
        odds = sum(self.worth(name) * amount for name, amount in self.amounts(factors).items())
        most = self.most if factors.num_corroborating_sources > 1 else min(self.most, self.one_source_at_most)
        return round(min(max(1 / (1 + math.exp(-odds)), self.least), most), 3)

    def amounts(self, factors: ConfidenceFactors) -> Mapping[str, float]:
        """How much of what each worth is for there is: the score is linear in these, before the logistic."""
        sources = min(factors.num_corroborating_sources, self.counted_sources)
        return {
            "bias": 1.0,
            "match": _log_odds(factors.query_specificity_match),
            "without_evidence": float(sources == 0),
            "each_further_source": float(max(sources - 1, 0)),
            "high_authority": float(factors.source_authority == Authority.HIGH),
            "low_authority": float(factors.source_authority == Authority.LOW),
            "current": float(factors.recency == Recency.CURRENT),
            "dated": float(factors.recency == Recency.DATED),
            "contradiction": float(factors.contradiction_detected),
            "budget_exhausted": float(factors.budget_exhausted),
        }


_RUBRIC: Final = TypeAdapter(Rubric)


@cache
def _shipped() -> Rubric:
    return Rubric.parsed((files("marchwarden.evidence") / KEPT).read_text(encoding="utf-8"), KEPT)


def _log_odds(share: float) -> float:
    bounded = min(max(share, _NEVER_CERTAIN), 1 - _NEVER_CERTAIN)
    return math.log(bounded / (1 - bounded))


def recency(published: date | None, today: date) -> Recency | None:
    """How old the newest dated evidence is: under a year, one to three, or more."""
    if published is None:
        return None
    years = (today - published).days / _DAYS_A_YEAR
    if years < 1:
        return Recency.CURRENT
    return Recency.RECENT if years <= _RECENT_YEARS else Recency.DATED
