"""Share one budget among all dispatches. Tokens are reserved before a dispatch starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest

FEWEST_TOKENS: Final = 1_000
"""The smallest token budget that the contract allows."""
DISPATCHES: Final[Mapping[Depth, int]] = {Depth.SHALLOW: 4, Depth.BALANCED: 8, Depth.DEEP: 16}
FIRST_SHARE: Final = 0.7
"""Share of tokens and sources for the first dispatches. The rest pays for follow-ups."""
FEWEST_TO_KEEP_BACK: Final = 4_000
"""With fewer tokens than this, the first dispatches get all of them."""


@dataclass(frozen=True)
class Grant:
    """The most that one dispatch may spend."""

    tokens: int
    sources: int


SMALLEST: Final = Grant(FEWEST_TOKENS, 1)


class SharedBudget:
    """Tokens, sources and dispatches. A grant is reserved until it is settled; unspent tokens are returned."""

    def __init__(self, tokens: int, sources: int, dispatches: int) -> None:
        self.tokens = tokens
        self.sources = sources
        self.dispatches = dispatches
        self.spent = 0

    def affords(self) -> int:
        """Return how many grants of the smallest size the budget allows."""
        return max(min(self.tokens // FEWEST_TOKENS, self.sources, self.dispatches), 0)

    def split(self, weights: list[float]) -> list[Grant]:
        """Reserve the first grants by weight, as many as the budget allows, and keep a part for follow-ups."""
        paid = weights[: self.affords()]
        share = FIRST_SHARE if self.tokens >= FEWEST_TO_KEEP_BACK else 1.0
        tokens, sources = int(self.tokens * share), max(int(self.sources * FIRST_SHARE), len(paid))
        spare, free = tokens - FEWEST_TOKENS * len(paid), sources - len(paid)
        total_weight = sum(paid)
        if spare < 0:
            return [self._grant(FEWEST_TOKENS, 1) for _ in paid]
        return [
            self._grant(FEWEST_TOKENS + int(spare * weight / total_weight), 1 + int(free * weight / total_weight))
            for weight in paid
        ]

    def one(self, *, waiting: int, at_least: Grant = SMALLEST) -> Grant | None:
        """Reserve a grant for one of `waiting` follow-ups. Returns None if the budget is too small."""
        if not self.affords() or self.tokens < at_least.tokens or self.sources < at_least.sources:
            return None
        share = max(waiting, 1)
        return self._grant(max(self.tokens // share, at_least.tokens), max(self.sources // share, at_least.sources))

    def settle(self, grant: Grant, tokens_used: int) -> int:
        """Charge what a dispatch used, at most what is available, and return that amount."""
        used = min(tokens_used, grant.tokens + self.tokens)
        self.spent += used
        self.tokens += grant.tokens - used
        return used

    def _grant(self, tokens: int, sources: int) -> Grant:
        self.tokens -= tokens
        self.sources -= sources
        self.dispatches -= 1
        return Grant(tokens, sources)


def sources_for(request: ResearchRequest, researchers: int) -> int:
    """Return the sources for the whole run: the caller's limit, or the depth's limit per researcher."""
    limits = request.limits()
    is_given = request.constraints is not None and "max_sources" in request.constraints.model_fields_set
    return limits.max_sources if is_given else limits.max_sources * max(researchers, 1)


def constraints_of(grant: Grant, limits: ResearchConstraints, seconds: float) -> ResearchConstraints:
    """Return the limits of one dispatch."""
    return ResearchConstraints(
        max_iterations=limits.max_iterations,
        token_budget=grant.tokens,
        max_sources=grant.sources,
        source_filter=limits.source_filter,
        max_wall_time_sec=seconds,
    )
