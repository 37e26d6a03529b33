"""Data types of the arXiv researcher: a paper, how it is cited, and the endpoints of arXiv."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final, Self

from marchwarden.contract import Authority
from marchwarden.errors import InvalidInput, SourceError
from marchwarden.fetching.urls import Url, parse_url
from marchwarden.researchers.arxiv.identifiers import ADDRESS, ArxivId
from marchwarden.settings import home_folder

SOURCE: Final = "arxiv"
API_URL: Final = "MARCHWARDEN_ARXIV_URL"
PAGES_URL: Final = "MARCHWARDEN_ARXIV_PAGES_URL"
SECONDS: Final = "MARCHWARDEN_ARXIV_SECONDS"
POLITE_SECONDS: Final = 3.0
"""Minimum pause between requests that arXiv asks for, counted over all machines of one operator."""
_OWN_API: Final = "https://export.arxiv.org/api/query"
_OWN_HOST: Final = "arxiv.org"
_OWN_DOI: Final = "10.48550/"
_GROUP_NAMES: Final = frozenset(
    {"collaboration", "collaborations", "consortium", "team", "group", "project", "committee"}
)
_NAME_SUFFIXES: Final = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})
_PAIR: Final = 2


@dataclass(frozen=True)
class Paper:
    """One version of a paper as arXiv describes it. `entry` is the Atom entry as XML.

    `submitted` is the date of the first version, `updated` the date of this one.
    """

    id: ArxivId
    title: str
    authors: tuple[str, ...]
    abstract: str = field(repr=False)
    submitted: date
    updated: date
    categories: tuple[str, ...] = ()
    comment: str = ""
    journal: str = ""
    doi: str = ""
    withdrawn: bool = False
    entry: bytes = field(default=b"", repr=False, compare=False)

    @property
    def citation(self) -> str:
        """`Scour at the piers (Okoye and Brandt, 2020)`."""
        return format_citation(self.title, self.authors, self.updated.year)

    @property
    def published_doi(self) -> str:
        """The DOI of the journal version. arXiv's own DOI only says that the paper is on arXiv."""
        return "" if self.doi.startswith(_OWN_DOI) else self.doi

    @property
    def authority(self) -> Authority:
        """High if a journal published the paper. Preprints are moderated, but not peer reviewed."""
        return Authority.HIGH if self.journal or self.published_doi else Authority.MEDIUM


@dataclass(frozen=True)
class Endpoints:
    """The addresses of the API and the paper pages, and the pause between two requests."""

    api: str = _OWN_API
    pages: str = ADDRESS
    seconds: float = POLITE_SECONDS

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read the endpoints from environment variables. Only a mirror may be queried faster than arXiv allows."""
        api = _configured_url(environ.get(API_URL) or _OWN_API, API_URL)
        pages = _configured_url(environ.get(PAGES_URL) or ADDRESS, PAGES_URL)
        floor = POLITE_SECONDS if any(map(_is_arxiv, (api, pages))) else 0.0
        return cls(_without_slash(api), _without_slash(pages), max(_parse_seconds(environ.get(SECONDS)), floor))

    @property
    def api_host(self) -> str:
        return parse_url(self.api).authority

    @property
    def pages_host(self) -> str:
        return parse_url(self.pages).authority

    def serves(self, address: str) -> bool:
        """Tell whether a URL belongs to the configured pages host or to arXiv itself."""
        target = parse_url(address)
        return target.authority == self.pages_host or _is_arxiv(target)


def library_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the library and of the rate limiter's files."""
    return home_folder(environ) / "arxiv"


def _configured_url(text: str, variable: str) -> Url:
    try:
        return parse_url(text)
    except SourceError as error:
        raise InvalidInput(f"{variable} must be an http or https URL") from error


def _without_slash(target: Url) -> str:
    return str(target).rstrip("/")


def _is_arxiv(target: Url) -> bool:
    return target.host == _OWN_HOST or target.host.endswith(f".{_OWN_HOST}")


def _parse_seconds(text: str | None) -> float:
    try:
        seconds = float(text or POLITE_SECONDS)
    except ValueError as error:
        raise InvalidInput(f"{SECONDS} must be a number of seconds") from error
    if not 0 <= seconds <= 60:  # noqa: PLR2004 - a minute
        raise InvalidInput(f"{SECONDS} must be between 0 and 60")
    return seconds


def format_citation(title: str, authors: Sequence[str], year: int) -> str:
    """Format `Title (Okoye and Brandt, 2020)`. Three or more authors become `Okoye et al.`."""
    names = [family_name(name) for name in authors]
    if not names:
        return f"{title} ({year})"
    author_text = " and ".join(names) if len(names) <= _PAIR else f"{names[0]} et al."
    return f"{title} ({author_text}, {year})"


def family_name(name: str) -> str:
    """Return the family name with its particles: `de With` for `Peter H. N. de With`. Names of groups stay whole."""
    words = name.split()
    if len(words) < _PAIR or words[-1].casefold() in _GROUP_NAMES:
        return name
    end = len(words) - (words[-1].casefold() in _NAME_SUFFIXES)
    start = end - 1
    while start > 1 and words[start - 1].islower():
        start -= 1
    return " ".join(words[start:end])
