"""The purse: one total budget, out of which every dispatch is paid before it is sent. Reads no clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import Depth, ResearchConstraints, ResearchRequest

FEWEST_TOKENS: Final = 1_000
"""What the contract lets a researcher be given at least."""
DISPATCHES: Final[Mapping[Depth, int]] = {Depth.SHALLOW: 4, Depth.BALANCED: 8, Depth.DEEP: 16}
FIRST_SHARE: Final = 0.7
"""Of tokens and sources, for the first dispatches; the rest is for what they turn up."""
FEWEST_TO_KEEP_BACK: Final = 4_000
"""Below it there are no tokens to keep back: the first dispatches get them all."""


@dataclass(frozen=True)
class Grant:
    """What one dispatch may spend at most."""

    tokens: int
    sources: int


SMALLEST: Final = Grant(FEWEST_TOKENS, 1)


class SharedBudget:
    """Tokens, sources and dispatches. What is granted is gone until it is settled; what is left unspent comes back."""

    def __init__(self, tokens: int, sources: int, dispatches: int) -> None:
        self.tokens = tokens
        self.sources = sources
        self.dispatches = dispatches
        self.spent = 0

    def affords(self) -> int:
        """How many dispatches can be paid at the least."""
        return max(min(self.tokens // FEWEST_TOKENS, self.sources, self.dispatches), 0)

    def split(self, weights: list[float]) -> list[Grant]:
        """The first grants, by weight, as many as can be paid; a part is kept back where there is enough."""
        paid = weights[: self.affords()]
        share = FIRST_SHARE if self.tokens >= FEWEST_TO_KEEP_BACK else 1.0
        tokens, sources = int(self.tokens * share), max(int(self.sources * FIRST_SHARE), len(paid))
        spare, free = tokens - FEWEST_TOKENS * len(paid), sources - len(paid)
        whole = sum(paid)
        if spare < 0:
            return [self._grant(FEWEST_TOKENS, 1) for _ in paid]
        return [
            self._grant(FEWEST_TOKENS + int(spare * weight / whole), 1 + int(free * weight / whole)) for weight in paid
        ]

    def one(self, *, waiting: int, at_least: Grant = SMALLEST) -> Grant | None:
        """A grant for one follow-up of so many that wait, or None where that cannot be paid."""
        if not self.affords() or self.tokens < at_least.tokens or self.sources < at_least.sources:
            return None
        share = max(waiting, 1)
        return self._grant(max(self.tokens // share, at_least.tokens), max(self.sources // share, at_least.sources))

    def settle(self, grant: Grant, tokens_used: int) -> int:
        """Book what a dispatch used and say how much that is: whoever overspends can spend no more than is there."""
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
    """The sources of all together: what the caller said, or, where that is left to the depth, the depth's for each."""
    limits = request.limits()
    said = request.constraints is not None and "max_sources" in request.constraints.model_fields_set
    return limits.max_sources if said else limits.max_sources * max(researchers, 1)


def constraints_of(grant: Grant, limits: ResearchConstraints, seconds: float) -> ResearchConstraints:
    """The limits of one dispatch."""
    return ResearchConstraints(
        max_iterations=limits.max_iterations,
        token_budget=grant.tokens,
        max_sources=grant.sources,
        source_filter=limits.source_filter,
        max_wall_time_sec=seconds,
    )
