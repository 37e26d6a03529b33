"""Rebuild the PI of an earlier run without its researchers, to re-run it from the trace."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from marchwarden.contract import Depth, ResearchConstraints, ResearchResult
from marchwarden.errors import MalformedTrace, ReplayDiverged
from marchwarden.orchestrator.pi import PrincipalInvestigator
from marchwarden.orchestrator.roster import Member, Roster
from marchwarden.protocols import Mind, ProgressSink, ignore_progress
from marchwarden.storage.record import RunHeader
from marchwarden.storage.store import Store


class RecordedMember(BaseModel):
    """A member as listed in the first line of a trace."""

    name: str
    purpose: str
    scope: tuple[str, ...] = ()
    given: bool = False
    settings: Mapping[str, object] = {}


_LISTED: Final = TypeAdapter(tuple[RecordedMember, ...])


def recorded_members(settings: Mapping[str, object]) -> tuple[RecordedMember, ...]:
    try:
        return _LISTED.validate_python(settings.get("researchers"))
    except ValidationError as error:
        raise MalformedTrace("the trace does not say which researchers its PI had") from error


class OfflineResearcher:
    """Replaces a researcher in a re-run. Any call means that the re-run differs from the trace."""

    async def research(
        self,
        question: str,
        context: str | None = None,
        depth: str = Depth.BALANCED,
        constraints: ResearchConstraints | None = None,
        *,
        progress: ProgressSink = ignore_progress,
    ) -> ResearchResult:
        raise ReplayDiverged(f"the trace holds no dispatch for {question!r}")


def rebuild_pi_offline(store: Store, opening: RunHeader, mind: Mind, embedded: Mind) -> PrincipalInvestigator:
    members = [
        Member(each.name, each.purpose, OfflineResearcher(), each.scope, each.given, each.settings)
        for each in recorded_members(opening.settings)
    ]
    return PrincipalInvestigator(Roster(members), mind, store=store, fallback=embedded, name=opening.researcher)
