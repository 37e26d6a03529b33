"""Who is asked: which researchers a command line means, one alone or several behind a PI, now or again from a trace."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.researchers.registry import ResearcherSpec

if TYPE_CHECKING:
    from marchwarden.loop.recorded import RecordedResearcher
    from marchwarden.orchestrator.external import ExternalRegistry
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Member
    from marchwarden.protocols import Mind, Researcher
    from marchwarden.settings import Settings
    from marchwarden.storage.record import RunHeader
    from marchwarden.storage.store import Store

BUILT_IN = ("files", "database", "web", "arxiv")
OUTSIDE = ("web", "arxiv")
SEARCH_SERVICES = ("TAVILY_API_KEY", "MARCHWARDEN_SEARXNG_URL")


@dataclass(frozen=True)
class Selection:
    """What the command line said: names and a mind, if any, and the folders and databases to read."""

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    mind: str | None = None

    def __post_init__(self) -> None:
        """Refuse here what a child process could only die of."""
        from marchwarden.errors import InvalidInput

        for name, given, option in (("files", self.folders, "--files"), ("database", self.databases, "--db")):
            if self.names and given and name not in self.names:
                raise InvalidInput(f"{option} is for --researcher {name}: add it, or leave out {option}")
            if name in self.names and not given:
                raise InvalidInput(f"there is nothing for the {name} researcher to read: say what with {option} PATH")
        for folder in self.folders:
            if not Path(folder).exists():
                raise InvalidInput(f"there is no folder or file {folder!r}: give --files a path that exists")

    def researcher(self, settings: "Settings", kept: Path, *, in_process: bool) -> "Researcher":
        """The only one meant, or a PI over all of them."""
        posts, registered = [*self._posts(settings)], self._registered(settings)
        if len(posts) == 1 and not registered:
            return (
                posts[0].in_process(settings, kept, self.mind)
                if in_process
                else posts[0].child(settings, kept, self.mind)
            )
        return self._pi(settings, kept, self.members(settings, kept, in_process=in_process))

    def members(self, settings: "Settings", kept: Path, *, in_process: bool) -> "list[Member]":
        """Everybody meant."""
        posts, registry = self._posts(settings), _registry(settings)
        found = [post.member(settings, kept, self.mind, in_process=in_process) for post in posts]
        return found + [registry.member(name) for name in self._registered(settings)]

    def _registered(self, settings: "Settings") -> list[str]:
        registry = _registry(settings)
        _refuse_unknown(self.names, registry)
        return [name for name in registry.entries if not self.names or name in self.names]

    def _posts(self, settings: "Settings") -> Iterator[ResearcherSpec]:
        """Files and databases where they are given. Going outside is for who names it, pays for a search service, or
        gives nothing to read here: a question about one's own files is not sent to strangers unasked.
        """
        given = bool(self.folders or self.databases)
        outside = not given or any(settings.environ.get(name) for name in SEARCH_SERVICES)
        if self.folders:
            yield ResearcherSpec("files", "files", folders=self.folders)
        for number, database in enumerate(self.databases, 1):
            yield ResearcherSpec("database" if number == 1 else f"database-{number}", "database", database=database)
        for name in OUTSIDE:
            if name in self.names or (outside and not self.names):
                yield ResearcherSpec(name, name)

    def _pi(self, settings: "Settings", kept: Path, members: "list[Member]") -> "PrincipalInvestigator":
        from marchwarden.minds.select import select_mind

        return _led_by(select_mind(self.mind, settings.environ), members, settings, kept)


def rebuild_from_trace(
    opening: "RunHeader", settings: "Settings", kept: Path, mind: str | None = None
) -> "RecordedResearcher":
    """The researcher of an earlier run, as its trace describes it, with its own mind or with another."""
    from marchwarden.minds.select import mind_from_trace, select_mind

    thinking = select_mind(mind, settings.environ) if mind else mind_from_trace(opening.model_id, settings.environ)
    if opening.source != "pi":
        return ResearcherSpec.again(opening.researcher, opening.settings, settings, kept, thinking)
    from marchwarden.orchestrator.external import REGISTERED
    from marchwarden.orchestrator.offline import recorded_members
    from marchwarden.orchestrator.roster import Member

    registry, members = _registry(settings), []
    for each in recorded_members(opening.settings):
        if each.settings.get("kind") == REGISTERED:
            members.append(registry.member(each.name))
        else:
            source = each.settings.get("source")
            described = source if isinstance(source, dict) else {}
            post = ResearcherSpec.again(str(each.settings.get("kind")), described, settings, kept, thinking)
            members.append(Member(each.name, each.purpose, post, each.scope, each.given, each.settings))
    return _led_by(thinking, members, settings, kept)


def rebuild_run_offline(store: "Store", opening: "RunHeader", mind: "Mind", embedded: "Mind") -> "RecordedResearcher":
    """The researcher of an earlier run with nothing behind it, for a rerun."""
    if opening.source == "pi":
        from marchwarden.orchestrator.offline import rebuild_pi_offline

        return rebuild_pi_offline(store, opening, mind, embedded)
    from marchwarden.audit.replay import rebuild_offline

    return rebuild_offline(store, opening, mind, embedded)


def _registry(settings: "Settings") -> "ExternalRegistry":
    from marchwarden.orchestrator.external import ExternalRegistry

    return ExternalRegistry.load(settings.researchers, settings.environ)


def _led_by(mind: "Mind", members: "list[Member]", settings: "Settings", kept: Path) -> "PrincipalInvestigator":
    from marchwarden.minds.select import extractive_mind
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Roster
    from marchwarden.storage.store import Store

    store, embedded = Store.at(kept, settings.environ), extractive_mind(settings.environ)
    return PrincipalInvestigator(Roster(members), mind, store=store, fallback=embedded)


def _refuse_unknown(names: tuple[str, ...], registry: "ExternalRegistry") -> None:
    from marchwarden.errors import InvalidInput

    for name in names:
        if name not in (*BUILT_IN, *registry.entries):
            raise InvalidInput(f"there is no researcher {name!r}; `marchwarden researchers` lists them")
