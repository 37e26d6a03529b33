"""Marchwarden: research agents that support every claim with a verbatim excerpt of a fetched source."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from marchwarden.audit.verify import verify
    from marchwarden.contract import ResearchConstraints, ResearchResult
    from marchwarden.errors import InvalidInput
    from marchwarden.logs.setup import set_up as set_up_logging
    from marchwarden.loop.ask import ask
    from marchwarden.mcp.client import RemoteResearcher
    from marchwarden.minds.extractive import ExtractiveMind
    from marchwarden.minds.select import select_mind
    from marchwarden.orchestrator.pi import PrincipalInvestigator
    from marchwarden.orchestrator.roster import Member, Roster
    from marchwarden.protocols import Mind, Progress, Researcher, Source
    from marchwarden.researchers.arxiv.agent import ArxivResearcher
    from marchwarden.researchers.database.agent import DatabaseResearcher
    from marchwarden.researchers.files.agent import FilesResearcher
    from marchwarden.researchers.spec import ResearcherSpec
    from marchwarden.researchers.web.agent import WebResearcher
    from marchwarden.storage.store import Store

__all__ = [
    "ArxivResearcher",
    "DatabaseResearcher",
    "ExtractiveMind",
    "FilesResearcher",
    "InvalidInput",
    "Member",
    "Mind",
    "PrincipalInvestigator",
    "Progress",
    "RemoteResearcher",
    "ResearchConstraints",
    "ResearchResult",
    "Researcher",
    "ResearcherSpec",
    "Roster",
    "Source",
    "Store",
    "WebResearcher",
    "ask",
    "select_mind",
    "set_up_logging",
    "verify",
]

_MODULES: Final = {
    "ArxivResearcher": "researchers.arxiv.agent",
    "DatabaseResearcher": "researchers.database.agent",
    "ExtractiveMind": "minds.extractive",
    "FilesResearcher": "researchers.files.agent",
    "InvalidInput": "errors",
    "Member": "orchestrator.roster",
    "Mind": "protocols",
    "PrincipalInvestigator": "orchestrator.pi",
    "Progress": "protocols",
    "RemoteResearcher": "mcp.client",
    "ResearchConstraints": "contract",
    "ResearchResult": "contract",
    "Researcher": "protocols",
    "ResearcherSpec": "researchers.spec",
    "Roster": "orchestrator.roster",
    "Source": "protocols",
    "Store": "storage.store",
    "WebResearcher": "researchers.web.agent",
    "ask": "loop.ask",
    "select_mind": "minds.select",
    "set_up_logging": "logs.setup:set_up",
    "verify": "audit.verify",
}


def __getattr__(name: str) -> object:
    """Import a name on first use, so that importing the package is fast."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, other_name = _MODULES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), other_name or name)


def __dir__() -> list[str]:
    return __all__
