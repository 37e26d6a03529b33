"""Wording: dates, sums and categories in the words a report uses."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

from marchwarden.contract import GapCategory, Priority

BANDS: Final = (
    (0.9, "several strong sources agree"),
    (0.7, "mostly grounded"),
    (0.5, "few sources"),
    (0.0, "have a person look"),
)
GAPS: Final[Mapping[GapCategory, tuple[str, str]]] = {
    GapCategory.SOURCE_NOT_FOUND: (
        "Not found here",
        "Ask another researcher, give it more to read, or accept that this stays open.",
    ),
    GapCategory.ACCESS_DENIED: (
        "Could not be read",
        "Open the source yourself or use an access that has the right to it; then ask again.",
    ),
    GapCategory.BUDGET_EXHAUSTED: (
        "The budget ran out",
        "Ask again with more tokens, sources or time, or accept the part that was answered.",
    ),
    GapCategory.CONTRADICTORY_SOURCES: (
        "Sources contradict each other",
        "Compare the excerpts above and decide which source to follow, or ask somebody who knows.",
    ),
    GapCategory.SCOPE_EXCEEDED: (
        "Another kind of source is needed",
        "Ask a researcher that can read it: the web, arXiv, your files or a database.",
    ),
}
PRIORITIES: Final = (Priority.HIGH.value, Priority.MEDIUM.value, Priority.LOW.value)


def band(confidence: float) -> str:
    return next(words for least, words in BANDS if confidence >= least)


def day(moment: date) -> str:
    return f"{moment.day} {moment:%B %Y}"


def moment(timestamp: str) -> str:
    """A trace's timestamp as a person says it; as it stands where it is none."""
    try:
        read = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    return f"{day(read)}, {read:%H:%M} UTC"


def seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.0f} ms"
    minutes, rest = divmod(value, 60)
    return f"{minutes:.0f} min {rest:.0f} s" if minutes else f"{value:.1f} s"


def dollars(known: float, unpriced: int = 0) -> str:
    """Money, and never silence about tokens nobody knows the price of."""
    amount = f"${known:.4f}" if known else ""
    missing = f"{unpriced:,} tokens at a price unknown here" if unpriced else ""
    return " and ".join(part for part in (amount, missing) if part)
