"""Compute the confidence of a result from its published factors, with the weights of a rubric.

The rubric is the shipped `rubric.toml`, or the file that `marchwarden calibrate --keep` saved with the traces.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from marchwarden.contract import Authority, ConfidenceFactors, Recency
from marchwarden.core.config_file import parse_toml, read_config
from marchwarden.errors import InvalidInput

RUBRIC_FILE: Final = "rubric.toml"
HELPS: Final = frozenset({"match", "each_further_source", "high_authority", "current"})
HURTS: Final = frozenset({"without_evidence", "low_authority", "dated", "contradiction", "budget_exhausted"})

_DAYS_PER_YEAR: Final = 365.25
_RECENT_YEARS: Final = 3
_LEAST_SHARE: Final = 0.01


@dataclass(frozen=True)
class Rubric:
    """Weight of each factor in log-odds. Weights in `HELPS` are never negative, those in `HURTS` never positive."""

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
        wrong = [name for name in HELPS if self.weight(name) < 0] + [name for name in HURTS if self.weight(name) > 0]
        if wrong:
            raise InvalidInput(f"{self.version}: wrong sign: {', '.join(sorted(wrong))}")

    @classmethod
    def shipped(cls) -> "Rubric":
        return _shipped()

    @classmethod
    def load(cls, folder: Path) -> "Rubric":
        """Load the rubric saved in a trace folder, or the shipped one."""
        path = folder / RUBRIC_FILE
        text = read_config(path)
        return cls.shipped() if text is None else cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, where: str) -> "Rubric":
        try:
            return cls.from_trace(parse_toml(text, where))
        except ValidationError as error:
            raise InvalidInput(f"{where} is not a valid rubric: delete it or calibrate again") from error

    @classmethod
    def from_trace(cls, recorded: object) -> "Rubric":
        """Return the rubric recorded in a trace. Old traces have none and use the shipped one."""
        return cls.shipped() if recorded is None else _RUBRIC.validate_python(recorded)

    def to_json(self) -> Mapping[str, float | int | str]:
        return asdict(self)

    def to_toml(self) -> str:
        """Serialise to TOML. JSON strings and numbers are valid TOML."""
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in self.to_json().items())

    def weight(self, name: str) -> float:
        return float(self.to_json()[name])

    def with_weights(self, weights: Mapping[str, float], version: str) -> "Rubric":
        rounded = {name: round(weight, 3) for name, weight in weights.items()}
        return Rubric.from_trace({**self.to_json(), **rounded, "version": version})

    def score(self, factors: ConfidenceFactors) -> float:
        """Return a confidence between 0 and 1: the logistic of the weighted factors, within the rubric's limits."""
        odds = sum(self.weight(name) * amount for name, amount in self.amounts(factors).items())
        most = self.most if factors.num_corroborating_sources > 1 else min(self.most, self.one_source_at_most)
        return round(min(max(1 / (1 + math.exp(-odds)), self.least), most), 3)

    def amounts(self, factors: ConfidenceFactors) -> Mapping[str, float]:
        """Return the value of each factor, before weighting."""
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
    return Rubric.parse((files("marchwarden.evidence") / RUBRIC_FILE).read_text(encoding="utf-8"), RUBRIC_FILE)


def _log_odds(share: float) -> float:
    bounded = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
    return math.log(bounded / (1 - bounded))


def recency(published: date | None, today: date) -> Recency | None:
    """Classify the age of the newest dated evidence: under a year, one to three years, or older."""
    if published is None:
        return None
    years = (today - published).days / _DAYS_PER_YEAR
    if years < 1:
        return Recency.CURRENT
    return Recency.RECENT if years <= _RECENT_YEARS else Recency.DATED
