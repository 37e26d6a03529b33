"""Find the source that can fetch a citation again, rebuilt from the trace.

It reads no stored copies: no cached page, no paper of the library.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.selection import member_source
from marchwarden.researchers.registry import researcher_spec, researcher_specs
from marchwarden.researchers.spec import BuildContext

if TYPE_CHECKING:
    from marchwarden.contract import Citation
    from marchwarden.protocols import Source
    from marchwarden.settings import Settings
    from marchwarden.storage.record import RunHeader


@dataclass(frozen=True)
class Origin:
    """A kind of researcher, and what the trace says about its source."""

    kind: str
    described: Mapping[str, object]

    @property
    def key(self) -> str:
        return json.dumps([self.kind, self.described], sort_keys=True, default=str)


@dataclass(frozen=True)
class SourceResolver:
    """The sources of one run, each built once. `scratch` is an empty folder that exists as long as they do."""

    header: "RunHeader"
    settings: "Settings"
    scratch: Path
    _built: dict[str, "Source"] = field(default_factory=dict)

    def __call__(self, citation: "Citation") -> "Source":
        """Return the source of a citation. Raises a `MarchwardenError` that says why there is none."""
        from marchwarden.errors import InvalidInput

        origin = next(self._candidates(citation), None)
        if origin is None:
            who = citation.researcher or citation.source
            raise InvalidInput(f"only {who}, who is not one of ours, knows where this is")
        if origin.key not in self._built:
            self._built[origin.key] = self._build(origin)
        return self._built[origin.key]

    def _candidates(self, citation: "Citation") -> Iterator[Origin]:
        """Yield the members of a PI that found it, then a kind that reads such locators, whoever cited them."""
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
        from marchwarden.errors import MalformedTrace
        from marchwarden.minds.extractive import ExtractiveMind
        from marchwarden.storage.store import Store

        spec = researcher_spec(origin.kind)
        if spec is None:
            raise MalformedTrace(f"this run was made by a researcher unknown here: {origin.kind!r}")
        store = Store.at(self.scratch, self.settings.environ)
        return spec.source_to_recheck(origin.described, BuildContext(self.settings, store, ExtractiveMind()))


def _kind_for(locator: str) -> str:
    """Return the kind whose pattern matches most of the locator: arxiv.org is on the web, too."""
    matches = {
        kind: match.end()
        for kind, spec in researcher_specs().items()
        if spec.locators and (match := re.match(spec.locators, locator, re.IGNORECASE))
    }
    return max(matches, key=lambda kind: matches[kind], default="")
