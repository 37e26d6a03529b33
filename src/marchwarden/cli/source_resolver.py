"""Find the source that can fetch a citation again, rebuilt from the trace.

Such a source uses no stored copies: no cached pages, no papers of the library.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.rebuild import member_source, spec_from_trace
from marchwarden.researchers.registry import researcher_specs
from marchwarden.researchers.spec import BuildContext

if TYPE_CHECKING:
    from marchwarden.contract import Citation
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings
    from marchwarden.storage.record import RunHeader


@dataclass(frozen=True)
class Origin:
    """A kind of researcher and the description of its source, from a trace."""

    kind: str
    description: Mapping[str, object]

    @property
    def key(self) -> str:
        return json.dumps([self.kind, self.description], sort_keys=True, default=str)


@dataclass(frozen=True)
class SourceResolver:
    """Builds the sources of one run, each once. `scratch` is an empty folder that exists as long as they do."""

    header: "RunHeader"
    settings: "Settings"
    scratch: Path
    _built: dict[str, "Source"] = field(default_factory=dict)

    def __call__(self, citation: "Citation") -> "Source":
        """Return the source of a citation. Raises a `MarchwardenError` that says why there is none."""
        from marchwarden.errors import InvalidInput

        origin = next(self._candidates(citation), None)
        if origin is None:
            name = citation.researcher or citation.source
            raise InvalidInput(f"only {name} can fetch this, and it is an external researcher")
        if origin.key not in self._built:
            self._built[origin.key] = self._build(origin)
        return self._built[origin.key]

    def _candidates(self, citation: "Citation") -> Iterator[Origin]:
        """Yield the researchers that found it, then a kind that can read its locator."""
        if self.header.source != "pi":
            yield Origin(self.header.researcher, self.header.settings)
            return
        from marchwarden.orchestrator.external import REGISTERED
        from marchwarden.orchestrator.offline import recorded_members

        names = (citation.researcher or "").split(", ")
        for member in recorded_members(self.header.settings):
            if member.name in names and member.settings.get("kind") != REGISTERED:
                yield Origin(*member_source(member.settings))
        if kind := _kind_for(citation.locator):
            yield Origin(kind, {})

    def _build(self, origin: Origin) -> "Source":
        from marchwarden.minds.extractive import ExtractiveMind
        from marchwarden.storage.store import Store

        context = BuildContext(self.settings, Store.at(self.scratch, self.settings.environ), ExtractiveMind())
        return spec_from_trace(origin.kind).source_to_recheck(origin.description, context)


def _kind_for(locator: str) -> str:
    """Return the kind whose pattern matches most of the locator: `web` matches arxiv.org, too."""
    matches = {
        kind: match.end()
        for kind, spec in researcher_specs().items()
        if spec.locators and (match := re.match(spec.locators, locator, re.IGNORECASE))
    }
    return max(matches, key=lambda kind: matches[kind], default="")
