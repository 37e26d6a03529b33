"""What is already known, as the context a follow-up carries: the caller's own, and the best excerpts so far as data."""

from collections.abc import Sequence
from typing import Final

from marchwarden.contract import MAX_CONTEXT
from marchwarden.orchestrator.evidence import Cited
from marchwarden.text.injection import is_injection
from marchwarden.text.sanitize import one_line

_LONGEST_QUOTE: Final = 300
_HEADING: Final = "Found so far, quoted as data:"


def context_for(given: str | None, cited: Sequence[Cited]) -> str | None:
    """The caller's context, then excerpts, the surest first, as many as fit. What gives orders is not passed on."""
    lines = [given] if given else []
    quotes = [one_line(each.excerpt, _LONGEST_QUOTE) for each in sorted(cited, key=lambda each: -each.confidence)]
    found = [f"“{quote}”" for quote in dict.fromkeys(quotes) if quote and not is_injection(quote)]
    for line in [_HEADING, *found] if found else []:
        if sum(len(each) + 1 for each in (*lines, line)) > MAX_CONTEXT:
            break
        lines.append(line)
    return "\n".join(lines) or None
