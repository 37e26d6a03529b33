"""Origins: which source could have fetched what a run cites, built again from what its trace says of it.

Built beside nothing that was kept: no page from memory, no paper from the library. Whoever asks here really looks.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.researchers.registry import ResearcherSpec

if TYPE_CHECKING:
    from marchwarden.contract import Citation
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings
    from marchwarden.storage.record import RunHeader

_ARXIV = re.compile(r"arxiv\s*:|https?://(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html)/", re.IGNORECASE)
_WEB = re.compile(r"https?://|doi\s*:", re.IGNORECASE)


@dataclass(frozen=True)
class Origin:
    """A kind of researcher, and what its trace says about its source."""

    kind: str
    described: Mapping[str, object]

    @property
    def key(self) -> str:
        return json.dumps([self.kind, self.described], sort_keys=True, default=str)


@dataclass(frozen=True)
class SourceResolver:
    """The sources of one run, each built once. `beside` is an empty folder that lasts as long as they do."""

    opening: "RunHeader"
    settings: "Settings"
    beside: Path
    _built: dict[str, "Source"] = field(default_factory=dict)

    def __call__(self, citation: "Citation") -> "Source":
        """The source of a citation; raises a `MarchwardenError` that says why there is none here."""
        from marchwarden.errors import InvalidInput

        origin = next(self._candidates(citation), None)
        if origin is None:
            who = citation.researcher or citation.source
            raise InvalidInput(f"only {who}, who is not one of ours, knows where this is")
        if origin.key not in self._built:
            self._built[origin.key] = self._source(origin)
        return self._built[origin.key]

    def _candidates(self, citation: "Citation") -> Iterator[Origin]:
        """Of a PI's run those members that found it, or whoever reads such a place: what strangers cite, too."""
        if self.opening.source != "pi":
            yield Origin(self.opening.researcher, self.opening.settings)
            return
        from marchwarden.orchestrator.external import REGISTERED
        from marchwarden.orchestrator.offline import recorded_members

        names = (citation.researcher or "").split(", ")
        for member in recorded_members(self.opening.settings):
            if member.name in names and (kind := member.settings.get("kind")) != REGISTERED:
                source = member.settings.get("source")
                yield Origin(str(kind), source if isinstance(source, dict) else {})
        if _ARXIV.match(citation.locator):
            yield Origin("arxiv", {})
        elif _WEB.match(citation.locator):
            yield Origin("web", {})

    def _source(self, origin: Origin) -> "Source":
        from marchwarden.minds.extractive import ExtractiveMind

        described = _still_there(origin)
        source = ResearcherSpec.again(origin.kind, described, self.settings, self.beside, ExtractiveMind()).source
        if origin.kind == "arxiv":
            _without_library(source, self.beside)
        return source


def _still_there(origin: Origin) -> Mapping[str, object]:
    """What a source was given, as far as it exists: a folder that was deleted is gone, and not a mistake of ours."""
    from marchwarden.contract import GapCategory
    from marchwarden.errors import SourceError

    match origin.kind, origin.described:
        case "files", {"folders": [*folders]}:
            paths = [str(each.get("path")) if isinstance(each, Mapping) else "" for each in folders]
            left = [each for each, path in zip(folders, paths, strict=True) if Path(path).exists()]
            if left or not folders:
                return {**origin.described, "folders": left}
            gone = ", ".join(paths)
        case "database", {"database": str(address)} if "://" not in address and not Path(address).exists():
            gone = str(origin.described.get("shown"))
        case _:
            return origin.described
    raise SourceError(f"there is no {gone} any more", GapCategory.SOURCE_NOT_FOUND)


def _without_library(source: "Source", beside: Path) -> None:
    """A paper that somebody keeps says nothing about what arXiv has; its turns stay those of everybody."""
    from marchwarden.researchers.arxiv.library import Library
    from marchwarden.researchers.arxiv.tools import ArxivSource

    if isinstance(source, ArxivSource):
        source.library = Library(beside / "library")
