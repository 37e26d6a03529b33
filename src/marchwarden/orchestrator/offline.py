"""The PI of an earlier run, rebuilt with nobody in it: whatever it was told is in its trace, or nowhere."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import MalformedTrace, ReplayDiverged
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.protocols import Mind, ProgressSink, quiet
from marchwarden.storage.record import Opening
from marchwarden.storage.store import Store


class Listed(BaseModel):
    """A member as the first line of a trace lists it."""

    name: str
    purpose: str
    scope: tuple[str, ...] = ()
    given: bool = False
    settings: Mapping[str, object] = {}


_LISTED: Final = TypeAdapter(tuple[Listed, ...])


def listed(settings: Mapping[str, object]) -> tuple[Listed, ...]:
    try:
        return _LISTED.validate_python(settings.get("researchers"))
    except ValidationError as error:
        raise MalformedTrace("the trace does not say which researchers its PI had") from error


class AbsentResearcher:
    """Stands where a researcher stood."""

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = quiet,
    ) -> ResearchResult:
        raise ReplayDiverged(f"the trace holds no dispatch for {question!r}")


def without_researchers(store: Store, opening: Opening, mind: Mind, embedded: Mind) -> PrincipalInvestigator:
    members = [
        Member(each.name, each.purpose, AbsentResearcher(), each.scope, each.given, each.settings)
        for each in listed(opening.settings)
    ]
    return PrincipalInvestigator(Roster(members), mind, store=store, fallback=embedded, name=opening.researcher)
