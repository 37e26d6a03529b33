"""The posts of the built-in researchers: each filled in this process, by a child of its own, or again from a trace."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.fetching import RequestGate
    from marchwarden.loop.investigator import Investigator
    from marchwarden.mcp.client import RemoteResearcher
    from marchwarden.orchestrator.roster import Member
    from marchwarden.protocols import Mind
    from marchwarden.settings import Settings
    from marchwarden.storage.store import Store


@dataclass(frozen=True)
class ResearcherSpec:
    """One built-in researcher as the command line means it: its kind, and what it is given to read."""

    name: str
    kind: str
    folders: tuple[str, ...] = ()
    database: str = ""

    def in_process(self, settings: "Settings", kept: Path, mind: str | None) -> "Investigator":
        from marchwarden.minds.select import select_mind
        from marchwarden.storage.store import Store

        thinking, store = select_mind(mind, settings.environ), Store.at(kept, settings.environ)
        match self.kind:
            case "files":
                from marchwarden.researchers.files import FilesResearcher

                return FilesResearcher(*self.folders, mind=thinking, trace_dir=store, index_dir=settings.index_dir)
            case "database":
                from marchwarden.researchers.database import DatabaseResearcher

                return DatabaseResearcher(self.database, environ=settings.environ, mind=thinking, trace_dir=store)
        return ResearcherSpec.again(self.kind, {}, settings, store, thinking)

    @staticmethod
    def again(
        kind: str,
        described: Mapping[str, object],
        settings: "Settings",
        kept: "Path | Store",
        mind: "Mind",
        gate: "RequestGate | None" = None,
    ) -> "Investigator":
        """The researcher of a kind, with the sources a trace describes."""
        from marchwarden.errors import MalformedTrace
        from marchwarden.storage.store import Store

        store = Store.at(kept, settings.environ)
        match kind:
            case "files":
                from marchwarden.researchers.files import FilesResearcher

                return FilesResearcher.again(described, mind=mind, trace_dir=store, index_dir=settings.index_dir)
            case "database":
                from marchwarden.researchers.database import DatabaseResearcher

                return DatabaseResearcher.again(described, mind=mind, trace_dir=store, environ=settings.environ)
            case "web":
                from marchwarden.researchers.web import WebResearcher

                return WebResearcher(settings.environ, mind=mind, trace_dir=store, gate=gate)
            case "arxiv":
                from marchwarden.researchers.arxiv import ArxivResearcher

                return ArxivResearcher(settings.environ, mind=mind, trace_dir=store, gate=gate)
        raise MalformedTrace(f"this run was made by a researcher unknown here: {kind!r}")

    def child(self, settings: "Settings", kept: Path, mind: str | None) -> "RemoteResearcher":
        """An MCP server of its own. What the child could only die of is refused here."""
        from marchwarden.logs.setup import speaks_on_stderr
        from marchwarden.mcp.client import RemoteResearcher
        from marchwarden.minds.select import select_mind
        from marchwarden.storage.store import Store

        select_mind(mind, settings.environ)
        self._refuse_unusable(settings)
        folders = [argument for folder in self.folders for argument in ("--files", folder)]
        command = [sys.executable, "-m", f"marchwarden.researchers.{self.kind}", *folders]
        # By the environment: a password in the URL is nothing for the list of processes.
        given = {"MARCHWARDEN_DB": self.database} if self.database else {}
        place = Path(Store.at(kept, settings.environ).place)
        env = {**settings.for_child(place, mind), **given}
        return RemoteResearcher.stdio(command, env, errlog=sys.stderr if speaks_on_stderr() else None)

    def member(self, settings: "Settings", kept: Path, mind: str | None, *, in_process: bool) -> "Member":
        from importlib import import_module

        from marchwarden.orchestrator.roster import Member

        investigator = self.in_process(settings, kept, mind)
        agent = import_module(f"marchwarden.researchers.{self.kind}.agent")
        return Member(
            self.name,
            agent.PURPOSE,
            investigator if in_process else self.child(settings, kept, mind),
            scope=getattr(agent, "SCOPE", ()),
            given=self.kind in {"files", "database"},
            settings={"kind": self.kind, "source": investigator.source.settings},
        )

    def _refuse_unusable(self, settings: "Settings") -> None:
        match self.kind:
            case "database":
                from marchwarden.researchers.database.location import Database

                Database.at(self.database, settings.environ)
            case "web" | "arxiv":
                from marchwarden.fetching import AllowedHosts

                AllowedHosts.parsed(settings.environ.get("MARCHWARDEN_ALLOW_HOSTS", ""))
