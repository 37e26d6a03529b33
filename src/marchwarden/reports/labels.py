"""Labels and formats used in reports: confidence bands, gap categories, dates, durations and costs."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

from marchwarden.contract import GapCategory, Priority

BANDS: Final = (
    (0.9, "several strong sources agree"),
    (0.7, "well supported"),
    (0.5, "few sources"),
    (0.0, "low confidence: check this yourself"),
)
GAPS: Final[Mapping[GapCategory, tuple[str, str]]] = {
    GapCategory.SOURCE_NOT_FOUND: (
        "Not found",
        "Ask another researcher, add more sources, or leave it open.",
    ),
    GapCategory.ACCESS_DENIED: (
        "Could not be read",
        "Open the source yourself, or provide access to it and ask again.",
    ),
    GapCategory.BUDGET_EXHAUSTED: (
        "The budget ran out",
        "Ask again with more tokens, sources or time, or accept the partial answer.",
    ),
    GapCategory.CONTRADICTORY_SOURCES: (
        "Sources contradict each other",
        "Compare the excerpts above and decide which source to trust, or ask an expert.",
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
    """Format a trace timestamp, or return it unchanged if it is not ISO 8601."""
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
    """Format a cost. Tokens without a known price are always mentioned."""
    amount = f"${known:.4f}" if known else ""
    missing = f"{unpriced:,} tokens at an unknown price" if unpriced else ""
    return " and ".join(part for part in (amount, missing) if part)
