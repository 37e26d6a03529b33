"""ArxivId: parse and format arXiv ids. Does not check whether a paper exists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Self

from marchwarden.errors import InvalidInput
from marchwarden.text.identifiers import ARXIV_PAGE

ADDRESS: Final = "https://arxiv.org"
"""The public site. Locators use it even if a mirror served the paper."""

_ARCHIVES: Final = """
    acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas cond-mat cs dg-ga
    funct-an gr-qc hep-ex hep-lat hep-ph hep-th math-ph math mtrl-th nlin nucl-ex nucl-th patt-sol physics plasm-ph
    q-alg q-bio quant-ph solv-int supr-con
"""
# A query made from a question may have lost hyphens and slashes: `quant ph 0201082 v1`.
_ARCHIVE: Final = "|".join(name.replace("-", "[- ]") for name in _ARCHIVES.split())
_MONTH: Final = r"\d{2}(?:0[1-9]|1[0-2])"
_ID: Final = re.compile(
    rf"(?<![\w-])(?<!\d\.)(?:(?P<new>{_MONTH}\.\d{{4,5}})"
    rf"|(?P<archive>{_ARCHIVE})(?:\.[a-z]{{2}})?[/ ](?P<old>{_MONTH}\d{{3}}))"
    r"(?: ?v(?P<version>[1-9]\d{0,2}))?(?![\w-]|\.\d)",
    re.IGNORECASE | re.ASCII,
)
_WRAPPED: Final = re.compile(
    rf"(?:arxiv\s*:\s*|(?:https?://)?(?:[a-z]+\.)?{ARXIV_PAGE}|(?:https?://doi\.org/)?10\.48550/arxiv\.)?"
    r"(?P<id>[^\s?#]+?)(?:\.pdf)?(?:[?#].*)?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True)
class ArxivId:
    """The id of a paper (`2104.12255`, `quant-ph/0201082`) or of one version. Without a version it means the latest."""

    number: str
    version: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an id or a URL of a paper. Raise `InvalidInput` for anything else."""
        wrapped = _WRAPPED.fullmatch(text.strip())
        match = _ID.fullmatch(wrapped["id"]) if wrapped else None
        if match is None:
            raise InvalidInput(f"{text!r} is not an arXiv id; use one such as 2104.12255, 2104.12255v2 or math/0309136")
        return cls._from_match(match)

    @classmethod
    def find_all(cls, text: str) -> tuple[Self, ...]:
        """Return every id in a text, without duplicates."""
        return tuple(dict.fromkeys(cls._find_iter(text)))

    @classmethod
    def _find_iter(cls, text: str) -> Iterator[Self]:
        for match in _ID.finditer(text):
            yield cls._from_match(match)

    @classmethod
    def _from_match(cls, match: re.Match[str]) -> Self:
        old = f"{str(match['archive']).lower().replace(' ', '-')}/{match['old']}"
        return cls(match["new"] or old, int(match["version"]) if match["version"] else None)

    @staticmethod
    def remove_from(text: str) -> str:
        """Return the text without its ids."""
        return _ID.sub(" ", text)

    @property
    def latest(self) -> "ArxivId":
        return replace(self, version=None)

    @property
    def locator(self) -> str:
        return f"{ADDRESS}/abs/{self}"

    def __str__(self) -> str:
        return self.number if self.version is None else f"{self.number}v{self.version}"
