"""Sentences that decide something: what is not so, what was found, what is better than what. Knows English only."""

import re
from typing import Final

_DECIDES: Final = re.compile(
    r"\b(?:no|not|never|cannot|only|can|must|always|found|show(?:s|ed|n)?|conclude[sd]?|suggest(?:s|ed)?|reveal(?:s|ed)?"
    r"|significant(?:ly)?|associat(?:ed|ion)|correlat\w+|differ(?:s|ed|ence|ences)?|higher|lower|increase[sd]?"
    r"|decrease[sd]?|reduce[sd]?|improve[sd]?|better|worse|(?:in)?effective|(?:un)?safe|allowed|forbidden|possible|able)\b",
    re.IGNORECASE,
)


def decides(text: str) -> bool:
    return _DECIDES.search(text) is not None
