"""Track what one run may still spend. Adds up recorded steps and reads no clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import Depth, ResearchConstraints

WALL_TIME_SEC: Final[Mapping[Depth, float]] = {Depth.SHALLOW: 60.0, Depth.BALANCED: 180.0, Depth.DEEP: 600.0}
CONCLUSION_SHARE: Final = 0.4
CHARACTERS_PER_TOKEN: Final = 4


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text where no model reports a count."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@dataclass(frozen=True)
class Allowance:
    """Limits for one thought of a mind or one round of the loop."""

    tokens: int
    sources: int
    iterations: int
    seconds: float


class Budget:
    """Iterations, tokens, sources and seconds, none of which can be exceeded.

    Part of the tokens is reserved for the conclusion from the start. `shortages` lists the work that was skipped
    because a limit was reached; the budget is exhausted if and only if that list is not empty.
    """

    def __init__(self, limits: ResearchConstraints, *, wall_time_sec: float, conclusion_tokens: int = 0) -> None:
        self.limits = limits
        self.wall_time_sec = limits.max_wall_time_sec or wall_time_sec
        self.reserve = min(max(conclusion_tokens, 0), int(limits.token_budget * CONCLUSION_SHARE))
        self.tokens_used = 0
        self.sources_used = 0
        self.iterations_run = 0
        self.elapsed = 0.0
        self.shortages: list[str] = []

    @property
    def exhausted(self) -> bool:
        return bool(self.shortages)

    def left(self) -> Allowance:
        """Return what may be spent now, without the reserve for the conclusion."""
        return Allowance(
            tokens=max(self.limits.token_budget - self.tokens_used - self.reserve, 0),
            sources=self.limits.max_sources - self.sources_used,
            iterations=self.limits.max_iterations - self.iterations_run,
            seconds=max(self.wall_time_sec - self.elapsed, 0.0),
        )

    def left_to_conclude(self) -> Allowance:
        """Return what the conclusion may spend: everything that is left."""
        left = self.left()
        tokens = self.limits.token_budget - self.tokens_used
        return Allowance(tokens=tokens, sources=left.sources, iterations=left.iterations, seconds=left.seconds)

    def begin_iteration(self) -> None:
        assert self.iterations_run < self.limits.max_iterations, "the loop asks before it begins"
        self.iterations_run += 1

    def take_sources(self, wanted: int) -> int:
        """Return how many of the wanted sources may be fetched, and count them as used."""
        granted = min(wanted, self.limits.max_sources - self.sources_used)
        self.sources_used += granted
        return granted

    def charge(self, tokens: int, allowed: Allowance, what: str) -> None:
        """Charge the cost of a thought. A cost above its allowance uses up everything except the reserve."""
        self.tokens_used += min(max(tokens, 0), allowed.tokens)
        if tokens > allowed.tokens:
            self.run_short(f"{what} reported {tokens} tokens, {allowed.tokens} were allowed")
            self.tokens_used = max(self.tokens_used, self.limits.token_budget - self.reserve)

    def at(self, elapsed: float) -> None:
        """Advance the clock to the time of a recorded step. Parallel steps may arrive in any order."""
        self.elapsed = max(self.elapsed, elapsed)

    def run_short(self, reason: str) -> None:
        if reason not in self.shortages:
            self.shortages.append(reason)
