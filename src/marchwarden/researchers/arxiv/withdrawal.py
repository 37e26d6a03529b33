"""Whether a paper was taken back. arXiv has no field for it: the comment or the abstract says so, in its own words."""

import re
from typing import Final

_THING: Final = r"(?:paper|article|manuscript|submission|preprint|work|note|version|document|letter|report)"
_TAKEN: Final = r"(?:withdrawn|retracted)"
_TOLD: Final = re.compile(
    rf"\b(?:this|the|our|present)\s+(?:\w+\s+)?{_THING}\s+(?:has\s+been|have\s+been|is|was)\s+(?:being\s+|now\s+)?{_TAKEN}\b"
    rf"|\b(?:has|have)\s+been\s+{_TAKEN}\s+(?:by|from\s+arxiv|due|because|for|until|pending)\b"
    rf"|\b{_TAKEN}\s+by\s+(?:the\s+|its\s+)?(?:\w+\s+)?(?:authors?|submitters?|arxiv|admin\w*)\b"
    r"|\b(?:i|we|the\s+authors?)\s+(?:have\s+|has\s+)?(?:withdrawn?|withdrew|retract(?:ed)?)\s+(?:this|the|our)\s+"
    rf"(?:\w+\s+)?{_THING}\b",
    re.IGNORECASE,
)
_OPENS: Final = re.compile(rf"\W*(?:this\s+)?(?:{_THING}\s+)?(?:temporarily\s+)?{_TAKEN}\b", re.IGNORECASE)
_NOT: Final = re.compile(r"\b(?:not|never)\s+(?:been\s+|be\s+)?(?:withdrawn|retracted)\b", re.IGNORECASE)
LONGEST_NOTICE: Final = 400
"""Characters. The abstract of a paper taken back says little else; a longer one may speak of other papers."""


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Whether these are the words of a paper that was taken back, not of one about papers taken back."""
    if _NOT.search(comment):
        return False
    if _OPENS.match(comment) or _TOLD.search(comment):
        return True
    opening = abstract[:LONGEST_NOTICE]
    return bool(_TOLD.match(opening.lstrip()) or (len(abstract) <= LONGEST_NOTICE and _TOLD.search(abstract)))
