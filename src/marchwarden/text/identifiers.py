"""Regular expressions for identifiers of publications. Callers add the prefix and the flags that fit their text."""

from typing import Final

ARXIV_PAGE: Final = r"arxiv\.org/(?:abs|pdf|html)/"
"""The address of a paper on arXiv, without the scheme and up to its id."""
ARXIV_ID: Final = r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})"
"""The id of a paper without its version: `2104.12255`, `math.gt/0309136`. Match it with `re.IGNORECASE`."""
DOI_PREFIX: Final = r"10\.\d{4,9}/"
"""The registrant of a DOI, up to the slash. The suffix may contain almost any character."""
